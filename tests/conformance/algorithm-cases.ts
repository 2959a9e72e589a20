/** The functions of the reference cases by their names there, mapped onto the engine's. */

import type {
  Aggregation,
  AggregationMode,
  ImportanceSettings,
  Matrix,
  PolicyLoss,
  PolicyLossInput,
  RejectionRule,
} from "../../engine/algorithms/index.ts";
import * as algorithms from "../../engine/algorithms/index.ts";

export type Settings = Readonly<Record<string, number | string | boolean | null>>;
export interface Inputs {
  has(name: string): boolean;
  numbers(name: string): Float64Array;
  labels(name: string): string[];
  matrix(name: string): Matrix;
  shape(name: string): readonly number[];
}
type Output = Record<string, number | ArrayLike<number>>;

const number = (settings: Settings, name: string, otherwise?: number): number => {
  const value = settings[name] ?? otherwise;
  if (typeof value !== "number") throw new Error(`the case has no setting ${name}`);
  return value;
};

function aggregationOf(settings: Settings, inputs?: Inputs): Aggregation {
  const mode = (settings.loss_agg_mode ?? "token-mean") as AggregationMode;
  return {
    mode,
    ...(typeof settings.batch_num_tokens === "number" ? { batchTokens: settings.batch_num_tokens } : {}),
    ...(typeof settings.global_batch_size === "number" ? { batchSequences: settings.global_batch_size } : {}),
    ...(typeof settings.loss_scale_factor === "number" ? { normaliser: settings.loss_scale_factor } : {}),
    ...(typeof settings.dp_size === "number" ? { copies: settings.dp_size } : {}),
    ...(inputs?.has("row_rollout") === true ? { rolloutOfRow: [...inputs.numbers("row_rollout")] } : {}),
  };
}

const groupSettings = (settings: Settings) => ({
  divideByDeviation: settings.norm_adv_by_std_in_grpo === true,
  epsilon: number(settings, "epsilon", 1e-6),
});
const clipOf = (settings: Settings) => ({ low: number(settings, "clip_ratio_low"), high: number(settings, "clip_ratio_high") });
const dualOf = (settings: Settings) => ({
  low: number(settings, "clip_ratio_low", 0.2),
  high: number(settings, "clip_ratio_high", 0.2),
  dual: number(settings, "clip_ratio_c", 3),
});

function lossInput(inputs: Inputs, old = "old_log_prob"): PolicyLossInput {
  return {
    logprobs: inputs.matrix("log_prob"),
    old: inputs.matrix(old),
    advantages: inputs.matrix("advantages"),
    mask: inputs.matrix("response_mask"),
    ...(inputs.has("rollout_is_weights") ? { weights: inputs.matrix("rollout_is_weights") } : {}),
  };
}

const asLoss = ({ loss, gradient, metrics }: PolicyLoss): Output => ({
  loss,
  grad_log_prob: gradient.values,
  pg_clipfrac: metrics.clipFraction,
  pg_clipfrac_lower: metrics.lowerClipFraction,
  ppo_kl: metrics.divergence,
});

const advantageFunctions: Record<string, (settings: Settings, inputs: Inputs) => Output> = {
  grpo: (settings, inputs) => byScore(inputs, (scores, labels) => algorithms.grpoAdvantages(scores, labels, groupSettings(settings))),
  rloo: (_settings, inputs) => byScore(inputs, algorithms.rlooAdvantages),
  opo: (_settings, inputs) =>
    byScore(inputs, (scores, labels) => algorithms.opoAdvantages(scores, labels, algorithms.rowLengths(inputs.matrix("response_mask")))),
  grpo_passk: (settings, inputs) => byScore(inputs, (scores, labels) => algorithms.passAtKAdvantages(scores, labels, groupSettings(settings))),
  grpo_by_rollout: (settings, inputs) => {
    const perRollout = algorithms.grpoAdvantages(inputs.numbers("rollout_rewards"), inputs.labels("rollout_index"), groupSettings(settings));
    const perRow = Array.from(inputs.numbers("row_rollout"), (rollout) => perRollout[rollout] ?? Number.NaN);
    return { rollout_advantages: perRollout, advantages: algorithms.broadcastToTokens(perRow, inputs.matrix("response_mask")).values };
  },
  reinforce_plus_plus: (settings, inputs) =>
    asTokens(algorithms.reinforcePlusPlus(inputs.matrix("token_level_rewards"), inputs.matrix("response_mask"), number(settings, "gamma"))),
  reinforce_plus_plus_baseline: (_settings, inputs) => ({
    advantages: algorithms.reinforcePlusPlusBaseline(
      algorithms.rowScores(inputs.matrix("token_level_rewards")),
      inputs.labels("index"),
      inputs.matrix("response_mask"),
    ).values,
  }),
  remax: (_settings, inputs) =>
    asTokens(algorithms.remax(inputs.matrix("token_level_rewards"), inputs.matrix("response_mask"), inputs.numbers("reward_baselines"))),
  gae: (settings, inputs) =>
    asTokens(
      algorithms.generalisedAdvantages(inputs.matrix("token_level_rewards"), inputs.matrix("values"), inputs.matrix("response_mask"), {
        gamma: number(settings, "gamma"),
        lambda: number(settings, "lam"),
      }),
    ),
};

