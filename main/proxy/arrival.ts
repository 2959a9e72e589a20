/** Reads a request that came in, as far as it can be read. What can't be becomes a refusal in the dialect's own form. */
import { hash } from "node:crypto";
import type { BlobHash } from "../../engine/conversation/index.ts";
import { requestKey } from "../../engine/json/index.ts";
import type { Arrival } from "./call-entry.ts";
import type { Dialect, Fault, MediaStore, ReplyShape } from "./dialects/dialect.ts";
import { type RequestBody, readRequestBody } from "./dialects/request-body.ts";
import { unknownPathFault } from "./faults.ts";

export interface ArrivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly startedAt: number;
  readonly body: Uint8Array;
  readonly dialect: Dialect;
  readonly unknownPath: boolean;
  /** The body could not even be taken. */
  readonly fault: Fault | null;
}

const plainReply: ReplyShape = { model: "", stream: false, includeUsage: false, encryptedReasoning: false, parallelToolCalls: true };
const utf8 = new TextDecoder("utf-8", { fatal: true });

const refusal = (message: string): Fault => ({ status: 400, code: "invalid_json", type: "invalid_request_error", message });

export function readArrival(request: ArrivedRequest, volatileFields: readonly string[], media: MediaStore): Arrival {
  const { fault, ...rest } = request;
  const refused = (why: Fault): Arrival => ({
    ...rest,
    requestKey: hash("sha256", request.body, "hex"),
    conversation: null,
    asWritten: null,
    reply: plainReply,
    attachments: [],
    refusal: why,
    notes: [],
  });
  if (fault !== null) return refused(fault);
  if (request.unknownPath) return refused(unknownPathFault);
  const body = parseBody(request.body);
  if ("status" in body) return refused(body);
  const attachments: BlobHash[] = [];
  const noted: MediaStore = {
    get: media.get,
    put(bytes) {
      const hash = media.put(bytes);
      attachments.push(hash);
      return hash;
    },
  };
  const decoded = request.dialect.decode(body, noted);
  if (!decoded.ok) return refused(decoded.fault);
  const key = keyOf(body, volatileFields);
  if (typeof key !== "string") return refused(key);
  return {
    ...rest,
    requestKey: key,
    conversation: decoded.conversation,
    asWritten: body.raw,
    reply: decoded.reply,
    attachments,
    refusal: null,
    notes: holdsHalfCharacter(body) ? ["The request holds half of a character; the policy was given U+FFFD in its place."] : [],
  };
}

function parseBody(bytes: Uint8Array): RequestBody | Fault {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return refusal("The body is not valid UTF-8: send JSON as UTF-8.");
  }
  try {
    return readRequestBody(text);
  } catch (error) {
    return refusal(`The body is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** JSON.stringify writes a half character, and only that, as an escape of the surrogate range. */
function holdsHalfCharacter(body: RequestBody): boolean {
  return (body.text.includes("\\ud") || body.text.includes("\\uD")) && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(JSON.stringify(body.value));
}

/** SHA-256 of what makes a request equal to another. */
function keyOf(body: RequestBody, volatileFields: readonly string[]): string | Fault {
  try {
    return hash("sha256", requestKey(body.value, volatileFields), "hex");
  } catch (error) {
    if (error instanceof RangeError) return refusal(`The body can't be read: ${error.message}.`);
    throw error;
  }
}
