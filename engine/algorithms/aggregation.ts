/** How token losses become one number. Every mode is linear in the token losses, so it is given as one weight a token. */
import { at, type Matrix, mapMasked, maskTotal, rowLengths } from "./matrix.ts";

export type AggregationMode =
  | "token-mean"
  | "token-sum"
  | "seq-mean-token-sum"
  | "seq-mean-token-sum-norm"
  | "seq-mean-token-mean"
  | "per-rollout-mean";

export interface Aggregation {
  readonly mode: AggregationMode;
  /** Trained tokens of the whole mini-batch of which these rows are a part. Default: of these rows. */
  readonly batchTokens?: number;
  /** Sequences (rollouts for `per-rollout-mean`) with a trained token in the whole mini-batch. Default: of these rows. */
  readonly batchSequences?: number;
  /** Divisor of `seq-mean-token-sum-norm`. Default: the padded width. */
  readonly normaliser?: number;
  /** Data-parallel copies whose gradients will be averaged. */
  readonly copies?: number;
  /** Rollout of each row, for `per-rollout-mean`. */
  readonly rolloutOfRow?: readonly number[];
}

/** Weight of each token's loss; 0 where masked. loss = Σ weight · tokenLoss, and weight is its gradient. */
export function aggregationWeights(mask: Matrix, settings: Aggregation): Matrix {
  const copies = settings.copies ?? 1;
  const lengths = rowLengths(mask);
  const rowOf = (index: number): number => Math.floor(index / mask.width);
  const sequences = settings.batchSequences ?? lengths.filter((length) => length > 0).length;
  switch (settings.mode) {
    case "token-mean": {
      const tokens = settings.batchTokens ?? maskTotal(mask);
      return mapMasked(mask, () => copies / tokens);
    }
    case "token-sum":
      return mapMasked(mask, () => copies);
    case "seq-mean-token-sum":
      return mapMasked(mask, () => copies / sequences);
    case "seq-mean-token-sum-norm":
      return mapMasked(mask, () => copies / sequences / (settings.normaliser ?? mask.width));
    case "seq-mean-token-mean":
      return mapMasked(mask, (index) => copies / sequences / (at(lengths, rowOf(index)) + 1e-8));
    case "per-rollout-mean": {
      const rollouts = settings.rolloutOfRow ?? Array.from({ length: mask.rows }, (_unused, row) => row);
      const tokens = new Map<number, number>();
      for (const [row, rollout] of rollouts.entries()) tokens.set(rollout, (tokens.get(rollout) ?? 0) + at(lengths, row));
      const trained = settings.batchSequences ?? [...tokens.values()].filter((count) => count > 0).length;
      return mapMasked(mask, (index) => copies / trained / (tokens.get(at(rollouts, rowOf(index))) ?? 1));
    }
  }
}

/** Σ weight · tokenLoss over the mask. */
export function aggregate(losses: Matrix, mask: Matrix, weights: Matrix): number {
  let total = 0;
  for (let index = 0; index < losses.values.length; index += 1) {
    if (mask.values[index] === 1) total += at(weights.values, index) * at(losses.values, index);
  }
  return total;
}