function byScore(inputs: Inputs, estimate: (scores: Float64Array, labels: string[]) => Float64Array): Output {
  const perRow = estimate(algorithms.rowScores(inputs.matrix("token_level_rewards")), inputs.labels("index"));
  return { advantages: algorithms.broadcastToTokens(perRow, inputs.matrix("response_mask")).values };
}

const asTokens = ({ advantages, returns }: { advantages: Matrix; returns: Matrix }): Output => ({
  advantages: advantages.values,
  returns: returns.values,
});

const lossFunctions: Record<string, (settings: Settings, inputs: Inputs) => Output> = {
  vanilla: (settings, inputs) => asLoss(algorithms.clippedPolicyLoss(lossInput(inputs), dualOf(settings), aggregationOf(settings))),
  gspo: (settings, inputs) => asLoss(algorithms.sequencePolicyLoss(lossInput(inputs), clipOf(settings), aggregationOf(settings))),
  cispo: (settings, inputs) => asLoss(algorithms.clippedImportanceLoss(lossInput(inputs), clipOf(settings), aggregationOf(settings))),
  gpg: (settings, inputs) => asLoss(algorithms.reinforceLoss(lossInput(inputs), aggregationOf(settings))),
  sapo: (settings, inputs) =>
    asLoss(
      algorithms.softGateLoss(
        lossInput(inputs),
        { positive: number(settings, "tau_pos"), negative: number(settings, "tau_neg") },
        aggregationOf(settings),
      ),
    ),
  dppo_tv: (settings, inputs) =>
    asLoss(algorithms.trustRegionLoss(lossInput(inputs), trustRegion(settings, "total-variation"), aggregationOf(settings))),
  dppo_kl: (settings, inputs) => asLoss(algorithms.trustRegionLoss(lossInput(inputs), trustRegion(settings, "divergence"), aggregationOf(settings))),
  dro: (settings, inputs) => asLoss(algorithms.quadraticRegularisedLoss(lossInput(inputs), number(settings, "dro_beta"), aggregationOf(settings))),
  geo_mean: (settings, inputs) => asLoss(algorithms.geometricMeanLoss(lossInput(inputs), clipOf(settings))),
  clip_cov: (settings, inputs) =>
    asLoss(
      algorithms.covarianceClippedLoss(
        lossInput(inputs),
        {
          ...clipOf(settings),
          ratio: number(settings, "clip_cov_ratio"),
          lower: number(settings, "clip_cov_lb"),
          upper: number(settings, "clip_cov_ub"),
        },
        aggregationOf(settings),
        (candidates, count) => candidates.slice(0, count),
      ),
    ),
  kl_cov: (settings, inputs) =>
    asLoss(
      algorithms.covariancePenalisedLoss(
        lossInput(inputs),
        { ratio: number(settings, "kl_cov_ratio"), coefficient: number(settings, "ppo_kl_coef") },
        aggregationOf(settings),
      ),
    ),
  bypass: (settings, inputs) =>
    asLoss(
      algorithms.bypassLoss(
        lossInput(inputs, "rollout_log_prob"),
        { form: settings.loss_type === "reinforce" ? "reinforce" : "clip", clip: dualOf(settings), ...correctionSettings(settings) },
        aggregationOf(settings),
      ),
    ),
};

