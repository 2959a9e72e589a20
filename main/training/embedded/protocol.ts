/** What a trainer process is opened with and asked. */
import type { Matrix, RolloutCorrection, SamplerGap } from "../../../engine/algorithms/index.ts";
import type { SamplingSettings } from "../../../engine/decoding/index.ts";
import type { LoraSettings } from "../../../engine/models/index.ts";
import type { AdamWSettings } from "../../../engine/optimiser/index.ts";
import type { Algorithm, MemoryEstimate, RolloutOutcome, StepReport } from "../../../engine/training/index.ts";

export interface TrainerSettings {
  /** Hugging Face folder of the model that is trained, or that carries the adapter. */
  readonly modelFolder: string;
  /** null = all weights are trained. */
  readonly lora: LoraSettings | null;
  /** A value head on the last hidden state, for PPO. */
  readonly valueHead: boolean;
  readonly withEntropy: boolean;
  readonly optimiser: AdamWSettings;
  readonly clipNorm: number;
  readonly stopNorm: number;
  /** Positions of one micro-batch, and tokens of a sequence, at most. */
  readonly limits: { readonly positions: number; readonly longest: number };
  /** Bytes; chunking and checkpointing are chosen to fit. */
  readonly memoryBudget: number;
  /** Of the adapter's and value head's first values. */
  readonly seed: number;
  readonly threads: number | null;
  /** Checkpoint to go on from; null = begin. */
  readonly resumeFrom: string | null;
}

export interface TrainerInfo {
  readonly provider: { readonly name: string; readonly reason: string };
  readonly estimate: MemoryEstimate;
  /** How memory is spent, in words. */
  readonly plan: string;
  readonly trainedParameters: number;
  /** Updates made so far, and what the run stored beside them. */
  readonly step: number;
  readonly position: string | null;
}

/** A policy step: rows are chains of rollouts. */
export interface PolicyBatch {
  readonly sequences: readonly Int32Array[];
  readonly mask: Matrix;
  readonly rollouts: readonly RolloutOutcome[];
  readonly rolloutOfRow: readonly number[];
  /** By the sampler; null = not known. */
  readonly sampler: Matrix | null;
  readonly algorithm: Algorithm;
  /** Of the divergence, where it is part of the reward. */
  readonly divergenceCoefficient: number;
  /** What every row was drawn with. Only the temperature may differ from plain sampling: what a truncated draw left out has no gradient. */
  readonly sampling: SamplingSettings;
  /** Passes over the batch. */
  readonly epochs: number;
  readonly rate: number;
}

export type TrainerAsk =
  | { readonly type: "supervised"; readonly sequences: readonly Int32Array[]; readonly mask: Matrix; readonly rate: number }
  | { readonly type: "supervised-loss"; readonly sequences: readonly Int32Array[]; readonly mask: Matrix }
  | { readonly type: "policy"; readonly batch: PolicyBatch }
  /** Writes a checkpoint: `position` is the run's own text, given back when it goes on. */
  | { readonly type: "save"; readonly folder: string; readonly position: string }
  /** Writes what answers model calls: the adapter alone, as PEFT and vLLM read it, or a whole model. */
  | { readonly type: "publish"; readonly folder: string }
  /** Writes a whole model with the adapter added in. */
  | { readonly type: "export-model"; readonly folder: string };

/** What a policy step was taken on, for whoever wants to see why: rows and columns as in the batch. */
export interface PolicyMeasures {
  /** By the trainer before the step, at the batch's temperature. */
  readonly old: Matrix;
  readonly reference: Matrix | null;
  readonly entropy: Matrix | null;
  /** The mask with rejected tokens and dropped groups taken out. */
  readonly mask: Matrix;
  readonly advantages: Matrix;
  readonly flatGroupShare: number;
  /** How far sampler and trainer are apart on the tokens of the given mask; null when the sampler's numbers are not known. */
  readonly gap: SamplerGap | null;
  readonly correction: Pick<RolloutCorrection, "importance" | "rejected"> | null;
  readonly divergenceInReward: number | null;
}

export type TrainerReply =
  /** `skipped`: nothing was trained, and why. */
  | {
      readonly type: "stepped";
      readonly reports: readonly StepReport[];
      readonly skipped: string | null;
      readonly measures: PolicyMeasures | null;
      /** Most that the process has taken so far. */
      readonly memoryBytes: number;
    }
  | { readonly type: "loss"; readonly loss: number }
  | { readonly type: "written" };

/** Kind of failure of a run whose numbers are none, or grow without bounds. */
export const divergedKind = "diverged";
