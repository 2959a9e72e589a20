/** The one contract between the proxy and whatever answers model calls. */
import type { Answer, CaptureLevel, Conversation } from "../../../engine/conversation/index.ts";
import type { SaidPiece } from "../dialects/answer-writer.ts";
import type { UpstreamDefinition } from "./definition.ts";

export interface UpstreamRequest {
  readonly conversation: Conversation;
  /** The request as the client wrote it: members of its JSON object, in bytes. Absent when the conversation says something else by now. */
  readonly asWritten?: ReadonlyMap<string, Uint8Array>;
  /** Token-in: the whole prompt as ids, built by the proxy. Absent = the upstream renders the messages itself. */
  readonly promptIds?: Int32Array;
  /** With `promptIds`: ids after which the policy's turn is over. */
  readonly endIds?: readonly number[];
  readonly rolloutId: string;
  /** 0-based attempt of the rollout. */
  readonly attempt: number;
  /** 0-based index of the call inside its rollout; scripted rules and seeds depend on it. */
  readonly callIndex: number;
  /** Of the rollout: follows from experiment, task and number in the group, so that a run can be repeated. */
  readonly seed?: number;
  /** Called when sampling begins, where the upstream can tell; what it returns is called with each id as it is drawn, those that end the answer included. */
  readonly follow?: (begun: { readonly reasoningOpened: boolean }) => (id: number) => void;
  /** Called with what the policy says as it says it, where the server streams; in the end the answer begins with it. */
  readonly onSaid?: (piece: SaidPiece) => void;
  /** For scripted rules: which dialect asked, for which harness and task. */
  readonly labels: { readonly dialect: string; readonly harness?: string; readonly task?: string };
}

export type UpstreamFailureKind =
  | "unreachable"
  | "rate-limited"
  | "server-error"
  | "bad-request"
  | "context-overflow"
  | "garbled"
  | "auth"
  | "spending-limit";

/** An expected failure of an upstream: data, not an exception. */
export interface UpstreamFailure {
  readonly kind: UpstreamFailureKind;
  /** HTTP status, when one arrived. */
  readonly status?: number;
  /** Machine-readable word for the client, where the kind has none of its own. */
  readonly code?: string;
  readonly message: string;
  readonly remedy: string;
  /** Whether the same request may be sent again. */
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

export type UpstreamResult =
  | {
      readonly ok: true;
      readonly answer: Answer;
      /** Milliseconds that the request waited before the policy began with it; absent = not known. */
      readonly queueMs?: number;
      /** Bytes exchanged, for the record. */
      readonly exchange?: UpstreamExchange;
      /** What was done to the request or the answer on the way, one sentence each. */
      readonly notes?: readonly string[];
    }
  | { readonly ok: false; readonly failure: UpstreamFailure; readonly queueMs?: number; readonly exchange?: UpstreamExchange };

export interface UpstreamExchange {
  /** null = the client's own body, but for the model, the limit of tokens and streaming. */
  readonly request: Uint8Array | null;
  readonly response: Uint8Array;
}

export interface Upstream {
  /** Stable id of the policy endpoint, as stored with each rollout. */
  readonly id: string;
  readonly kind: UpstreamDefinition["kind"] | "replay";
  readonly capture: CaptureLevel;
  /** Whether `promptIds` is understood. */
  readonly takesTokenIds: boolean;
  /** Its results say how long they waited (`queueMs`): that time is no part of an agent's budget. */
  readonly reportsQueue?: boolean;
  /** Tokens of prompt and answer together, where the endpoint says it. */
  readonly contextWindow: number | null;
  /** Tokenizer and chat template for token-in, as a Hugging Face folder on disk; null where there is none. */
  readonly tokenizerFolder: string | null;
  /** Never rejects for expected failures; rejects only when `signal` aborts or on a bug. One try: retries are the proxy's. */
  complete(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamResult>;
  close(): Promise<void>;
}