const trustRegion = (settings: Settings, measure: "total-variation" | "divergence") => ({
  ...clipOf(settings),
  measure,
  ceiling: number(settings, "clip_ratio_c"),
});

function correctionSettings(settings: Settings): { importance?: ImportanceSettings; rejection?: RejectionRule[] } {
  const bounds = (text: string): { low?: number; high: number } => {
    const [first = Number.NaN, second] = text.split("_").map(Number);
    return second === undefined ? { high: first } : { low: first, high: second };
  };
  const result: { importance?: ImportanceSettings; rejection?: RejectionRule[] } = {};
  if (typeof settings.rollout_is === "string") {
    const threshold = bounds(String(settings.rollout_is_threshold));
    result.importance = {
      level: settings.rollout_is === "token" ? "token" : "sequence",
      form: threshold.low === undefined ? "truncate" : "band",
      ...threshold,
      normalise: settings.rollout_is_batch_normalize === true,
    };
  }
  if (typeof settings.rollout_rs === "string") {
    const thresholds = String(settings.rollout_rs_threshold).split(",");
    result.rejection = settings.rollout_rs.split(",").map((rule, index) => {
      const [, level, statistic] = /^(.*)_(k[123])$/.exec(rule.trim()) ?? [];
      const range = bounds(thresholds[thresholds.length === 1 ? 0 : index] ?? "");
      return { level: level as RejectionRule["level"], statistic: statistic as RejectionRule["statistic"], ...range };
    });
  }
  return result;
}

function rolloutCorrection(settings: Settings, inputs: Inputs): Output {
  const [old, sampler, mask] = [inputs.matrix("old_log_prob"), inputs.matrix("rollout_log_prob"), inputs.matrix("response_mask")];
  const corrected = algorithms.correctRollouts(old, sampler, mask, correctionSettings(settings));
  const gap = algorithms.samplerGap(old, sampler, mask);
  const { importance } = corrected;
  return {
    response_mask: corrected.mask.values,
    ...(corrected.weights === null ? {} : { rollout_is_weights: corrected.weights.values }),
    ...(importance === null
      ? {}
      : {
          rollout_is_mean: importance.mean,
          rollout_is_std: importance.deviation,
          rollout_is_eff_sample_size: importance.effectiveSampleSize,
          rollout_is_max: importance.max,
          rollout_is_min: importance.min,
          rollout_is_ratio_fraction_high: importance.shareHigh,
          rollout_is_ratio_fraction_low: importance.shareLow,
          rollout_is_oob_ratio: importance.shareOutside,
          rollout_is_batch_norm_factor: importance.normaliser,
        }),
    rollout_rs_masked_fraction: corrected.rejected.tokens,
    rollout_rs_seq_masked_fraction: corrected.rejected.rows,
    kl: gap.k1,
    k3_kl: gap.k3,
    training_ppl: gap.trainerPerplexity,
    rollout_ppl: gap.samplerPerplexity,
    training_log_ppl: gap.trainerLogPerplexity,
    rollout_log_ppl: gap.samplerLogPerplexity,
    log_ppl_diff: gap.logPerplexityDifference,
    log_ppl_abs_diff: gap.logPerplexityDistance,
    log_ppl_diff_max: gap.logPerplexityDifferenceMax,
    log_ppl_diff_min: gap.logPerplexityDifferenceMin,
    ppl_ratio: gap.perplexityRatio,
    chi2_token: gap.chiSquareToken,
    chi2_seq: gap.chiSquareSequence,
  };
}

const divergenceOf = (settings: Settings): algorithms.DivergenceEstimator => settings.kl_penalty as algorithms.DivergenceEstimator;

