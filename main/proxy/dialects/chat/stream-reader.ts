/**
 * Reads the chunks of any server's Chat Completions stream into one answer, tolerant where servers differ: the finish reason
 * in any chunk, several closing chunks, usage before or after, parallel tool calls that share an index or lack one.
 * A tool call begins where a new id or a name comes; what has neither continues the last one of its index.
 */

import { z } from "zod";
import type { FinishReason, ToolCall, Usage } from "../../../../engine/conversation/index.ts";
import type { SaidPiece } from "../answer-writer.ts";

const delta = z.looseObject({
  content: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        index: z.number().nullish(),
        id: z.string().nullish(),
        function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
        custom: z.looseObject({ name: z.string().nullish(), input: z.string().nullish() }).nullish(),
      }),
    )
    .nullish(),
});
export const usageSchema = z.looseObject({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  prompt_tokens_details: z.looseObject({ cached_tokens: z.number().nullish() }).nullish(),
});
const chunkSchema = z.looseObject({
  model: z.string().nullish(),
  choices: z.array(z.looseObject({ delta: delta.nullish(), finish_reason: z.string().nullish() })).nullish(),
  usage: usageSchema.nullish(),
  error: z.unknown().optional(),
});

/** Text and reasoning in one event's data; nothing when it is no chunk, which the reader of the whole will say. */
export function saidInChunk(data: string): readonly SaidPiece[] {
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch {
    return [];
  }
  const said = chunkSchema.safeParse(json).data?.choices?.[0]?.delta;
  const pieces: readonly SaidPiece[] = [
    { kind: "reasoning", text: said?.reasoning_content ?? said?.reasoning ?? "" },
    { kind: "text", text: said?.content ?? "" },
  ];
  return pieces.filter(({ text }) => text !== "");
}

export interface StreamedAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  /** null = the stream ended without one: it was cut. */
  readonly finishReason: FinishReason | null;
  readonly usage: Usage | null;
  readonly model: string | null;
  /** An error object that the server sent inside the stream. */
  readonly error: unknown;
}

export interface ChatStreamReader {
  /** `data` of one event. Throws when it is no chunk. */
  push(data: string): void;
  answer(): StreamedAnswer;
}

interface OpenCall {
  readonly index: number | null;
  readonly id: string;
  readonly kind: ToolCall["kind"];
  readonly name: string;
  arguments: string;
}

export function createChatStreamReader(): ChatStreamReader {
  let text = "";
  let reasoning = "";
  let finishReason: FinishReason | null = null;
  let usage: Usage | null = null;
  let model: string | null = null;
  let error: unknown;
  let done = false;
  const calls: OpenCall[] = [];

  function toolDelta(part: NonNullable<z.infer<typeof delta>["tool_calls"]>[number]): void {
    const index = part.index ?? null;
    const name = part.function?.name ?? part.custom?.name ?? "";
    const piece = part.function?.arguments ?? part.custom?.input ?? "";
    const id = part.id ?? "";
    const known =
      id === "" ? (name === "" ? calls.findLast((call) => index === null || call.index === index) : undefined) : calls.find((call) => call.id === id);
    if (known !== undefined) known.arguments += piece;
    else calls.push({ index, id, kind: part.custom == null ? "function" : "custom", name, arguments: piece });
  }

  return {
    push(data) {
      if (done || data.trim() === "") return;
      if (data.trim() === "[DONE]") {
        done = true;
        return;
      }
      const chunk = chunkSchema.parse(JSON.parse(data));
      if (chunk.error !== undefined && chunk.error !== null) error = chunk.error;
      if (chunk.model != null) model = chunk.model;
      if (chunk.usage != null) usage = readUsage(chunk.usage);
      const choice = chunk.choices?.[0];
      if (choice === undefined) return;
      text += choice.delta?.content ?? "";
      reasoning += choice.delta?.reasoning_content ?? choice.delta?.reasoning ?? "";
      for (const part of choice.delta?.tool_calls ?? []) toolDelta(part);
      if (choice.finish_reason != null && choice.finish_reason !== "") finishReason ??= readFinishReason(choice.finish_reason);
    },
    answer: () => ({ text, reasoning, toolCalls: calls.map(({ index: _, ...call }) => call), finishReason, usage, model, error }),
  };
}

export function readFinishReason(word: string): FinishReason {
  if (word === "length") return "length";
  if (word === "content_filter") return "content-filter";
  return word === "tool_calls" || word === "function_call" ? "tool-calls" : "stop";
}

export function readUsage(usage: z.infer<typeof usageSchema>): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens;
  return {
    promptTokens: usage.prompt_tokens ?? 0,
    completionTokens: usage.completion_tokens ?? 0,
    ...(cached == null ? {} : { cachedTokens: cached }),
  };
}
