/** What an update saw of a chain, by position. Pure. */
import type { TrainedTokens } from "../../../service/views.ts";

export interface Trained {
  readonly mask: (position: number) => 0 | 1;
  /** null where the token took no part. */
  readonly advantage: (position: number) => number | null;
  readonly trainerLogprob: (position: number) => number | null;
  /** Where the scale of advantages ends. */
  readonly largest: number;
}

/** `ofStep`: the largest absolute advantage in the step, so that rollouts can be told apart; the chain's own counts where it is larger. */
export function trainedTokens({ mask, advantages, trainerLogprobs }: TrainedTokens, ofStep: number): Trained {
  return {
    mask: (position) => mask[position] ?? 0,
    advantage: (position) => advantages[position] ?? null,
    trainerLogprob: (position) => trainerLogprobs[position] ?? null,
    largest: advantages.reduce<number>((most, advantage) => Math.max(most, Math.abs(advantage ?? 0)), ofStep),
  };
}

/** Trainer minus sampler; null where one of them is not known. */
export function gapOf(trained: Trained, position: number, sampler: number | null): number | null {
  const trainer = trained.trainerLogprob(position);
  return trainer === null || sampler === null ? null : trainer - sampler;
}

const gapSteps = [0.001, 0.01, 0.05, 0.1, 0.2, 0.5] as const;

/** 0 = the same … 6 = far apart. */
export function gapStep(gap: number): number {
  const at = gapSteps.findIndex((limit) => Math.abs(gap) < limit);
  return at === -1 ? 6 : at;
}
