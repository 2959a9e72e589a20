/** What sampled ids say: text, reasoning and tool calls, without the token that ends the turn and what a stop string cut off. */
import type { AssistantMessage, FinishReason } from "../conversation/index.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import { parseAnswer, type ToolCallFormat } from "../tool-calls/index.ts";
import type { ReadAnswer, SampledAnswer } from "./contract.ts";

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
  const { content, reasoning, toolCalls, unparsed } = parseAnswer(beforeStop(text, sampled.conversation.sampling.stop ?? []), {
    // A harness that forbids calls gets what looks like one as text.
    format: sampled.conversation.toolChoice === "none" ? null : format,
    tools: sampled.conversation.tools.filter((tool) => tool.kind === "function"),
    reasoningOpenedByPrompt: sampled.reasoningOpened,
  });
  const message: AssistantMessage = {
    role: "assistant",
    content: content === null ? [] : [{ type: "text", text: content }],
    ...(reasoning === null ? {} : { reasoning }),
    toolCalls: toolCalls.map((call, index) => ({ id: sampled.callId(index), kind: "function", ...call })),
  };
  return { message, finishReason: finishReasonOf(sampled.finishReason, toolCalls.length), unparsedToolCall: unparsed, text };
}

function beforeStop(text: string, stops: readonly string[]): string {
  const found = stops.filter((stop) => stop !== "").map((stop) => text.indexOf(stop));
  const first = Math.min(...found.filter((index) => index >= 0), text.length);
  return text.slice(0, first);
}

/** A cut answer is cut, whatever it holds. */
function finishReasonOf(given: FinishReason, calls: number): FinishReason {
  if (given === "length" || given === "content-filter") return given;
  return calls > 0 ? "tool-calls" : "stop";
}
