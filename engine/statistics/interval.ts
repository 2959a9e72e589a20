/**
 * A mean and how sure it is. The question is always "and on other tasks of this kind?", so rollouts of one task are not counted as
 * independent: with several rollouts a task the interval comes from resampling whole tasks. A missing reward is not a value here.
 */
import { type Interval, percentileInterval } from "./bootstrap.ts";
import { seededRandom } from "./random.ts";

/** One measured value; values of one cluster (task) are related. */
export interface ClusteredValue {
  readonly cluster: string;
  readonly value: number;
}

export interface MeanInterval {
  /** Values. */
  readonly n: number;
  readonly mean: number | null;
  /** Ends of the 95 % interval; null without a value. */
  readonly low: number | null;
  readonly high: number | null;
}

const z95 = 1.959963984540054;

/** Wilson's interval of a share: `share` of `n` independent trials. Sound for few trials and for shares of 0 and 1. */
export function wilsonInterval(share: number, n: number): Interval {
  const z2 = z95 * z95;
  const centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (z95 / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/** Percentile interval of the mean over resamples of whole clusters. Two clusters at least. */
export function bootstrapInterval(values: readonly ClusteredValue[], random: () => number): Interval {
  const clusters = [...sumsByCluster(values).values()];
  return percentileInterval(() => {
    let sum = 0;
    let count = 0;
    for (let drawn = 0; drawn < clusters.length; drawn++) {
      const cluster = clusters[Math.floor(random() * clusters.length)];
      sum += cluster?.sum ?? 0;
      count += cluster?.count ?? 0;
    }
    return sum / count;
  });
}

/**
 * Mean and 95 % interval. Rewards of 0 and 1 with one rollout a task, or of one task only: Wilson. Else resampling of tasks (of
 * rollouts where there is one task). Where all resamples agree they say nothing about spread: Wilson over the tasks, if the values
 * are shares, so that six of six is not "certainly all".
 */
export function meanWithInterval(values: readonly ClusteredValue[], seed = 1): MeanInterval {
  const n = values.length;
  if (n === 0) return { n, mean: null, low: null, high: null };
  const mean = values.reduce((sum, { value }) => sum + value, 0) / n;
  const clusters = sumsByCluster(values).size;
  const independent = clusters === n || clusters === 1;
  if (independent && values.every(({ value }) => value === 0 || value === 1)) return { n, mean, ...wilsonInterval(mean, n) };

  const units = clusters === 1 ? values.map(({ value }, index) => ({ cluster: String(index), value })) : values;
  const drawn = bootstrapInterval(units, seededRandom(seed));
  const isShare = values.every(({ value }) => value >= 0 && value <= 1);
  if (drawn.low === drawn.high && isShare) return { n, mean, ...wilsonInterval(mean, clusters === 1 ? n : clusters) };
  return { n, mean, ...drawn };
}

function sumsByCluster(values: readonly ClusteredValue[]): Map<string, { sum: number; count: number }> {
  const sums = new Map<string, { sum: number; count: number }>();
  for (const { cluster, value } of values) {
    const known = sums.get(cluster) ?? { sum: 0, count: 0 };
    sums.set(cluster, { sum: known.sum + value, count: known.count + 1 });
  }
  return sums;
}
