/** The last touches to an answer before it is recorded: ids for its calls, canonical arguments, a finish reason that fits, whole numbers of tokens. */
import { hash } from "node:crypto";
import type { Answer, AssistantMessage, CaptureLevel, ToolCall, Usage } from "../../engine/conversation/index.ts";
import { canonicalJson, replaceLoneSurrogates } from "../../engine/json/index.ts";

/** Nine letters and digits: every template and client takes such an id. */
export function toolCallId(callId: string, index: number): string {
  return hash("sha256", `${callId}/${index}`, "hex").slice(0, 9);
}

export function completeAnswer(answer: Answer, callId: string): Answer {
  const message = completeMessage(answer.message, callId);
  const broken = message.toolCalls.some((call) => call.kind === "function" && !isObjectText(call.arguments));
  return {
    ...answer,
    message,
    finishReason: finishReasonOf(answer, message),
    usage: wholeUsage(answer.usage),
    unparsedToolCall: answer.unparsedToolCall || broken,
  };
}

/** Servers say what they like: the record counts tokens, and a client adds them up. */
function wholeUsage({ promptTokens, completionTokens, cachedTokens }: Usage): Usage {
  const cached = cachedTokens === undefined ? {} : { cachedTokens: tokenCount(cachedTokens) };
  return { promptTokens: tokenCount(promptTokens), completionTokens: tokenCount(completionTokens), ...cached };
}

function tokenCount(value: number): number {
  return Number.isFinite(value) ? Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.trunc(value))) : 0;
}

function completeMessage(message: AssistantMessage, callId: string): AssistantMessage {
  const seen = new Set<string>();
  return {
    ...message,
    content: message.content.map((part) => (part.type === "text" ? { ...part, text: replaceLoneSurrogates(part.text) } : part)),
    toolCalls: message.toolCalls.map((call, index): ToolCall => {
      const id = call.id === "" || seen.has(call.id) ? toolCallId(callId, index) : call.id;
      seen.add(id);
      return { ...call, id, arguments: call.kind === "function" ? canonicalArguments(call.arguments) : call.arguments };
    }),
  };
}

/** Text that is no JSON stays as it is: the harness has its own way with it. */
function canonicalArguments(text: string): string {
  if (text.trim() === "") return "{}";
  try {
    return canonicalJson(text);
  } catch {
    return text;
  }
}

function isObjectText(text: string): boolean {
  return text.startsWith("{") && canonicalArguments(text) === text && text.endsWith("}") && isJson(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function finishReasonOf(answer: Answer, message: AssistantMessage): Answer["finishReason"] {
  if (answer.finishReason === "length" || answer.finishReason === "content-filter") return answer.finishReason;
  return message.toolCalls.length > 0 ? "tool-calls" : "stop";
}

export function captureOf(answer: Answer): CaptureLevel {
  if (answer.tokens === undefined) return "text-only";
  return answer.tokens.logprobs === undefined ? "ids" : "ids+logprobs";
}
