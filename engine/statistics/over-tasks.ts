/** Estimates a task first, then the mean over tasks, so that a task with many rollouts weighs no more than one with few. */
import { passAtK, passHatK } from "../algorithms/index.ts";
import { intervalOfMean } from "./bootstrap.ts";
import { type ClusteredValue, type MeanInterval, wilsonInterval } from "./interval.ts";
import { seededRandom } from "./random.ts";

export interface TaskMean extends MeanInterval {
  readonly tasks: number;
}

/**
 * Mean over tasks of the task's mean. The interval comes from resampling tasks; of one task there is none. Where all tasks agree and
 * the values are shares, resampling says nothing about spread: Wilson over the tasks.
 */
export function meanOverTasks(values: readonly ClusteredValue[], seed = 1): TaskMean {
  return { n: values.length, ...spread([...meansOfTasks(values).values()], seed) };
}

/** What one task gave: `n` rollouts, of which `successes` succeeded. */
export interface TaskResult {
  readonly task: string;
  readonly n: number;
  readonly successes: number;
}

export interface PassEstimate extends TaskMean {
  readonly k: number;
  /** Tasks with fewer than k rollouts: they say nothing about k and are not in the mean. */
  readonly leftOut: number;
}

/** `any`: at least one of k succeeds (pass@k). `all`: every one of k does (pass^k). */
export type PassKind = "any" | "all";

/** pass@k or pass^k of each task, then the mean over tasks. `n` counts rollouts. Throws RangeError when k is no whole number ≥ 1. */
export function passOverTasks(results: readonly TaskResult[], k: number, kind: PassKind, seed = 1): PassEstimate {
  if (!Number.isInteger(k) || k < 1) throw new RangeError(`pass@k wants a whole number k ≥ 1, not ${k}`);
  const estimate = kind === "any" ? passAtK : passHatK;
  const usable = results.filter(({ n }) => n >= k);
  const perTask = usable.map(({ n, successes }) => estimate(n, successes, k));
  return { k, leftOut: results.length - usable.length, n: usable.reduce((sum, { n }) => sum + n, 0), ...spread(perTask, seed) };
}

/** Successes by task, in order of first appearance; `value` 1 is a success, anything below none. */
export function taskResults(values: readonly ClusteredValue[]): readonly TaskResult[] {
  const results = new Map<string, TaskResult>();
  for (const { cluster, value } of values) {
    const known = results.get(cluster) ?? { task: cluster, n: 0, successes: 0 };
    results.set(cluster, { ...known, n: known.n + 1, successes: known.successes + (value >= 1 ? 1 : 0) });
  }
  return [...results.values()];
}

export function meansOfTasks(values: readonly ClusteredValue[]): ReadonlyMap<string, number> {
  const sums = new Map<string, { sum: number; n: number }>();
  for (const { cluster, value } of values) {
    const known = sums.get(cluster) ?? { sum: 0, n: 0 };
    sums.set(cluster, { sum: known.sum + value, n: known.n + 1 });
  }
  return new Map([...sums].map(([task, { sum, n }]) => [task, sum / n]));
}

function spread(perTask: readonly number[], seed: number): Omit<TaskMean, "n"> {
  const tasks = perTask.length;
  if (tasks === 0) return { tasks, mean: null, low: null, high: null };
  const mean = perTask.reduce((sum, value) => sum + value, 0) / tasks;
  if (tasks === 1) return { tasks, mean, low: null, high: null };
  const interval = intervalOfMean(perTask, seededRandom(seed));
  const areShares = perTask.every((value) => value >= 0 && value <= 1);
  return { tasks, mean, ...(interval.low === interval.high && areShares ? wilsonInterval(mean, tasks) : interval) };
}
