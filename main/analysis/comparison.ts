/** Two columns on the same tasks: paired by task for the difference, by number for the lists of rollouts. Pure. */
import { comparePaired, meanWithInterval } from "../../engine/statistics/index.ts";
import type { CompareColumn, Comparison, Estimate, RolloutPair } from "../api/analysis-views.ts";
import { type ComparableRollout, rewardsByTask } from "./comparable.ts";
import { fewestTasks } from "./grid.ts";

interface Side {
  readonly column: CompareColumn;
  readonly rollouts: readonly ComparableRollout[];
}

export function compareColumns(a: Side, b: Side): Comparison {
  const paired = comparePaired(rewardsByTask(a.rollouts), rewardsByTask(b.rollouts));
  const shared = paired.differences.map(({ task }) => task);
  const known = new Set(shared);
  const pairs = pairsOf(a.rollouts, b.rollouts);
  const { mean, low, high } = paired.gain;
  return {
    a: a.column,
    b: b.column,
    before: withoutTasks(paired.before),
    after: withoutTasks(paired.after),
    gain: { mean, low, high, tasks: shared.length, ...paired.signs },
    ...verdictOf(paired.gain, shared.length),
    tasks: shared.map((task) => taskLine(task, a.rollouts, b.rollouts, pairs)),
    pairs,
    leftOut: [...new Set([...rewardsByTask(a.rollouts), ...rewardsByTask(b.rollouts)].map(({ cluster }) => cluster))].filter(
      (task) => !known.has(task),
    ),
  };
}

const withoutTasks = ({ n, mean, low, high }: Estimate): Estimate => ({ n, mean, low, high });

function verdictOf(gain: { low: number | null; high: number | null }, tasks: number): Pick<Comparison, "verdict" | "reason"> {
  if (tasks < fewestTasks || gain.low === null || gain.high === null)
    return {
      verdict: "too-few",
      reason: `Both sides have rewards on ${tasks} ${tasks === 1 ? "task" : "tasks"}; ${fewestTasks} are needed to rank them.`,
    };
  if (gain.low > 0) return { verdict: "better", reason: "The 95 % interval of the difference lies above 0." };
  if (gain.high < 0) return { verdict: "worse", reason: "The 95 % interval of the difference lies below 0." };
  return { verdict: "unclear", reason: "The 95 % interval of the difference holds 0: no order is shown." };
}

function taskLine(
  task: string,
  a: readonly ComparableRollout[],
  b: readonly ComparableRollout[],
  pairs: readonly RolloutPair[],
): Comparison["tasks"][number] {
  const estimate = (side: readonly ComparableRollout[]): Estimate => meanWithInterval(rewardsByTask(side.filter((rollout) => rollout.task === task)));
  const [before, after] = [estimate(a), estimate(b)];
  const signs = pairs.flatMap((pair) =>
    pair.task === task && typeof pair.a?.reward === "number" && typeof pair.b?.reward === "number" ? [Math.sign(pair.b.reward - pair.a.reward)] : [],
  );
  const count = (sign: number): number => signs.filter((each) => each === sign).length;
  return { task, a: before, b: after, difference: differenceOf(before, after), less: count(-1), same: count(0), more: count(1) };
}

/**
 * Interval of a difference of two independent means from the intervals of each (MOVER; of two shares with Wilson's intervals it is
 * Newcombe's). Source: Zou and Donner 2008, Statistics in Medicine 27.
 */
export function differenceOf(a: Estimate, b: Estimate): Comparison["tasks"][number]["difference"] {
  if (a.mean === null || b.mean === null) return { mean: null, low: null, high: null };
  const mean = b.mean - a.mean;
  if (a.low === null || a.high === null || b.low === null || b.high === null) return { mean, low: null, high: null };
  return { mean, low: mean - Math.hypot(b.mean - b.low, a.high - a.mean), high: mean + Math.hypot(b.high - b.mean, a.mean - a.low) };
}

function pairsOf(a: readonly ComparableRollout[], b: readonly ComparableRollout[]): RolloutPair[] {
  const place = ({ task, index }: ComparableRollout): string => `${index}/${task}`;
  const others = new Map(b.map((rollout) => [place(rollout), rollout]));
  const first = a.map((rollout): RolloutPair => {
    const other = others.get(place(rollout)) ?? null;
    others.delete(place(rollout));
    return { task: rollout.task, kind: kindOf(rollout, other), a: shown(rollout), b: other === null ? null : shown(other) };
  });
  const alone = [...others.values()].map((rollout): RolloutPair => ({ task: rollout.task, kind: "not-comparable", a: null, b: shown(rollout) }));
  return [...first, ...alone];
}

function kindOf(a: ComparableRollout, b: ComparableRollout | null): RolloutPair["kind"] {
  if (b === null || a.reward === null || b.reward === null) return "not-comparable";
  const [first, second] = [a.status === "succeeded", b.status === "succeeded"];
  if (first) return second ? "both" : "only-a";
  return second ? "only-b" : "neither";
}

const shown = ({ id, reward, status, calls, promptTokens, completionTokens }: ComparableRollout) => ({
  id,
  reward,
  status,
  calls,
  tokens: promptTokens + completionTokens,
});
