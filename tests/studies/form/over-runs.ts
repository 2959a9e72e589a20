/** What a setting does to training in general: training runs are the units, for each wanders its own way. */

/** Two-sided 95 % quantiles of Student's t for 1, 2, … degrees of freedom. */
const quantiles = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262] as const;

/** Mean of one value a run with its 95 % interval by Student's t; ends are null with fewer than two runs. Ten runs at most. */
export function meanOverRuns(values: readonly number[]): { mean: number | null; low: number | null; high: number | null } {
  const n = values.length;
  if (n === 0) return { mean: null, low: null, high: null };
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { mean, low: null, high: null };
  const quantile = quantiles[n - 2];
  if (quantile === undefined) throw new RangeError(`an interval over ${n} runs is not tabled`);
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  const half = quantile * Math.sqrt(variance / n);
  return { mean, low: mean - half, high: mean + half };
}