const otherFunctions: Record<string, (settings: Settings, inputs: Inputs) => Output> = {
  agg_loss: (settings, inputs) => {
    const [losses, mask] = [inputs.matrix("loss_mat"), inputs.matrix("loss_mask")];
    const weights = algorithms.aggregationWeights(mask, aggregationOf(settings, inputs));
    return { loss: algorithms.aggregate(losses, mask, weights), grad_loss_mat: weights.values };
  },
  value: (settings, inputs) => {
    const { loss, gradient, clipFraction } = algorithms.valueLoss(
      inputs.matrix("vpreds"),
      inputs.matrix("values"),
      inputs.matrix("returns"),
      inputs.matrix("response_mask"),
      number(settings, "cliprange_value"),
      aggregationOf(settings),
    );
    return { loss, grad_vpreds: gradient.values, vf_clipfrac: clipFraction };
  },
  kl_penalty: (settings, inputs) => {
    const reference = inputs.numbers("ref_log_prob");
    const tokens = Array.from(inputs.numbers("log_prob"), (logprob, index) =>
      algorithms.divergence(divergenceOf(settings), logprob, reference[index] ?? Number.NaN),
    );
    return { kl: tokens.map((token) => token.value), grad_log_prob: tokens.map((token) => token.gradient) };
  },
  adaptive_controller: (settings, inputs) => {
    const steps = inputs.numbers("n_steps");
    let coefficient = number(settings, "init_kl_coef");
    const range = { target: number(settings, "target_kl"), horizon: number(settings, "horizon") };
    return {
      kl_coef: Array.from(inputs.numbers("current_kl"), (observed, index) => {
        coefficient = algorithms.adaptCoefficient(coefficient, observed, steps[index] ?? Number.NaN, range);
        return coefficient;
      }),
    };
  },
  kl_in_reward: (settings, inputs) => {
    const scores = inputs.matrix("token_level_scores");
    const coefficient = number(settings, "kl_coef");
    const { rewards, observed } = algorithms.divergenceInReward(
      scores,
      inputs.matrix("old_log_prob"),
      inputs.matrix("ref_log_prob"),
      inputs.matrix("response_mask"),
      {
        estimator: divergenceOf(settings),
        coefficient,
      },
    );
    const next =
      typeof settings.target_kl === "number"
        ? algorithms.adaptCoefficient(coefficient, observed, scores.rows, { target: settings.target_kl, horizon: number(settings, "horizon") })
        : coefficient;
    return { token_level_rewards: rewards.values, current_kl: observed, next_kl_coef: next };
  },
  rollout_correction: rolloutCorrection,
  probability_mismatch: (_settings, inputs) => {
    const mismatch = algorithms.probabilityMismatch(inputs.matrix("old_log_prob"), inputs.matrix("rollout_log_prob"), inputs.matrix("response_mask"));
    return {
      rollout_probs_diff_max: mismatch.max,
      rollout_probs_diff_mean: mismatch.mean,
      rollout_probs_diff_std: mismatch.deviation,
      rollout_actor_probs_pearson_corr: mismatch.correlation,
    };
  },
  overlong: (settings, inputs) => {
    const range = {
      limit: number(settings, "max_resp_len"),
      buffer: number(settings, "overlong_buffer_len"),
      factor: number(settings, "penalty_factor"),
    };
    const penalties = inputs.numbers("response_length").map((length) => algorithms.overlongPenalty(length, range));
    return { overlong_reward: penalties, reward: inputs.numbers("score").map((score, index) => score + (penalties[index] ?? Number.NaN)) };
  },
  group_filter: (_settings, inputs) => {
    const { keep, shareWithout } = algorithms.groupsWithVariance(inputs.numbers("score"), inputs.labels("index"));
    return { keep, share_without_variance: shareWithout };
  },
  call_rewards: (settings, inputs) => ({
    call_rewards: algorithms.rewardOverCalls(inputs.numbers("reward")[0] ?? Number.NaN, number(settings, "calls"), number(settings, "gamma")),
  }),
  pass_at_k: (settings, inputs) => perTask(inputs, (n, c) => algorithms.passAtK(n, c, number(settings, "k"))),
  pass_hat_k: (settings, inputs) => perTask(inputs, (n, c) => algorithms.passHatK(n, c, number(settings, "k"))),
};

function perTask(inputs: Inputs, estimate: (n: number, c: number) => number): Output {
  const successes = inputs.numbers("c");
  const values = Array.from(inputs.numbers("n"), (n, task) => estimate(n, successes[task] ?? Number.NaN));
  return { per_task: values, mean: values.reduce((sum, value) => sum + value, 0) / values.length };
}

