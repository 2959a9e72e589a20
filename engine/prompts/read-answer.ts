/** What sampled ids say: text, reasoning and tool calls, without the token that ends the turn and what a stop string cut off. */
import type { AssistantMessage, FinishReason } from "../conversation/index.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import { type AnswerDelta, createAnswerParser, type ParseOptions, parseAnswer, type ToolCallFormat } from "../tool-calls/index.ts";
import type { BegunAnswer, ReadAnswer, SampledAnswer } from "./contract.ts";

export interface AnswerReader {
  readonly tokenizer: Tokenizer;
  readonly format: ToolCallFormat | null;
  readonly endIds: ReadonlySet<number>;
}

/** Throws RangeError for an id that the vocabulary does not have. */
export function readSampledAnswer(sampled: SampledAnswer, { tokenizer, format, endIds }: AnswerReader): ReadAnswer {
  const ids = Array.from(sampled.sampledIds);
  const last = ids.at(-1);
  if (last !== undefined && endIds.has(last)) ids.pop();
  const text = tokenizer.decode(ids);
  const { content, reasoning, toolCalls, unparsed } = parseAnswer(beforeStop(text, stopsOf(sampled)), parseOptions(sampled, format));
  const message: AssistantMessage = {
    role: "assistant",
    content: content === null ? [] : [{ type: "text", text: content }],
    ...(reasoning === null ? {} : { reasoning }),
    toolCalls: toolCalls.map((call, index) => ({ id: sampled.callId(index), kind: "function", ...call })),
  };
  return { message, finishReason: finishReasonOf(sampled.finishReason, toolCalls.length), unparsedToolCall: unparsed, text };
}

/** Throws RangeError for an id that the vocabulary does not have. */
export function followSampledAnswer(begun: BegunAnswer, { tokenizer, format, endIds }: AnswerReader): (id: number) => readonly AnswerDelta[] {
  const decoder = tokenizer.streamingDecoder();
  const parser = createAnswerParser(parseOptions(begun, format));
  const stops = stopsOf(begun);
  // The beginning of a stop string may stand at the end of what was said so far.
  const heldBack = Math.max(0, ...stops.map((stop) => stop.length - 1));
  let held = "";
  return (id) => {
    if (endIds.has(id)) return [];
    held += decoder.push(id);
    const said = beforeStop(held, stops);
    const certain = said.length < held.length ? said.length : Math.max(0, held.length - heldBack);
    const deltas = parser.push(held.slice(0, certain));
    held = held.slice(certain);
    return deltas;
  };
}

function parseOptions({ conversation, reasoningOpened }: BegunAnswer, format: ToolCallFormat | null): ParseOptions {
  return {
    // A harness that forbids calls gets what looks like one as text.
    format: conversation.toolChoice === "none" ? null : format,
    tools: conversation.tools.filter((tool) => tool.kind === "function"),
    reasoningOpenedByPrompt: reasoningOpened,
  };
}

function stopsOf({ conversation }: BegunAnswer): readonly string[] {
  return (conversation.sampling.stop ?? []).filter((stop) => stop !== "");
}

function beforeStop(text: string, stops: readonly string[]): string {
  const found = stops.map((stop) => text.indexOf(stop));
  const first = Math.min(...found.filter((index) => index >= 0), text.length);
  return text.slice(0, first);
}

/** A cut answer is cut, whatever it holds. */
function finishReasonOf(given: FinishReason, calls: number): FinishReason {
  if (given === "length" || given === "content-filter") return given;
  return calls > 0 ? "tool-calls" : "stop";
}
