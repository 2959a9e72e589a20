/** Which advantage, loss and aggregation a named algorithm is: one table. What a person changes is a change of one entry's fields. */
import type { AggregationMode, ClipSettings, DivergenceEstimator, ImportanceSettings, RejectionRule } from "../algorithms/index.ts";

export type AdvantageSettings =
  /** (s − μ)/σ of the group, or s − μ. */
  | { readonly kind: "group"; readonly divideByDeviation: boolean }
  | { readonly kind: "leave-one-out" }
  /** Baseline weighted by length. */
  | { readonly kind: "length-weighted" }
  /** Discounted returns, whitened over the batch; with a group baseline or not. */
  | { readonly kind: "whitened-returns"; readonly gamma: number }
  | { readonly kind: "whitened-group" }
  /** Generalised advantage estimation by a value head. */
  | { readonly kind: "value-head"; readonly gamma: number; readonly lambda: number };

export type PolicyLossSettings =
  | ({ readonly kind: "clipped"; readonly dual: number } & ClipSettings)
  | ({ readonly kind: "sequence" } & ClipSettings)
  | ({ readonly kind: "clipped-importance" } & ClipSettings)
  | { readonly kind: "reinforce" };

interface DivergenceSettings {
  readonly place: "loss" | "reward";
  readonly estimator: DivergenceEstimator;
  readonly coefficient: number;
  /** In the reward only: the coefficient follows a target. */
  readonly adaptive: { readonly target: number; readonly horizon: number } | null;
}

export interface Algorithm {
  readonly advantage: AdvantageSettings;
  readonly loss: PolicyLossSettings;
  readonly aggregation: AggregationMode;
  readonly divergence: DivergenceSettings | null;
  /** Share of the entropy in the objective, which is maximised. */
  readonly entropyCoefficient: number;
  /** Clip range of the value loss and its share; only with a value head. */
  readonly value: { readonly range: number; readonly coefficient: number } | null;
  /** Sampler ≠ trainer. */
  readonly correction: { readonly importance: ImportanceSettings | null; readonly rejection: readonly RejectionRule[] };
  /** Groups whose rewards are all equal. */
  readonly flatGroups: "keep" | "drop";
  /** Reward falls before the length limit: tokens of the buffer, and how far. */
  readonly overlong: { readonly limit: number; readonly buffer: number; readonly factor: number } | null;
}

const ppoClip = { kind: "clipped", low: 0.2, high: 0.2, dual: 3 } as const;
const grpo: Algorithm = {
  advantage: { kind: "group", divideByDeviation: true },
  loss: ppoClip,
  aggregation: "per-rollout-mean",
  divergence: { place: "loss", estimator: "k3", coefficient: 0.001, adaptive: null },
  entropyCoefficient: 0,
  value: null,
  correction: { importance: { level: "token", form: "truncate", high: 2, normalise: false }, rejection: [] },
  flatGroups: "keep",
  overlong: null,
};

/** Sources: arXiv 2402.03300, 2503.20783, 2402.14740, 2505.23585, 2501.03262, 2503.14476, 2507.18071, 2506.13585, 1707.06347. */
export const namedAlgorithms = {
  grpo,
  "dr-grpo": { ...grpo, advantage: { kind: "group", divideByDeviation: false }, aggregation: "seq-mean-token-sum-norm", divergence: null },
  rloo: { ...grpo, advantage: { kind: "leave-one-out" }, divergence: null },
  opo: { ...grpo, advantage: { kind: "length-weighted" }, aggregation: "token-mean", divergence: null },
  "reinforce++": {
    ...grpo,
    advantage: { kind: "whitened-returns", gamma: 1 },
    aggregation: "token-mean",
    divergence: { place: "reward", estimator: "k1", coefficient: 0.001, adaptive: null },
  },
  "reinforce++-baseline": { ...grpo, advantage: { kind: "whitened-group" }, aggregation: "token-mean" },
  dapo: { ...grpo, loss: { ...ppoClip, high: 0.28 }, aggregation: "token-mean", divergence: null, flatGroups: "drop" },
  gspo: { ...grpo, loss: { kind: "sequence", low: 3e-4, high: 4e-4 }, aggregation: "seq-mean-token-mean", divergence: null },
  cispo: { ...grpo, loss: { kind: "clipped-importance", low: 1, high: 0.28 }, aggregation: "token-mean", divergence: null },
  reinforce: { ...grpo, loss: { kind: "reinforce" }, divergence: null },
  ppo: {
    ...grpo,
    advantage: { kind: "value-head", gamma: 1, lambda: 0.95 },
    aggregation: "token-mean",
    divergence: { place: "reward", estimator: "k1", coefficient: 0.001, adaptive: null },
    value: { range: 0.5, coefficient: 0.5 },
  },
} as const satisfies Readonly<Record<string, Algorithm>>;

export type AlgorithmName = keyof typeof namedAlgorithms;
