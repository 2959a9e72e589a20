/** Answers how many tokens a request would be. No model call: the policy is not asked. */
import type { Conversation } from "../../engine/conversation/index.ts";
import { sliceJson } from "../../engine/json/index.ts";
import type { Arrival } from "./call-entry.ts";
import type { Fault } from "./dialects/dialect.ts";
import { brokenFault } from "./faults.ts";
import type { Exchange } from "./http/exchange.ts";

export interface TokenCount {
  /** Why nothing is counted; null when it is. */
  readonly fault: Fault | null;
  /** In the client's dialect. */
  readonly body: string;
}

/** Bytes a token has on average in texts of agents; only for policies whose tokenizer is not known. */
const bytesPerToken = 3.5;

/** `count`: exact where the policy's tokenizer is known; null where it is not. */
export function countTokens({ dialect, refusal, conversation, body }: Arrival, count: (conversation: Conversation) => number | null): TokenCount {
  if (conversation === null) {
    const fault = refusal ?? brokenFault;
    return { fault, body: dialect.errorBody(fault) };
  }
  const tokens = count(conversation) ?? Math.ceil(body.length / bytesPerToken);
  return { fault: null, body: JSON.stringify(dialect.id === "messages" ? { input_tokens: tokens } : { totalTokens: tokens }) };
}

export function sendCount(exchange: Exchange, { fault, body }: TokenCount): void {
  exchange.finish({ status: fault?.status ?? 200, contentType: "application/json", body });
}

/** What is asked about: clients of Gemini may wrap the request; everything else is the request itself. */
export function countedRequest(body: Uint8Array): Uint8Array {
  if (!Buffer.from(body.buffer, body.byteOffset, body.length).includes('"generateContentRequest"')) return body;
  try {
    const wrapped = sliceJson(Buffer.from(body).toString()).entries().get("generateContentRequest");
    return wrapped === undefined ? body : Buffer.from(wrapped.text);
  } catch {
    // What is no JSON is told so by who reads it.
    return body;
  }
}
