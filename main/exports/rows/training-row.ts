import type { Message, ToolDefinition } from "../../../engine/conversation/index.ts";
import type { RolloutRecord } from "../../store/index.ts";

/** A chain as a trainer sees it. All arrays have one entry a token. */
export interface RowTokens {
  readonly ids: Int32Array;
  /** 1 on what the update trained, or would. */
  readonly mask: Uint8Array;
  /** By the sampler; NaN where there is none. */
  readonly logprobs: Float32Array;
  /** 0 where the mask is 0; null where no advantage was asked for. */
  readonly advantages: Float64Array | null;
}

/** One chain of one rollout: what becomes one row of training data. */
export interface TrainingRow {
  readonly rollout: RolloutRecord;
  /** Rollouts whose rewards are compared share it. */
  readonly group: string;
  readonly chain: number;
  /** Null when the policy gave no token ids: such a row can only be trained on its messages. */
  readonly tokens: RowTokens | null;
  /** The last request of the chain and its answer: all that was said on it. */
  readonly messages: readonly Message[];
  /** How many of them, from the start, came before the policy's first answer of this chain. */
  readonly prompt: number;
  readonly tools: readonly ToolDefinition[];
  /** Of the answers that the chain owns, in order. */
  readonly policyVersions: readonly string[];
  /** Answers on the chain. */
  readonly turns: number;
  /** An answer was cut at its token limit. */
  readonly truncated: boolean;
  /** Of a training run; null for an experiment. */
  readonly step: number | null;
}
