import type { Answer, Conversation } from "../../engine/conversation/index.ts";
import type { CallRecord, Store } from "../store/contract.ts";

export interface ReadCall {
  /** null when the body is no request of its dialect. */
  readonly conversation: Conversation | null;
  /** null when the call has no answer. */
  readonly answer: Pick<Answer, "message" | "finishReason" | "usage"> | null;
}

/** A recorded call in the internal form, read from its bodies. */
export function readCall(store: Store, call: CallRecord): ReadCall {
  throw new Error(`not built yet: ${store.dataFolder} ${call.id}`);
}
