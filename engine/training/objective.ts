/** Losses over a whole mini-batch and their derivatives by each score: what the training graph is fed with. */
import {
  type Aggregation,
  aggregate,
  aggregationWeights,
  clippedImportanceLoss,
  clippedPolicyLoss,
  divergence,
  type Matrix,
  mapMasked,
  maskedMean,
  type PolicyLoss,
  type PolicyLossInput,
  reinforceLoss,
  sequencePolicyLoss,
  valueLoss,
} from "../algorithms/index.ts";
import type { Algorithm, PolicyLossSettings } from "./algorithm.ts";
import type { Experience, PreparedExperience } from "./experience.ts";
import type { Coefficients, Scores } from "./sequence-model.ts";

export interface Objective {
  readonly loss: number;
  readonly coefficients: Coefficients;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Cross-entropy on trained tokens, token-mean. */
export function supervisedCoefficients(mask: Matrix): Coefficients {
  const share = aggregationWeights(mask, { mode: "token-mean" });
  return { byLogprob: mapMasked(mask, (index) => -(share.values[index] ?? 0)) };
}

export function supervisedLoss(logprobs: Matrix, mask: Matrix): number {
  return -aggregate(logprobs, mask, aggregationWeights(mask, { mode: "token-mean" }));
}

/**
 * L_policy − c_H·entropy + c_KL·divergence + c_V·L_value, each aggregated the same way. `rolloutOfRow` is that of these rows; the
 * whole mini-batch must be given, since the divisors are its own.
 */
export function policyObjective(
  algorithm: Algorithm,
  experience: Pick<Experience, "old" | "reference" | "values" | "rolloutOfRow">,
  prepared: Pick<PreparedExperience, "mask" | "advantages" | "returns" | "correction">,
  scores: Scores,
): Objective {
  const { mask, advantages, returns, correction } = prepared;
  const { logprobs, entropy, values } = scores;
  const aggregation: Aggregation = { mode: algorithm.aggregation, rolloutOfRow: experience.rolloutOfRow };
  const share = aggregationWeights(mask, aggregation);
  const weights = correction?.weights ?? undefined;
  const input: PolicyLossInput = { logprobs, old: experience.old, advantages, mask, ...(weights === undefined ? {} : { weights }) };
  const policy = policyLoss(algorithm.loss, input, aggregation);
  const metrics: Record<string, number> = {
    policyLoss: policy.loss,
    clipFraction: policy.metrics.clipFraction,
    lowerClipFraction: policy.metrics.lowerClipFraction,
    policyDivergence: policy.metrics.divergence,
  };
  let loss = policy.loss;
  let byLogprob = policy.gradient;

  const { reference } = experience;
  const settings = algorithm.divergence;
  if (settings !== null && settings.place === "loss" && reference !== null) {
    const ofToken = (index: number) => divergence(settings.estimator, logprobs.values[index] ?? 0, reference.values[index] ?? 0);
    const penalty = aggregate(
      mapMasked(mask, (index) => ofToken(index).value),
      mask,
      share,
    );
    loss += settings.coefficient * penalty;
    metrics.divergence = maskedMean(mask, (index) => ofToken(index).value);
    byLogprob = mapMasked(
      mask,
      (index) => (policy.gradient.values[index] ?? 0) + settings.coefficient * ofToken(index).gradient * (share.values[index] ?? 0),
    );
  }
  const coefficients: { byLogprob: Matrix; byEntropy?: Matrix; byValue?: Matrix } = { byLogprob };
  if (entropy !== null) {
    metrics.entropy = maskedMean(mask, (index) => entropy.values[index] ?? 0);
    if (algorithm.entropyCoefficient !== 0) {
      loss -= algorithm.entropyCoefficient * aggregate(entropy, mask, share);
      coefficients.byEntropy = mapMasked(mask, (index) => -algorithm.entropyCoefficient * (share.values[index] ?? 0));
    }
  }
  const { value } = algorithm;
  if (value !== null && values !== null && returns !== null && experience.values !== null) {
    const fitted = valueLoss(values, experience.values, returns, mask, value.range, aggregation);
    loss += value.coefficient * fitted.loss;
    metrics.valueLoss = fitted.loss;
    metrics.valueClipFraction = fitted.clipFraction;
    coefficients.byValue = mapMasked(mask, (index) => value.coefficient * (fitted.gradient.values[index] ?? 0));
  }
  return { loss, coefficients, metrics };
}

function policyLoss(settings: PolicyLossSettings, input: PolicyLossInput, aggregation: Aggregation): PolicyLoss {
  switch (settings.kind) {
    case "clipped":
      return clippedPolicyLoss(input, settings, aggregation);
    case "sequence":
      return sequencePolicyLoss(input, settings, aggregation);
    case "clipped-importance":
      return clippedImportanceLoss(input, settings, aggregation);
    case "reinforce":
      return reinforceLoss(input, aggregation);
  }
}
