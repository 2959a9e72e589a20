import type { Answer, Conversation } from "../../engine/conversation/index.ts";
import type { CallRecord, Store } from "../store/index.ts";
import { dialects } from "./dialects/by-id.ts";
import type { Dialect, MediaStore } from "./dialects/dialect.ts";
import { readWhole } from "./dialects/request-body.ts";

export interface ReadCall {
  /** null when the body is no request of its dialect. */
  readonly conversation: Conversation | null;
  /** null when the call has no answer. */
  readonly answer: Pick<Answer, "message" | "finishReason" | "usage"> | null;
}

/** A recorded call in the internal form, read from its bodies. */
export function readCall(store: Store, call: CallRecord): ReadCall {
  const dialect = call.dialect === "unknown" ? null : dialects[call.dialect];
  if (dialect === null) return { conversation: null, answer: null };
  return { conversation: readConversation(store, call, dialect), answer: readAnswer(store, call, dialect) };
}

function readConversation(store: Store, call: CallRecord, dialect: Dialect): Conversation | null {
  const bytes = store.blobs.get(call.requestBody);
  if (bytes === null) return null;
  // The bytes of images are in the store already; putting them again gives their name.
  const media: MediaStore = { put: (data) => store.blobs.put(data).hash, get: (hash) => store.blobs.get(hash) };
  try {
    const decoded = dialect.decode(readWhole(bytes, dialect.list), media, call.path);
    return decoded.ok ? decoded.conversation : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

function readAnswer(store: Store, call: CallRecord, dialect: Dialect): ReadCall["answer"] {
  if (call.finishReason === null || call.responseBody === null) return null;
  const bytes = store.blobs.get(call.responseBody);
  return bytes === null ? null : dialect.readAnswer(Buffer.from(bytes).toString(), call.stream);
}
