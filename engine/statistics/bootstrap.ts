/** Percentile intervals by resampling. */

const resamples = 2000;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The middle 95 % of `resamples` drawn values. */
export function percentileInterval(draw: () => number): Interval {
  const drawn = Array.from({ length: resamples }, draw).toSorted((left, right) => left - right);
  return { low: quantile(drawn, 0.025), high: quantile(drawn, 0.975) };
}

/** Interval of the mean of `values`, which are drawn with replacement. At least one value. */
export function intervalOfMean(values: readonly number[], random: () => number): Interval {
  return percentileInterval(() => {
    let sum = 0;
    for (let drawn = 0; drawn < values.length; drawn++) sum += values[Math.floor(random() * values.length)] ?? 0;
    return sum / values.length;
  });
}

/** Linear between the neighbours; `sorted` ascending, not empty. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? below;
  return below + (above - below) * (at - Math.floor(at));
}
