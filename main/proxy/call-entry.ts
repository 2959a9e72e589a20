/** What the shell knows of one call while it lives: the machine knows it by number only. */

import type { BlobHash, Conversation } from "../../engine/conversation/index.ts";
import type { Dialect, Fault, ReplyShape } from "./dialects/dialect.ts";
import type { SaidStream } from "./said-stream.ts";
import type { PreparedPrompt } from "./token-in.ts";
import type { UpstreamExchange } from "./upstreams/upstream.ts";

/** A request as it arrived, read as far as it could be. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly startedAt: number;
  readonly body: Uint8Array;
  readonly dialect: Dialect;
  /** The path is one that nobody serves; `dialect` is then only the form of the error. */
  readonly unknownPath: boolean;
  readonly requestKey: string;
  readonly conversation: Conversation | null;
  /** The members of its JSON object as written; null when it could not be read. */
  readonly asWritten: ReadonlyMap<string, Uint8Array> | null;
  readonly reply: ReplyShape;
  readonly attachments: readonly BlobHash[];
  /** Why it goes no further; null for a request that the policy is asked. */
  readonly refusal: Fault | null;
  readonly notes: readonly string[];
}

export interface CallEntry extends Arrival {
  /** Of the machine's calls: what the policy is told. */
  readonly number: number;
  /** Its place in the record, where requests that ask no policy stand too. */
  readonly index: number;
  readonly id: string;
  /** What it was made for beside the main loop; null = it is of the main loop. */
  readonly side: string | null;
  readonly abort: AbortController;
  /** Calls off what was to happen later. */
  readonly timers: (() => void)[];
  readonly notes: string[];
  /** First time the policy was asked; null = never. */
  askedAt: number | null;
  /** The prompt as ids, made once a call; null = not yet, or the policy renders the messages itself. */
  prepared: PreparedPrompt | null;
  exchange: UpstreamExchange | null;
  /** Later prompts may quote its answer. */
  remembered: boolean;
  rendered: { readonly stream: boolean; readonly bytes: Uint8Array } | null;
  /** Lets the answer go out as it is said; null = it goes out whole. */
  readonly said: SaidStream | null;
}
