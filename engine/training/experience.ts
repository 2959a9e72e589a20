/** What a policy step learns from: rows (chains) of rollouts with what was measured on each token, and the advantages made of it. */
import {
  broadcastToTokens,
  correctRollouts,
  divergenceInReward,
  generalisedAdvantages,
  groupsWithVariance,
  grpoAdvantages,
  type Matrix,
  mapMasked,
  maskTotal,
  matrixLike,
  opoAdvantages,
  overlongPenalty,
  type RolloutCorrection,
  reinforcePlusPlus,
  rlooAdvantages,
  rowLengths,
  whiten,
} from "../algorithms/index.ts";
import type { Algorithm } from "./algorithm.ts";

/** One rollout. Its reward is null when no verifier gave one: such a rollout must not be here. */
export interface RolloutOutcome {
  readonly reward: number;
  /** Rollouts whose rewards are compared: those of one task and harness. */
  readonly group: string;
  /** Tokens of prompts and answers together, for the penalty on length. */
  readonly length: number;
}

/** Rows are sequences, columns predicted tokens. */
export interface Experience {
  readonly rollouts: readonly RolloutOutcome[];
  /** Index of each row's rollout. */
  readonly rolloutOfRow: readonly number[];
  readonly mask: Matrix;
  /** Log-probabilities by the trainer before the step, by the sampler, by the reference; null where there are none. */
  readonly old: Matrix;
  readonly sampler: Matrix | null;
  readonly reference: Matrix | null;
  /** By the value head before the step. */
  readonly values: Matrix | null;
}

export interface PreparedExperience {
  /** Why nothing of it is trained; null when something is. */
  readonly skipped: string | null;
  /** The mask with rejected tokens and dropped groups taken out; empty when it is skipped. */
  readonly mask: Matrix;
  readonly advantages: Matrix;
  /** Targets of the value head; null without one. */
  readonly returns: Matrix | null;
  readonly correction: RolloutCorrection | null;
  /** Share of groups whose rewards are all equal. */
  readonly flatGroupShare: number;
  /** Mean divergence from the reference, where it is part of the reward. */
  readonly divergenceInReward: number | null;
}

export function prepareExperience(experience: Experience, algorithm: Algorithm, divergenceCoefficient: number): PreparedExperience {
  const { rollouts, rolloutOfRow } = experience;
  const scores = rollouts.map(({ reward, length }) => reward + (algorithm.overlong === null ? 0 : overlongPenalty(length, algorithm.overlong)));
  const groups = rollouts.map(({ group }) => group);
  const variance = groupsWithVariance(scores, groups);
  const keeps = (row: number): boolean => algorithm.flatGroups === "keep" || variance.keep[rolloutOfRow[row] ?? 0] === 1;
  const remaining = mapMasked(experience.mask, (index) => (keeps(Math.floor(index / experience.mask.width)) ? 1 : 0));
  const correction = correctionOf(experience, remaining, algorithm);
  const kept = correction?.mask ?? remaining;
  const skipped = reasonToSkip(experience.mask, remaining, kept, algorithm);
  const mask = skipped === null ? kept : matrixLike(kept);
  // Token rewards: the rollout's on the last trained token of each of its rows.
  const rewards = terminalRewards(mask, (row) => scores[rolloutOfRow[row] ?? 0] ?? 0);
  const shaped = rewardDivergence(experience, mask, rewards, algorithm, divergenceCoefficient);
  const shapedScores = scores.map((score, rollout) => score + penaltyOf(rewards, shaped.rewards, rolloutOfRow, rollout));
  return {
    ...{ skipped, mask },
    ...(skipped === null ? advantagesOf(experience, mask, algorithm, shapedScores, shaped.rewards) : { advantages: matrixLike(mask), returns: null }),
    correction,
    flatGroupShare: variance.shareWithout,
    divergenceInReward: shaped.observed,
  };
}

