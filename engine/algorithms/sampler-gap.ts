/** How far sampler and trainer are apart: what the health tiles show. Rows without a trained token take no part. */
import { at, clamp, type Matrix, maskedMean, maskedSum, maskTotal, rowLengths, rowSums } from "./matrix.ts";

export interface SamplerGap {
  /** mean(−x) and mean(e^x − x − 1), x = trainer − sampler. */
  readonly k1: number;
  readonly k3: number;
  readonly trainerPerplexity: number;
  readonly samplerPerplexity: number;
  readonly trainerLogPerplexity: number;
  readonly samplerLogPerplexity: number;
  readonly logPerplexityDifference: number;
  readonly logPerplexityDistance: number;
  readonly logPerplexityDifferenceMax: number;
  readonly logPerplexityDifferenceMin: number;
  readonly perplexityRatio: number;
  readonly chiSquareToken: number;
  readonly chiSquareSequence: number;
}

const exponentLimit = 20;

export function samplerGap(old: Matrix, sampler: Matrix, mask: Matrix): SamplerGap {
  const x = (index: number): number => at(old.values, index) - at(sampler.values, index);
  const lengths = rowLengths(mask);
  const rows = [...lengths.keys()].filter((row) => at(lengths, row) > 0);
  const means = (source: Matrix): Float64Array =>
    rowSums(mask, (index) => at(source.values, index)).map((sum, row) => sum / (at(lengths, row) + 1e-8));
  const trainer = means(old);
  const other = means(sampler);
  const totals = rowSums(mask, x);
  const overRows = (value: (row: number) => number): number => rows.reduce((sum, row) => sum + value(row), 0) / rows.length;
  const gap = (row: number): number => at(other, row) - at(trainer, row);
  return {
    k1: maskedMean(mask, (index) => -x(index)),
    k3: maskedMean(mask, (index) => Math.exp(x(index)) - x(index) - 1),
    trainerPerplexity: overRows((row) => Math.exp(-at(trainer, row))),
    samplerPerplexity: overRows((row) => Math.exp(-at(other, row))),
    trainerLogPerplexity: overRows((row) => -at(trainer, row)),
    samplerLogPerplexity: overRows((row) => -at(other, row)),
    logPerplexityDifference: overRows(gap),
    logPerplexityDistance: overRows((row) => Math.abs(gap(row))),
    logPerplexityDifferenceMax: Math.max(...rows.map(gap)),
    logPerplexityDifferenceMin: Math.min(...rows.map(gap)),
    perplexityRatio: overRows((row) => Math.exp(gap(row))),
    chiSquareToken: maskedMean(mask, (index) => Math.exp(2 * clamp(x(index), -exponentLimit, exponentLimit))) - 1,
    chiSquareSequence: overRows((row) => Math.exp(2 * clamp(at(totals, row), -exponentLimit, exponentLimit))) - 1,
  };
}

export interface ProbabilityMismatch {
  readonly max: number;
  readonly mean: number;
  /** n − 1 in the denominator. */
  readonly deviation: number;
  /** Pearson correlation of the two probabilities; healthy ≥ 0.99. */
  readonly correlation: number;
}

export function probabilityMismatch(old: Matrix, sampler: Matrix, mask: Matrix): ProbabilityMismatch {
  const n = maskTotal(mask);
  const p = (index: number): number => Math.exp(at(old.values, index));
  const q = (index: number): number => Math.exp(at(sampler.values, index));
  const distance = (index: number): number => Math.abs(p(index) - q(index));
  const mean = (value: (index: number) => number): number => maskedSum(mask, value) / n;
  const meanDistance = mean(distance);
  let max = 0;
  maskedSum(mask, (index) => {
    max = Math.max(max, distance(index));
    return 0;
  });
  const meanP = mean(p);
  const meanQ = mean(q);
  const covariance = maskedSum(mask, (index) => (p(index) - meanP) * (q(index) - meanQ));
  const spread = Math.sqrt(maskedSum(mask, (index) => (p(index) - meanP) ** 2) * maskedSum(mask, (index) => (q(index) - meanQ) ** 2));
  return {
    max,
    mean: meanDistance,
    deviation: Math.sqrt(maskedSum(mask, (index) => (distance(index) - meanDistance) ** 2) / (n - 1)),
    correlation: covariance / spread,
  };
}
