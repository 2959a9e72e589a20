/**
 * Policy losses with their derivative by the current log-probability, so that a training graph only has to carry
 * Σ gradient · log-probability backwards. Δ = log-probability − old log-probability, ρ = e^Δ.
 */
import { type Aggregation, aggregate, aggregationWeights } from "./aggregation.ts";
import { at, clamp, type Matrix, mapMasked, maskedMean, maskedShare, rowLengths, rowSums } from "./matrix.ts";

export interface PolicyLossInput {
  readonly logprobs: Matrix;
  readonly old: Matrix;
  readonly advantages: Matrix;
  readonly mask: Matrix;
  /** Rollout-correction weights, multiplied into token losses before aggregation. */
  readonly weights?: Matrix;
}

export interface PolicyLoss {
  readonly loss: number;
  readonly gradient: Matrix;
  readonly metrics: {
    /** Share of trained tokens whose clipped term is the larger. */
    readonly clipFraction: number;
    /** Share where the dual clip acts. */
    readonly lowerClipFraction: number;
    /** Mean of −Δ. */
    readonly divergence: number;
  };
}

/** Loss and derivative of one token, before weights and aggregation. */
export interface TokenLoss {
  readonly loss: number;
  readonly gradient: number;
}

const exponentLimit = 20;

export function ratioOf(logprob: number, old: number): { readonly delta: number; readonly ratio: number; readonly free: boolean } {
  const raw = logprob - old;
  const delta = clamp(raw, -exponentLimit, exponentLimit);
  return { delta, ratio: Math.exp(delta), free: Math.abs(raw) <= exponentLimit };
}

/** Weighs, aggregates and collects token losses. */
export function collect(input: PolicyLossInput, aggregation: Aggregation, token: (index: number) => TokenLoss): { loss: number; gradient: Matrix } {
  const { mask } = input;
  const importance = (index: number): number => (input.weights === undefined ? 1 : at(input.weights.values, index));
  const share = aggregationWeights(mask, aggregation);
  const losses = mapMasked(mask, (index) => token(index).loss * importance(index));
  const gradient = mapMasked(mask, (index) => token(index).gradient * importance(index) * at(share.values, index));
  return { loss: aggregate(losses, mask, share), gradient };
}

export interface ClipSettings {
  readonly low: number;
  readonly high: number;
}

/** PPO with dual clip: max(−Aρ, −A·clip(ρ)); where A < 0, at most −A·c. Source: arXiv 1707.06347, 1912.09729. */
export function clippedPolicyLoss(input: PolicyLossInput, settings: ClipSettings & { readonly dual: number }, aggregation: Aggregation): PolicyLoss {
  const { mask } = input;
  const terms = (index: number) => {
    const advantage = at(input.advantages.values, index);
    const { delta, ratio, free } = ratioOf(at(input.logprobs.values, index), at(input.old.values, index));
    const first = -advantage * ratio;
    const second = -advantage * clamp(ratio, 1 - settings.low, 1 + settings.high);
    return { advantage, delta, ratio, free, first, second, clipped: Math.max(first, second), ceiling: -advantage * settings.dual };
  };
  const { loss, gradient } = collect(input, aggregation, (index) => {
    const { advantage, ratio, free, first, second, clipped, ceiling } = terms(index);
    if (advantage < 0 && ceiling < clipped) return { loss: ceiling, gradient: 0 };
    return { loss: clipped, gradient: first >= second && free ? -advantage * ratio : 0 };
  });
  return {
    loss,
    gradient,
    metrics: {
      clipFraction: maskedShare(mask, (index) => terms(index).second > terms(index).first),
      lowerClipFraction: maskedShare(mask, (index) => terms(index).advantage < 0 && terms(index).clipped > terms(index).ceiling),
      divergence: maskedMean(mask, (index) => -terms(index).delta),
    },
  };
}

const sequenceExponentLimit = 10;

/** GSPO: the ratio of a row is the geometric mean of its tokens' ratios. Source: arXiv 2507.18071, token form. */
export function sequencePolicyLoss(input: PolicyLossInput, settings: ClipSettings, aggregation: Aggregation): PolicyLoss {
  const { mask } = input;
  const lengths = rowLengths(mask);
  const delta = (index: number): number => at(input.logprobs.values, index) - at(input.old.values, index);
  const rowMeans = rowSums(mask, delta).map((sum, row) => sum / Math.max(at(lengths, row), 1));
  const terms = (index: number) => {
    const advantage = at(input.advantages.values, index);
    const exponent = at(rowMeans, Math.floor(index / mask.width));
    const ratio = Math.exp(Math.min(exponent, sequenceExponentLimit));
    const first = -advantage * ratio;
    const second = -advantage * clamp(ratio, 1 - settings.low, 1 + settings.high);
    return { advantage, ratio, free: exponent <= sequenceExponentLimit, first, second };
  };
  const { loss, gradient } = collect(input, aggregation, (index) => {
    const { advantage, ratio, free, first, second } = terms(index);
    return { loss: Math.max(first, second), gradient: first >= second && free ? -advantage * ratio : 0 };
  });
  return {
    loss,
    gradient,
    metrics: {
      clipFraction: maskedShare(mask, (index) => terms(index).second > terms(index).first),
      lowerClipFraction: 0,
      divergence: maskedMean(mask, (index) => -delta(index)),
    },
  };
}

/** CISPO: −sg(clip(ρ))·A·lp: clipped tokens keep a gradient. Source: arXiv 2506.13585. */
export function clippedImportanceLoss(input: PolicyLossInput, settings: ClipSettings, aggregation: Aggregation): PolicyLoss {
  const { mask } = input;
  const terms = (index: number) => {
    const logprob = at(input.logprobs.values, index);
    const { delta, ratio } = ratioOf(logprob, at(input.old.values, index));
    return { logprob, delta, ratio, clipped: clamp(ratio, 1 - settings.low, 1 + settings.high), advantage: at(input.advantages.values, index) };
  };
  const { loss, gradient } = collect(input, aggregation, (index) => {
    const { clipped, advantage, logprob } = terms(index);
    return { loss: -clipped * advantage * logprob, gradient: -clipped * advantage };
  });
  return {
    loss,
    gradient,
    metrics: {
      clipFraction: maskedShare(mask, (index) => terms(index).ratio !== terms(index).clipped),
      lowerClipFraction: 0,
      divergence: maskedMean(mask, (index) => -terms(index).delta),
    },
  };
}

/** REINFORCE: −A·lp. */
export function reinforceLoss(input: PolicyLossInput, aggregation: Aggregation): PolicyLoss {
  const { loss, gradient } = collect(input, aggregation, (index) => {
    const advantage = at(input.advantages.values, index);
    return { loss: -advantage * at(input.logprobs.values, index), gradient: -advantage };
  });
  const delta = (index: number): number => at(input.logprobs.values, index) - at(input.old.values, index);
  return { loss, gradient, metrics: { clipFraction: 0, lowerClipFraction: 0, divergence: maskedMean(input.mask, (index) => -delta(index)) } };
}
