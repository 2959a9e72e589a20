/** Answers how many tokens a request would be. Not a call: the policy is not asked, and nothing is recorded. */
import type { Conversation } from "../../engine/conversation/index.ts";
import { dialects } from "./dialects/by-id.ts";
import type { Fault, MediaStore } from "./dialects/dialect.ts";
import { readWhole } from "./dialects/request-body.ts";

export interface CountRequest {
  readonly dialect: "messages" | "gemini";
  readonly body: Uint8Array;
  readonly path: string;
  readonly media: MediaStore;
  /** Exact where the policy's tokenizer is known; null where it is not. */
  count(conversation: Conversation): number | null;
}

/** Bytes a token has on average in texts of agents; only for policies whose tokenizer is not known. */
const bytesPerToken = 3.5;

export function countTokens(request: CountRequest): { readonly status: number; readonly body: string } {
  const dialect = dialects[request.dialect];
  const refused = (fault: Fault) => ({ status: fault.status, body: dialect.errorBody(fault) });
  let decoded: ReturnType<typeof dialect.decode>;
  try {
    decoded = dialect.decode(readWhole(request.body, dialect.list), request.media, request.path);
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error;
    return refused({ status: 400, code: "invalid_json", type: "invalid_request_error", message: "The body is no JSON object in UTF-8." });
  }
  if (!decoded.ok) return refused(decoded.fault);
  const tokens = request.count(decoded.conversation) ?? Math.ceil(request.body.length / bytesPerToken);
  return { status: 200, body: JSON.stringify(request.dialect === "messages" ? { input_tokens: tokens } : { totalTokens: tokens }) };
}
