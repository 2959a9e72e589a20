/**
 * Someone else's recordings as ours: an experiment with status `recording`, to be looked at and compared with. Nothing is run and
 * nothing is changed on disk. What a format does not say stays unknown; it is never guessed.
 */
import type { Outcome } from "../../engine/outcome/index.ts";
import type { RolloutRecord } from "../store/index.ts";

/** A message in the form of the Chat Completions API. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly object[] | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: "function";
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
  readonly name?: string;
}

/** One model call. */
export interface ForeignCall {
  readonly messages: readonly ChatMessage[];
  /** In the form of the Chat Completions API. */
  readonly tools: readonly object[];
  readonly answer: ChatMessage;
  readonly finishReason: "stop" | "length" | "tool-calls" | "content-filter";
  readonly model: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Null when the file has none. */
  readonly tokens: { readonly prompt: readonly number[]; readonly sampled: readonly number[]; readonly logprobs: readonly number[] | null } | null;
  /** Names the conversation inside the rollout (subagent, step); null for the main line. */
  readonly thread: string | null;
}

export interface ForeignFile {
  readonly kind: "harness-log" | "verifier-output" | "artifact";
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface ForeignRollout
  extends Pick<
    RolloutRecord,
    "taskName" | "taskPath" | "harness" | "harnessVersion" | "policy" | "sandbox" | "phases" | "reward" | "rewards" | "startedAt" | "endedAt"
  > {
  /** `sha256:…`; null when the file names none. */
  readonly taskDigest: string | null;
  readonly outcome: Outcome;
  /** Of a task of several steps. */
  readonly steps?: RolloutRecord["steps"];
  /** Where no call was recorded. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly calls: readonly ForeignCall[];
  readonly files: readonly ForeignFile[];
}

/** Everything that one import brings. */
export interface ForeignExperiment {
  /** As in `Harbor job`. */
  readonly kind: string;
  readonly name: string;
  /** The same for the same source, so that importing it twice brings it once. */
  readonly identity: string;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly rollouts: AsyncIterable<ForeignRollout>;
  /** Sentences about what could not be carried over; complete when all rollouts were read. */
  readonly notes: readonly string[];
}
