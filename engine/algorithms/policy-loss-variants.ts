/** Further published policy losses, in the form of `policy-loss.ts`. */
import type { Aggregation } from "./aggregation.ts";
import { at, clamp, forEachMasked, type Matrix, mapMasked, maskedMean, maskedShare, maskTotal, rowLengths, rowSums } from "./matrix.ts";
import { type ClipSettings, clippedPolicyLoss, collect, type PolicyLoss, type PolicyLossInput, ratioOf, reinforceLoss } from "./policy-loss.ts";
import { correctRollouts, type ImportanceSettings, type RejectionRule } from "./rollout-correction.ts";

const difference =
  (input: PolicyLossInput) =>
  (index: number): number =>
    at(input.logprobs.values, index) - at(input.old.values, index);

/** SAPO: a soft gate σ(τ(ρ − 1)) in the place of the clip. Source: arXiv 2511.20347. */
export function softGateLoss(
  input: PolicyLossInput,
  settings: { readonly positive: number; readonly negative: number },
  aggregation: Aggregation,
): PolicyLoss {
  const { loss, gradient } = collect(input, aggregation, (index) => {
    const advantage = at(input.advantages.values, index);
    const { ratio, free } = ratioOf(at(input.logprobs.values, index), at(input.old.values, index));
    const temperature = advantage > 0 ? settings.positive : settings.negative;
    const gate = 1 / (1 + Math.exp(-temperature * (ratio - 1)));
    return { loss: (-advantage * 4 * gate) / temperature, gradient: free ? -advantage * 4 * gate * (1 - gate) * ratio : 0 };
  });
  const divergence = maskedMean(input.mask, (index) => -ratioOf(at(input.logprobs.values, index), at(input.old.values, index)).delta);
  return { loss, gradient, metrics: { clipFraction: 0, lowerClipFraction: 0, divergence } };
}

/** DPPO: tokens that left a divergence trust region are masked; `total-variation` or `divergence` decides. */
export function trustRegionLoss(
  input: PolicyLossInput,
  settings: ClipSettings & { readonly measure: "total-variation" | "divergence"; readonly ceiling: number },
  aggregation: Aggregation,
): PolicyLoss {
  const terms = (index: number) => {
    const logprob = at(input.logprobs.values, index);
    const old = at(input.old.values, index);
    const advantage = at(input.advantages.values, index);
    const [p, pOld] = [Math.exp(logprob), Math.exp(old)];
    const { ratio, delta } = ratioOf(logprob, old);
    const binary = pOld * (old - logprob) + (1 - pOld) * Math.log((1 - pOld + 1e-8) / (1 - p + 1e-8));
    const byVariation = advantage > 0 ? p - pOld <= settings.high : p - pOld >= -settings.low;
    const byDivergence = advantage > 0 ? binary <= settings.high || p <= pOld : binary <= settings.low || p >= pOld;
    return { logprob, advantage, ratio, delta, valid: settings.measure === "total-variation" ? byVariation : byDivergence };
  };
  const { loss, gradient } = collect(input, aggregation, (index) => {
    const { logprob, advantage, ratio, valid } = terms(index);
    const slope = valid ? -advantage * Math.min(ratio, settings.ceiling) : 0;
    return { loss: slope * logprob, gradient: slope };
  });
  return {
    loss,
    gradient,
    metrics: {
      clipFraction: maskedShare(input.mask, (index) => !terms(index).valid),
      lowerClipFraction: maskedShare(input.mask, (index) => terms(index).valid && terms(index).ratio > settings.ceiling),
      divergence: maskedMean(input.mask, (index) => -terms(index).delta),
    },
  };
}

/** DRO: −(A·lp − ½β(lp − old)²). Source: arXiv 2405.19107. */
export function quadraticRegularisedLoss(input: PolicyLossInput, beta: number, aggregation: Aggregation): PolicyLoss {
  const delta = difference(input);
  const { loss, gradient } = collect(input, aggregation, (index) => {
    const advantage = at(input.advantages.values, index);
    return { loss: -(advantage * at(input.logprobs.values, index) - 0.5 * beta * delta(index) ** 2), gradient: -(advantage - beta * delta(index)) };
  });
  return { loss, gradient, metrics: { clipFraction: 0, lowerClipFraction: 0, divergence: maskedMean(input.mask, (index) => -delta(index)) } };
}

/** GMPO: the geometric mean of a row's clipped ratios times its mean advantage; mean over all rows. Source: arXiv 2507.20673. */
export function geometricMeanLoss(input: PolicyLossInput, settings: ClipSettings): PolicyLoss {
  const { mask } = input;
  const delta = difference(input);
  const advantage = (index: number): number => at(input.advantages.values, index);
  const limited = (index: number): number => clamp(delta(index), -settings.low, settings.high);
  const chosen = (index: number): number => {
    const sign = Math.sign(advantage(index));
    return sign * Math.min(sign * delta(index), sign * limited(index));
  };
  const lengths = rowLengths(mask);
  const importance = (index: number): number => (input.weights === undefined ? 1 : at(input.weights.values, index));
  const ratios = rowSums(mask, chosen).map((sum, row) => Math.exp(sum / (at(lengths, row) + 1e-8)));
  const means = rowSums(mask, advantage).map((sum, row) => sum / (at(lengths, row) + 1e-8));
  const rowWeights =
    input.weights === undefined
      ? new Float64Array(mask.rows).fill(1)
      : rowSums(mask, (index) => Math.log(importance(index))).map((sum, row) => Math.exp(sum / (at(lengths, row) + 1e-8)));
  const rowLoss = ratios.map((ratio, row) => -ratio * at(means, row) * at(rowWeights, row));
  const gradient = mapMasked(mask, (index) => {
    const row = Math.floor(index / mask.width);
    const sign = Math.sign(advantage(index));
    const free = sign !== 0 && sign * delta(index) <= sign * limited(index);
    return free ? at(rowLoss, row) / (at(lengths, row) + 1e-8) / mask.rows : 0;
  });
  const clipped = (index: number): boolean => delta(index) !== limited(index);
  return {
    loss: rowLoss.reduce((sum, loss) => sum + loss, 0) / mask.rows,
    gradient,
    metrics: {
      clipFraction: maskedShare(mask, (index) => clipped(index) && advantage(index) > 0),
      lowerClipFraction: maskedShare(mask, (index) => clipped(index) && advantage(index) < 0),
      divergence: maskedMean(mask, (index) => -delta(index)),
    },
  };
}

