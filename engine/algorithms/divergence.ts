/** Estimators of the KL divergence to a reference policy, in the loss or in the reward, and the adaptive coefficient. */
import { at, clamp, type Matrix, mapMasked, rowLengths, rowSums } from "./matrix.ts";

/** A `+` form has the value of its estimator and the gradient of k2, which is unbiased. */
export type DivergenceEstimator = "k1" | "abs" | "k2" | "k3" | "k1+" | "abs+" | "k2+" | "k3+";

export interface Divergence {
  readonly value: number;
  /** Derivative by the current log-probability. */
  readonly gradient: number;
}

const exponentLimit = 20;
const valueLimit = 10;

/** Of one token: `logprob` under the current policy, `reference` under the other. Clamped values have no gradient. */
export function divergence(estimator: DivergenceEstimator, logprob: number, reference: number): Divergence {
  const x = logprob - reference;
  switch (estimator) {
    case "k1":
      return { value: x, gradient: 1 };
    case "abs":
      return { value: Math.abs(x), gradient: Math.sign(x) };
    case "k2":
      return { value: 0.5 * x * x, gradient: x };
    case "k3": {
      const d = clamp(-x, -exponentLimit, exponentLimit);
      const value = Math.exp(d) - d - 1;
      const inside = Math.abs(x) <= exponentLimit && Math.abs(value) <= valueLimit;
      return { value: clamp(value, -valueLimit, valueLimit), gradient: inside ? 1 - Math.exp(d) : 0 };
    }
    case "k1+":
      return { value: x, gradient: x };
    case "abs+":
      return { value: Math.abs(x), gradient: x };
    case "k2+":
      return { value: 0.5 * x * x, gradient: x };
    case "k3+":
      return { value: divergence("k3", logprob, reference).value, gradient: x };
  }
}

/** β ← β·(1 + clamp(KL/target − 1, ±0.2)·n/horizon): n = rows seen since the last step. */
export function adaptCoefficient(
  coefficient: number,
  observed: number,
  rows: number,
  settings: { readonly target: number; readonly horizon: number },
): number {
  return coefficient * (1 + (clamp(observed / settings.target - 1, -0.2, 0.2) * rows) / settings.horizon);
}

/** Token rewards less β·k(old, reference); `observed` is the mean over rows with a trained token of their mean divergence. */
export function divergenceInReward(
  scores: Matrix,
  old: Matrix,
  reference: Matrix,
  mask: Matrix,
  settings: { readonly estimator: DivergenceEstimator; readonly coefficient: number },
): { readonly rewards: Matrix; readonly observed: number } {
  const penalty = mapMasked(mask, (index) => divergence(settings.estimator, at(old.values, index), at(reference.values, index)).value);
  const rewards = { ...scores, values: scores.values.map((score, index) => score - settings.coefficient * at(penalty.values, index)) };
  const sums = rowSums(mask, (index) => at(penalty.values, index));
  const lengths = rowLengths(mask);
  const observed = sums.reduce((total, sum, row) => total + sum / (at(lengths, row) + 1e-8), 0) / mask.rows;
  return { rewards, observed };
}