const logitFunctions: Record<string, (settings: Settings, inputs: Inputs) => Output> = {
  log_probs: (_settings, inputs) => {
    const { logprobs, gradient } = overLogits(inputs, () => ({ weight: 1, entropy: 0 }));
    return { log_probs: logprobs, grad_logits: gradient };
  },
  entropy: (settings, inputs) => {
    const mask = inputs.matrix("response_mask");
    const weights = algorithms.aggregationWeights(mask, aggregationOf(settings));
    const { entropies, gradient } = overLogits(inputs, (index) => ({ weight: 0, entropy: weights.values[index] ?? 0 }));
    return { entropy: entropies, loss: algorithms.aggregate({ ...mask, values: entropies }, mask, weights), grad_logits: gradient };
  },
  sft: (settings, inputs) => {
    const mask = inputs.matrix("loss_mask");
    const weights = algorithms.aggregationWeights(mask, aggregationOf(settings));
    const { logprobs, gradient } = overLogits(inputs, (index) => ({ weight: -(weights.values[index] ?? 0), entropy: 0 }));
    return { loss: -algorithms.aggregate({ ...mask, values: logprobs }, mask, weights), grad_logits: gradient };
  },
  actor_loss: (settings, inputs) => {
    const mask = inputs.matrix("response_mask");
    const aggregation = aggregationOf(settings);
    const share = algorithms.aggregationWeights(mask, aggregation);
    const { logprobs, entropies } = overLogits(inputs, () => ({ weight: 0, entropy: 0 }));
    const policy = algorithms.clippedPolicyLoss(
      { logprobs: { ...mask, values: logprobs }, old: inputs.matrix("old_log_prob"), advantages: inputs.matrix("advantages"), mask },
      dualOf(settings),
      aggregation,
    );
    const reference = inputs.has("ref_log_prob") ? inputs.numbers("ref_log_prob") : logprobs;
    const estimator = (settings.kl_loss_type ?? "k1") as algorithms.DivergenceEstimator;
    const divergences = Array.from(logprobs, (logprob, index) => algorithms.divergence(estimator, logprob, reference[index] ?? Number.NaN));
    const byKl = number(settings, "kl_loss_coef", 0);
    const byEntropy = number(settings, "entropy_coeff", 0);
    const klLoss = algorithms.aggregate({ ...mask, values: Float64Array.from(divergences, ({ value }) => value) }, mask, share);
    const entropyLoss = algorithms.aggregate({ ...mask, values: entropies }, mask, share);
    const { gradient } = overLogits(inputs, (index) => {
      const weight = share.values[index] ?? 0;
      return {
        weight: (policy.gradient.values[index] ?? 0) + (weight === 0 ? 0 : byKl * weight * (divergences[index]?.gradient ?? 0)),
        entropy: -byEntropy * weight,
      };
    });
    return {
      loss: policy.loss - byEntropy * entropyLoss + byKl * klLoss,
      pg_loss: policy.loss,
      entropy_loss: entropyLoss,
      kl_loss: klLoss,
      grad_logits: gradient,
    };
  },
};

function overLogits(inputs: Inputs, weights: (index: number) => { weight: number; entropy: number }) {
  const logits = inputs.numbers("logits");
  const vocabulary = inputs.shape("logits").at(-1) ?? 1;
  const labels = inputs.has("labels") ? inputs.numbers("labels") : new Float64Array(logits.length / vocabulary);
  const logprobs = new Float64Array(labels.length);
  const entropies = new Float64Array(labels.length);
  const gradient = new Float64Array(logits.length);
  labels.forEach((label, index) => {
    const distribution = algorithms.distributionOf(logits, index * vocabulary, vocabulary);
    logprobs[index] = distribution.logprobs[label] ?? Number.NaN;
    entropies[index] = distribution.entropy;
    const { weight, entropy } = weights(index);
    algorithms.addLogitGradient(gradient, index * vocabulary, distribution, label, weight, entropy);
  });
  return { logprobs, entropies, gradient };
}

const functions = { ...advantageFunctions, ...lossFunctions, ...otherFunctions, ...logitFunctions };

/** Runs one function of the reference cases; an unknown one throws with its name. */
export function runAlgorithm(name: string, settings: Settings, inputs: Inputs): Output {
  const run = functions[name];
  if (run === undefined) throw new Error(`there is no function ${name}`);
  return run(settings, inputs);
}
