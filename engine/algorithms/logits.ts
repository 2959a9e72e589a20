/** Log-probabilities and entropy from logits, with derivatives; [rows·width, vocabulary] row-major. Natural logarithm. */
import { at } from "./matrix.ts";

export interface TokenDistribution {
  readonly logprobs: Float64Array;
  /** Nats. */
  readonly entropy: number;
}

/** Log-softmax and entropy (logsumexp z − Σ softmax(z)·z) of one position's logits. */
export function distributionOf(logits: ArrayLike<number>, start: number, vocabulary: number): TokenDistribution {
  let max = Number.NEGATIVE_INFINITY;
  for (let token = 0; token < vocabulary; token += 1) max = Math.max(max, at(logits, start + token));
  let sum = 0;
  for (let token = 0; token < vocabulary; token += 1) sum += Math.exp(at(logits, start + token) - max);
  const normaliser = max + Math.log(sum);
  const logprobs = new Float64Array(vocabulary);
  let expected = 0;
  for (let token = 0; token < vocabulary; token += 1) {
    const z = at(logits, start + token);
    logprobs[token] = z - normaliser;
    const probability = Math.exp(z - normaliser);
    if (probability > 0) expected += probability * z;
  }
  return { logprobs, entropy: normaliser - expected };
}

/** Adds weight·∂lp(label)/∂z + entropyWeight·∂H/∂z of one position to `gradient`. */
export function addLogitGradient(
  gradient: Float64Array,
  start: number,
  distribution: TokenDistribution,
  label: number,
  weight: number,
  entropyWeight: number,
): void {
  distribution.logprobs.forEach((logprob, token) => {
    const probability = Math.exp(logprob);
    const byLogprob = (token === label ? 1 : 0) - probability;
    const byEntropy = probability === 0 ? 0 : -probability * (logprob + distribution.entropy);
    gradient[start + token] = at(gradient, start + token) + weight * byLogprob + entropyWeight * byEntropy;
  });
}
