/** The one contract between the proxy and whatever answers model calls. */
import type { Answer, CaptureLevel, Conversation } from "../../../engine/conversation/index.ts";

export interface UpstreamRequest {
  readonly conversation: Conversation;
  /** Token-in: the whole prompt as ids, built by the proxy. Absent = the upstream renders the messages itself. */
  readonly promptIds?: Int32Array;
  readonly rolloutId: string;
  /** 0-based index of the call inside its rollout; scripted rules and seeds depend on it. */
  readonly callIndex: number;
}

export type UpstreamFailureKind = "unreachable" | "rate-limited" | "server-error" | "bad-request" | "context-overflow" | "garbled" | "auth";

/** An expected failure of an upstream: data, not an exception. */
export interface UpstreamFailure {
  readonly kind: UpstreamFailureKind;
  /** HTTP status, when one arrived. */
  readonly status?: number;
  readonly message: string;
  readonly remedy: string;
  /** Whether the same request may be sent again. */
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

export type UpstreamResult =
  | {
      readonly ok: true;
      readonly answer: Answer /** Bytes exchanged, for the record. */;
      readonly exchange?: { request: Uint8Array; response: Uint8Array };
    }
  | { readonly ok: false; readonly failure: UpstreamFailure };

/** Pieces of a text-only answer as they arrive, for pass-through streaming; the last one is the result. */
export type UpstreamPiece =
  | { readonly type: "text" | "reasoning"; readonly delta: string }
  | { readonly type: "end"; readonly result: UpstreamResult };

export interface Upstream {
  /** Stable id of the policy endpoint, as stored with each rollout. */
  readonly id: string;
  readonly kind: "vllm" | "openai-compatible" | "scripted" | "replay" | "embedded";
  readonly capture: CaptureLevel;
  /** Whether `promptIds` is understood. */
  readonly takesTokenIds: boolean;
  /** Tokenizer and chat template for token-in, as a Hugging Face folder on disk; null where there is none. */
  readonly tokenizerFolder: string | null;
  /** Never rejects for expected failures; rejects only when `signal` aborts or on a bug. One try: retries are the proxy's. */
  complete(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamResult>;
  close(): Promise<void>;
}
