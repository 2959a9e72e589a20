/**
 * Draws tokens from logits. Order, as in transformers and vLLM: temperature, then the `topK` likeliest, then the smallest set of them whose
 * probability reaches `topP`, then those with at least `minP` of the likeliest one's probability; what is left is renormalised.
 */
import { at } from "../algorithms/index.ts";

export interface SamplingSettings {
  /** 0 = always the likeliest token. */
  readonly temperature: number;
  /** 0 = all. */
  readonly topK: number;
  /** 1 = all. */
  readonly topP: number;
  /** 0 = all. */
  readonly minP: number;
}

export const plainSampling: SamplingSettings = { temperature: 1, topK: 0, topP: 1, minP: 0 };

export interface SampledToken {
  readonly id: number;
  /**
   * Natural logarithm of its probability in the distribution that it was drawn from. At temperature 0 nothing is drawn; then of its
   * probability at temperature 1.
   */
  readonly logprob: number;
}

interface Candidate {
  readonly id: number;
  readonly weight: number;
}

/** e to this is less than half of what float64 tells apart from 1, and the likeliest token weighs 1: the sum is the same without. */
const negligible = -40;

/** Draws for one vocabulary size; holds a scratch array, so one at a time. */
export class TokenSampler {
  readonly #weights: Float64Array;

  constructor(vocabularySize: number) {
    this.#weights = new Float64Array(vocabularySize);
  }

  /** `logits`: one number for each token of the vocabulary. `random`: uniform in [0, 1), called once unless nothing is drawn. */
  sample(logits: Float32Array, settings: SamplingSettings, random: () => number): SampledToken {
    const { temperature, topK, topP, minP } = settings;
    const best = indexOfLargest(logits);
    const greedy = temperature === 0;
    const total = this.#weigh(logits, at(logits, best), greedy ? 1 : temperature);
    if (greedy) return { id: best, logprob: -Math.log(total) };
    if (topK === 0 && topP >= 1 && minP === 0) return this.#drawFromAll(total, random());
    return draw(this.#candidates(total, { topK, topP, minP }), random());
  }

  /** Weights e^((z − largest)/T); gives their sum. */
  #weigh(logits: Float32Array, largest: number, temperature: number): number {
    const weights = this.#weights;
    const factor = 1 / temperature;
    let total = 0;
    for (let id = 0; id < weights.length; id += 1) {
      const exponent = (at(logits, id) - largest) * factor;
      const weight = exponent < negligible ? 0 : Math.exp(exponent);
      weights[id] = weight;
      total += weight;
    }
    return total;
  }

  #drawFromAll(total: number, share: number): SampledToken {
    const weights = this.#weights;
    let left = share * total;
    let chosen = 0;
    for (let id = 0; id < weights.length; id += 1) {
      const weight = at(weights, id);
      if (weight === 0) continue;
      chosen = id;
      left -= weight;
      if (left < 0) break;
    }
    return { id: chosen, logprob: Math.log(at(weights, chosen) / total) };
  }

  /** What the settings leave, likeliest first, the lower id first among equals. */
  #candidates(total: number, { topK, topP, minP }: Omit<SamplingSettings, "temperature">): readonly Candidate[] {
    // Tokens below this weight cannot be needed to reach topP, even all together. The likeliest token weighs 1.
    const least = topP < 1 ? (total * (1 - topP)) / this.#weights.length : minP;
    let candidates = topK > 0 ? this.#largest(topK) : this.#atLeast(least);
    if (topP < 1) {
      const sum = topK > 0 ? candidates.reduce((all, { weight }) => all + weight, 0) : total;
      let reached = 0;
      const enough = candidates.findIndex(({ weight }) => {
        reached += weight;
        return reached >= topP * sum;
      });
      if (enough >= 0) candidates = candidates.slice(0, enough + 1);
    }
    return candidates.filter(({ weight }) => weight >= minP);
  }

  #atLeast(least: number): Candidate[] {
    const candidates: Candidate[] = [];
    this.#weights.forEach((weight, id) => {
      if (weight >= least && weight > 0) candidates.push({ id, weight });
    });
    return candidates.sort(likeliestFirst);
  }

  /** The `count` likeliest, kept sorted while the vocabulary goes by: most tokens are below the last of them. */
  #largest(count: number): Candidate[] {
    const kept: Candidate[] = [];
    this.#weights.forEach((weight, id) => {
      const last = kept.at(-1);
      if (weight === 0 || (kept.length === count && last !== undefined && weight <= last.weight)) return;
      let place = kept.length;
      while (place > 0 && (kept[place - 1]?.weight ?? 0) < weight) place -= 1;
      kept.splice(place, 0, { id, weight });
      if (kept.length > count) kept.pop();
    });
    return kept;
  }
}

function likeliestFirst(left: Candidate, right: Candidate): number {
  return right.weight - left.weight || left.id - right.id;
}

function draw(candidates: readonly Candidate[], share: number): SampledToken {
  const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
  let left = share * total;
  let chosen = candidates[0];
  for (const candidate of candidates) {
    chosen = candidate;
    left -= candidate.weight;
    if (left < 0) break;
  }
  if (chosen === undefined) throw new RangeError("no token is left to sample from");
  return { id: chosen.id, logprob: Math.log(chosen.weight / total) };
}

function indexOfLargest(logits: Float32Array): number {
  let best = 0;
  for (let id = 1; id < logits.length; id += 1) if (at(logits, id) > at(logits, best)) best = id;
  return best;
}