/** Covariance of advantage and log-probability, token by token: what drives entropy down. */
function covariances(input: PolicyLossInput): (index: number) => number {
  const meanAdvantage = maskedMean(input.mask, (index) => at(input.advantages.values, index));
  const meanLogprob = maskedMean(input.mask, (index) => at(input.logprobs.values, index));
  return (index) => (at(input.advantages.values, index) - meanAdvantage) * (at(input.logprobs.values, index) - meanLogprob);
}

/**
 * Clip-cov: of the unclipped tokens whose covariance lies within bounds, a share `ratio` of all trained tokens loses its gradient.
 * `pick` orders candidates (random in training). Source: arXiv 2505.22617.
 */
export function covarianceClippedLoss(
  input: PolicyLossInput,
  settings: ClipSettings & { readonly ratio: number; readonly lower: number; readonly upper: number },
  aggregation: Aggregation,
  pick: (candidates: readonly number[], count: number) => readonly number[],
): PolicyLoss {
  const delta = difference(input);
  const covariance = covariances(input);
  const terms = (index: number) => {
    const advantage = at(input.advantages.values, index);
    const ratio = Math.exp(delta(index));
    return { advantage, ratio, first: -advantage * ratio, second: -advantage * clamp(ratio, 1 - settings.low, 1 + settings.high) };
  };
  const candidates: number[] = [];
  forEachMasked(input.mask, (index) => {
    const { first, second } = terms(index);
    if (covariance(index) > settings.lower && covariance(index) < settings.upper && second <= first) candidates.push(index);
  });
  const quota = Math.max(Math.floor(settings.ratio * maskTotal(input.mask)), 1);
  const removed = new Set(candidates.length > quota ? pick(candidates, quota) : candidates);
  const { loss, gradient } = collect(input, aggregation, (index) => {
    if (removed.has(index)) return { loss: 0, gradient: 0 };
    const { advantage, ratio, first, second } = terms(index);
    return { loss: Math.max(first, second), gradient: first >= second ? -advantage * ratio : 0 };
  });
  return {
    loss,
    gradient,
    metrics: {
      clipFraction: maskedShare(input.mask, (index) => removed.has(index)),
      lowerClipFraction: 0,
      divergence: maskedMean(input.mask, (index) => -delta(index)),
    },
  };
}

/** KL-cov: a penalty |Δ| on the tokens of highest covariance. Source: arXiv 2505.22617. */
export function covariancePenalisedLoss(
  input: PolicyLossInput,
  settings: { readonly ratio: number; readonly coefficient: number },
  aggregation: Aggregation,
): PolicyLoss {
  const delta = difference(input);
  const covariance = covariances(input);
  const trained: number[] = [];
  forEachMasked(input.mask, (index) => trained.push(index));
  const count = Math.max(1, Math.floor(settings.ratio * trained.length));
  const penalised = new Set(trained.toSorted((left, right) => covariance(right) - covariance(left)).slice(0, count));
  const { loss, gradient } = collect(input, aggregation, (index) => {
    const slope = -at(input.advantages.values, index) * Math.exp(delta(index));
    const penalty = penalised.has(index) ? settings.coefficient : 0;
    return { loss: slope + penalty * Math.abs(delta(index)), gradient: slope + penalty * Math.sign(delta(index)) };
  });
  return {
    loss,
    gradient,
    metrics: { clipFraction: 0, lowerClipFraction: 0, divergence: maskedMean(input.mask, (index) => Math.abs(delta(index))) },
  };
}

/** Bypass: the sampler's log-probabilities (`input.old`) serve as old ones; correction is taken on the current policy, without gradient. */
export function bypassLoss(
  input: PolicyLossInput,
  settings: {
    readonly form: "reinforce" | "clip";
    readonly clip: ClipSettings & { readonly dual: number };
    readonly importance?: ImportanceSettings;
    readonly rejection?: readonly RejectionRule[];
  },
  aggregation: Aggregation,
): PolicyLoss {
  const { importance, rejection } = settings;
  const corrected = correctRollouts(input.logprobs, input.old, input.mask, {
    ...(importance === undefined ? {} : { importance }),
    ...(rejection === undefined ? {} : { rejection }),
  });
  const kept: PolicyLossInput = { logprobs: input.logprobs, old: input.old, advantages: input.advantages, mask: corrected.mask };
  if (settings.form === "clip") return clippedPolicyLoss(kept, settings.clip, aggregation);
  const weights: Matrix | null = corrected.weights;
  return reinforceLoss(weights === null ? kept : { ...kept, weights }, aggregation);
}
