/**
 * A stream that is written while its answer is being sampled: deltas as they are said, the rest when the answer is there. At every
 * moment what went out is a beginning of one whole stream, and that whole has passed the dialect's own state machine.
 */
import type { Answer } from "../../../engine/conversation/index.ts";
import { replaceLoneSurrogates } from "../../../engine/json/index.ts";
import type { Fault } from "./dialect.ts";

/** Something that the policy said, in order. */
export interface SaidPiece {
  readonly kind: "reasoning" | "text";
  readonly text: string;
}

/** What has been said so far: a delta of the stream for each. */
export interface Said {
  readonly reasoning: readonly string[];
  readonly text: readonly string[];
}

export const nothingSaid: Said = { reasoning: [], text: [] };

export interface AnswerWriter {
  /** What goes out for it; "" for reasoning that comes after text, which no stream can hold. */
  say(piece: SaidPiece): string;
  /** Whether the answer goes on from what was said. */
  fits(answer: Answer): boolean;
  /** The rest of the stream of an answer that fits. */
  finish(answer: Answer): string;
  /** The end of a stream that breaks off. */
  fail(fault: Fault): string;
}

/** How a dialect writes a stream. */
interface StreamForm<Event> {
  /** All events, checked when `whole`; the answer's text and reasoning begin with what was said. */
  events(answer: Answer, said: Said, whole: boolean): readonly Event[];
  /** A delta of text or reasoning. */
  isDelta(event: Event): boolean;
  /** `index`: of the event in its stream. */
  text(event: Event, index: number): string;
  fail(fault: Fault, index: number): string;
}

export function createAnswerWriter<Event>(form: StreamForm<Event>): AnswerWriter {
  const reasoning: string[] = [];
  const text: string[] = [];
  const said: Said = { reasoning, text };
  let sent = 0;
  /** The first half of a character whose second half is still to come. */
  let half = "";

  function textsOf(events: readonly Event[], end: number): string {
    return events
      .slice(sent, end)
      .map((event, index) => form.text(event, sent + index))
      .join("");
  }

  return {
    say(piece) {
      if (piece.kind === "reasoning" && text.length > 0) return "";
      const whole = half + piece.text;
      half = /[\ud800-\udbff]$/.test(whole) ? whole.slice(-1) : "";
      const complete = replaceLoneSurrogates(whole.slice(0, whole.length - half.length));
      if (complete === "") return "";
      (piece.kind === "text" ? text : reasoning).push(complete);
      const events = form.events(partialAnswer(said), said, false);
      const end = events.findLastIndex(form.isDelta) + 1;
      const out = textsOf(events, end);
      sent = end;
      return out;
    },
    fits(answer) {
      const { message } = answer;
      const whole = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      const isWholeReasoning = text.length > 0 || (message.reasoning ?? "").startsWith(reasoning.join(""));
      return whole.startsWith(text.join("")) && isWholeReasoning;
    },
    finish(answer) {
      const events = form.events(text.length > 0 ? withReasoning(answer, reasoning.join("")) : answer, said, true);
      return textsOf(events, events.length);
    },
    fail: (fault) => form.fail(fault, sent),
  };
}

/** A text in deltas: those that were said, and what is left of it. */
export function deltasOf(whole: string, said: readonly string[]): readonly string[] {
  const rest = whole.slice(said.reduce((sum, piece) => sum + piece.length, 0));
  return rest === "" ? said : [...said, rest];
}

function partialAnswer({ reasoning, text }: Said): Answer {
  const whole = text.join("");
  const answer: Answer = {
    message: { role: "assistant", content: whole === "" ? [] : [{ type: "text", text: whole }], toolCalls: [] },
    finishReason: "stop",
    usage: { promptTokens: 0, completionTokens: 0 },
    unparsedToolCall: false,
    policyVersion: "",
  };
  return withReasoning(answer, reasoning.join(""));
}

function withReasoning(answer: Answer, reasoning: string): Answer {
  const { reasoning: _other, ...message } = answer.message;
  return { ...answer, message: { ...message, ...(reasoning === "" ? {} : { reasoning }) } };
}