/** Masks from the whole batch to what is left of it. */
function reasonToSkip(given: Matrix, ofGroups: Matrix, kept: Matrix, { advantage }: Algorithm): string | null {
  if (maskTotal(given) === 0) return "no token of the batch is trained";
  if (maskTotal(ofGroups) === 0) return "no token of the batch is trained, since the rewards of each group are all equal";
  const left = maskTotal(kept);
  if (left === 0) return "no token of the batch is trained, since sampler and trainer are too far apart on each of them";
  if (left === 1 && whitens(advantage)) return "one token of the batch is left, and advantages that are whitened need two";
  return null;
}

function whitens({ kind }: Algorithm["advantage"]): boolean {
  return kind === "whitened-returns" || kind === "whitened-group" || kind === "value-head";
}

function correctionOf({ old, sampler }: Experience, mask: Matrix, { correction }: Algorithm): RolloutCorrection | null {
  if (sampler === null || (correction.importance === null && correction.rejection.length === 0)) return null;
  return correctRollouts(old, sampler, mask, {
    ...(correction.importance === null ? {} : { importance: correction.importance }),
    rejection: correction.rejection,
  });
}

function terminalRewards(mask: Matrix, rewardOfRow: (row: number) => number): Matrix {
  const rewards = matrixLike(mask);
  for (let row = 0; row < mask.rows; row += 1) {
    const values = mask.values.subarray(row * mask.width, (row + 1) * mask.width);
    const last = values.lastIndexOf(1);
    if (last >= 0) rewards.values[row * mask.width + last] = rewardOfRow(row);
  }
  return rewards;
}

function rewardDivergence(
  { old, reference }: Experience,
  mask: Matrix,
  rewards: Matrix,
  { divergence }: Algorithm,
  coefficient: number,
): { readonly rewards: Matrix; readonly observed: number | null } {
  if (divergence === null || divergence.place !== "reward" || reference === null) return { rewards, observed: null };
  return divergenceInReward(rewards, old, reference, mask, { estimator: divergence.estimator, coefficient });
}

/** What shaping took from the rewards of a rollout's rows, all together. */
function penaltyOf(rewards: Matrix, shaped: Matrix, rolloutOfRow: readonly number[], rollout: number): number {
  if (rewards === shaped) return 0;
  const { width } = rewards;
  return shaped.values.reduce(
    (sum, reward, index) => (rolloutOfRow[Math.floor(index / width)] === rollout ? sum + reward - (rewards.values[index] ?? 0) : sum),
    0,
  );
}

function advantagesOf(
  { rollouts, rolloutOfRow, values }: Experience,
  mask: Matrix,
  { advantage }: Algorithm,
  scores: readonly number[],
  rewards: Matrix,
): { readonly advantages: Matrix; readonly returns: Matrix | null } {
  const groups = rollouts.map(({ group }) => group);
  const onRows = (perRollout: Float64Array): Matrix =>
    broadcastToTokens(
      rolloutOfRow.map((rollout) => perRollout[rollout] ?? 0),
      mask,
    );
  switch (advantage.kind) {
    case "group":
      return { advantages: onRows(grpoAdvantages(scores, groups, { ...advantage, epsilon: 1e-6 })), returns: null };
    case "leave-one-out":
      return { advantages: onRows(rlooAdvantages(scores, groups)), returns: null };
    case "length-weighted":
      return { advantages: onRows(opoAdvantages(scores, groups, trainedTokens(mask, rolloutOfRow, rollouts.length))), returns: null };
    case "whitened-group": {
      const centred = grpoAdvantages(scores, groups, { divideByDeviation: false, epsilon: 0 });
      return { advantages: whiten(onRows(centred), mask), returns: null };
    }
    case "whitened-returns":
      return { advantages: reinforcePlusPlus(rewards, mask, advantage.gamma).advantages, returns: null };
    case "value-head": {
      if (values === null) throw new RangeError("advantages by a value head need its values");
      const { advantages, returns } = generalisedAdvantages(rewards, values, mask, advantage);
      return { advantages, returns };
    }
  }
}

function trainedTokens(mask: Matrix, rolloutOfRow: readonly number[], count: number): Float64Array {
  const tokens = new Float64Array(count);
  rowLengths(mask).forEach((length, row) => {
    const rollout = rolloutOfRow[row] ?? 0;
    tokens[rollout] = (tokens[rollout] ?? 0) + length;
  });
  return tokens;
}
