/** Reasoning first, then content and calls, from text that arrives in pieces. */
import type { AnswerDelta, ParsedAnswer, ParsedToolCall, ParseOptions, StreamingAnswerParser } from "./contract.ts";
import { hermes } from "./hermes.ts";
import { llama3Json } from "./llama3-json.ts";
import { mistral } from "./mistral.ts";
import { pythonic } from "./pythonic.ts";
import { qwen3Coder } from "./qwen3-coder.ts";
import { begunLength, type Format, mayBecome, skipSpace } from "./scanner.ts";
import { TrimmedText } from "./trimmed-text.ts";

const thinkOpen = "<think>";
const thinkClose = "</think>";
/** A call that is not whole yet is looked at again when the text has grown by this share, so that long calls stay linear. */
const growth = 1.1;

function formatOf(options: ParseOptions): Format | null {
  switch (options.format) {
    case null:
      return null;
    case "hermes":
      return hermes;
    case "llama3_json":
      return llama3Json(options.tools);
    case "mistral":
      return mistral;
    case "pythonic":
      return pythonic(options.tools);
    case "qwen3_coder":
      return qwen3Coder(options.tools);
  }
}

export class AnswerParser implements StreamingAnswerParser {
  readonly #format: Format | null;
  readonly #openedByPrompt: boolean;
  readonly #reasoning = new TrimmedText();
  readonly #content = new TrimmedText();
  readonly #calls: ParsedToolCall[] = [];
  #unparsed = false;
  /** The first half of a character that was cut in two. */
  #half = "";
  #text = "";
  #position = 0;
  #lookAgainAt = 0;
  #state: "start" | "reasoning" | "answer" | "after call" = "start";
  #deltas: AnswerDelta[] = [];

  constructor(options: ParseOptions) {
    this.#format = formatOf(options);
    this.#openedByPrompt = options.reasoningOpenedByPrompt ?? false;
  }

  push(text: string): readonly AnswerDelta[] {
    const joined = this.#half + text;
    this.#half = /[\ud800-\udbff]$/.exec(joined)?.[0] ?? "";
    // What was read is let go, so that the text held is only what is not certain yet.
    this.#text = this.#text.slice(this.#position) + joined.slice(0, joined.length - this.#half.length);
    this.#lookAgainAt -= this.#position;
    this.#position = 0;
    if (this.#text.length >= this.#lookAgainAt) this.#advance(false);
    return this.#takeDeltas();
  }

  end(): { readonly deltas: readonly AnswerDelta[]; readonly answer: ParsedAnswer } {
    this.#text += this.#half;
    this.#half = "";
    this.#advance(true);
    const answer = { content: this.#content.value(), reasoning: this.#reasoning.value(), toolCalls: this.#calls, unparsed: this.#unparsed };
    return { deltas: this.#takeDeltas(), answer };
  }

  #advance(atEnd: boolean): void {
    for (;;) {
      const before = this.#position;
      const state = this.#state;
      switch (state) {
        case "start":
          this.#start(atEnd);
          break;
        case "reasoning":
          this.#readReasoning(atEnd);
          break;
        case "after call":
          this.#skipAfterCall(atEnd);
          break;
        case "answer":
          this.#readAnswer(atEnd);
          break;
      }
      if (this.#position === before && this.#state === state) return;
    }
  }

  #start(atEnd: boolean): void {
    const begin = skipSpace(this.#text, 0);
    if (this.#text.startsWith(thinkOpen, begin)) {
      this.#position = begin + thinkOpen.length;
      this.#state = "reasoning";
    } else if (atEnd || !mayBecome(thinkOpen, this.#text, begin)) {
      this.#state = this.#openedByPrompt ? "reasoning" : "answer";
    }
  }

  #readReasoning(atEnd: boolean): void {
    const close = this.#text.indexOf(thinkClose, this.#position);
    const held = atEnd ? 0 : begunLength(thinkClose, this.#text, this.#position);
    const end = close >= 0 ? close : this.#text.length - held;
    this.#give("reasoning", this.#reasoning, this.#text.slice(this.#position, end));
    this.#position = end;
    if (close < 0) return;
    this.#position += thinkClose.length;
    this.#state = "answer";
  }

  #skipAfterCall(atEnd: boolean): void {
    const at = skipSpace(this.#text, this.#position);
    const marks = this.#format?.afterCall ?? [];
    const mark = marks.find((one) => this.#text.startsWith(one, at));
    if (mark !== undefined) this.#position = at + mark.length;
    else if (atEnd || !marks.some((one) => mayBecome(one, this.#text, at))) this.#state = "answer";
  }

  #readAnswer(atEnd: boolean): void {
    if (this.#position === this.#text.length) return;
    const step = this.#format === null ? ({ kind: "text", end: this.#text.length } as const) : this.#format.step(this.#text, this.#position, atEnd);
    if (step.kind === "wait") {
      this.#lookAgainAt = (this.#text.length - this.#position) * growth + this.#position;
      return;
    }
    if (step.kind !== "calls") {
      if (step.kind === "broken") this.#unparsed = true;
      this.#give("content", this.#content, this.#text.slice(this.#position, step.end));
      this.#position = step.end;
      return;
    }
    for (const item of step.items) {
      this.#content.breakRun();
      if ("broken" in item) {
        this.#unparsed = true;
        this.#give("content", this.#content, item.broken);
        continue;
      }
      this.#calls.push(item.call);
      this.#deltas.push({ type: "tool-call", call: item.call });
    }
    this.#content.breakRun();
    this.#position = step.end;
    this.#state = "after call";
  }

  #give(type: "content" | "reasoning", channel: TrimmedText, text: string): void {
    const delta = channel.add(text);
    if (delta !== "") this.#deltas.push({ type, delta });
  }

  #takeDeltas(): readonly AnswerDelta[] {
    const deltas = this.#deltas;
    this.#deltas = [];
    return deltas;
  }
}
