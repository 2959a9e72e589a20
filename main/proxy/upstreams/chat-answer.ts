/** A server's answer in the Chat Completions dialect, whole or streamed, as the internal form. */
import type { Answer, ToolCall } from "../../../engine/conversation/index.ts";
import { type Completion, completionSchema, readCompletion } from "../dialects/chat/completion.ts";
import { createChatStreamReader, type StreamedAnswer } from "../dialects/chat/stream-reader.ts";
import { firstIssue } from "../dialects/zod-issue.ts";
import { readSse } from "../streams/sse.ts";

export type ReadServerAnswer =
  | { readonly ok: true; readonly answer: StreamedAnswer; readonly completion: Completion | null }
  /** What can't be read, as a phrase. */
  | { readonly ok: false; readonly problem: string };

/** Some servers stream whatever they are asked; both forms are read. */
export function readServerAnswer(text: string, contentType: string): ReadServerAnswer {
  try {
    if (contentType.startsWith("text/event-stream")) {
      const reader = createChatStreamReader();
      for (const event of readSse(text)) reader.push(event.data);
      const answer = reader.answer();
      if (answer.error !== undefined) return { ok: false, problem: `the stream ends with an error, ${JSON.stringify(answer.error)}` };
      return answer.finishReason === null
        ? { ok: false, problem: "the stream ends without a finish reason" }
        : { ok: true, answer, completion: null };
    }
    const parsed = completionSchema.safeParse(parseServerJson(text));
    if (!parsed.success) return { ok: false, problem: firstIssue(parsed.error) };
    return { ok: true, answer: readCompletion(parsed.data), completion: parsed.data };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** JSON, where some servers write a log-prob that is none as a bare word: it reads as null. */
export function parseServerJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!/\b(?:NaN|Infinity)\b/.test(text)) throw error;
    return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, (token) => (token.startsWith('"') ? token : "null")));
  }
}

/**
 * `maxTokens` is what the request allowed. A server may call a cut answer `tool_calls`: the limit wins, and a call that was cut off
 * is not offered as whole.
 */
export function answerOfServer(read: StreamedAnswer, maxTokens: number | undefined, policyVersion: string): Answer {
  const usage = read.usage ?? { promptTokens: 0, completionTokens: 0 };
  const isCut = read.finishReason === "length" || (maxTokens !== undefined && usage.completionTokens >= maxTokens);
  const toolCalls = isCut ? read.toolCalls.filter(isWhole) : read.toolCalls;
  return {
    message: {
      role: "assistant",
      content: read.text === "" ? [] : [{ type: "text", text: read.text }],
      ...(read.reasoning === "" ? {} : { reasoning: read.reasoning }),
      toolCalls,
    },
    finishReason: isCut ? "length" : (read.finishReason ?? "stop"),
    usage,
    unparsedToolCall: toolCalls.length < read.toolCalls.length,
    policyVersion,
  };
}

function isWhole(call: ToolCall): boolean {
  if (call.kind === "custom") return true;
  try {
    JSON.parse(call.arguments);
    return true;
  } catch {
    return false;
  }
}
