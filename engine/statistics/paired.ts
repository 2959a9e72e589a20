/** Before and after on the same tasks: each task is compared with itself, so that hard and easy tasks cancel out. */
import { intervalOfMean } from "./bootstrap.ts";
import type { ClusteredValue } from "./interval.ts";
import { meanOverTasks, meansOfTasks, type TaskMean } from "./over-tasks.ts";
import { seededRandom } from "./random.ts";

export interface TaskDifference {
  readonly task: string;
  readonly before: number;
  readonly after: number;
}

export interface PairedComparison {
  /** Over the tasks in both, each weighing the same; `n` counts rollouts. */
  readonly before: TaskMean;
  readonly after: TaskMean;
  /** Mean over tasks of after − before with its 95 % interval by resampling tasks; ends are null with fewer than two tasks. */
  readonly gain: { readonly mean: number | null; readonly low: number | null; readonly high: number | null; readonly paired: true };
  /** Tasks by the sign of their difference. */
  readonly signs: { readonly better: number; readonly worse: number; readonly equal: number };
  /** Two-sided sign test: how likely signs as uneven as these are if neither side were better. 1 when no task differs. */
  readonly signTest: number;
  readonly differences: readonly TaskDifference[];
  /** Tasks that only one side has a value for. */
  readonly leftOut: number;
}

/**
 * Values of one task on both sides (any number a task) become one difference. Missing rewards are left out by the caller: they are
 * no values. Where every task differs by the same amount the interval has no width: there is no spread to see.
 */
export function comparePaired(before: readonly ClusteredValue[], after: readonly ClusteredValue[], seed = 1): PairedComparison {
  const means = { before: meansOfTasks(before), after: meansOfTasks(after) };
  const differences: TaskDifference[] = [];
  for (const [task, was] of means.before) {
    const is = means.after.get(task);
    if (is !== undefined) differences.push({ task, before: was, after: is });
  }
  const shared = new Set(differences.map(({ task }) => task));
  const ofShared = (values: readonly ClusteredValue[]) => values.filter(({ cluster }) => shared.has(cluster));
  const gains = differences.map((task) => task.after - task.before);
  // Means of equal rewards can differ in their last digit.
  const better = gains.filter((gain) => gain > 1e-12).length;
  const worse = gains.filter((gain) => gain < -1e-12).length;
  return {
    before: meanOverTasks(ofShared(before), seed),
    after: meanOverTasks(ofShared(after), seed),
    gain: { ...gainOf(gains, seed), paired: true },
    signs: { better, worse, equal: gains.length - better - worse },
    signTest: signTest(better, worse),
    differences,
    leftOut: means.before.size + means.after.size - 2 * shared.size,
  };
}

function gainOf(gains: readonly number[], seed: number): { mean: number | null; low: number | null; high: number | null } {
  if (gains.length === 0) return { mean: null, low: null, high: null };
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  return gains.length === 1 ? { mean, low: null, high: null } : { mean, ...intervalOfMean(gains, seededRandom(seed)) };
}

/** Exact, from the binomial with ½; in logarithms, since there may be thousands of tasks. */
function signTest(better: number, worse: number): number {
  const n = better + worse;
  const most = Math.max(better, worse);
  let logChoose = 0;
  let tail = 0;
  for (let k = n; k >= most && k > 0; k--) {
    tail += Math.exp(logChoose - n * Math.LN2);
    logChoose += Math.log(k) - Math.log(n - k + 1);
  }
  return n === 0 ? 1 : Math.min(1, 2 * tail);
}
