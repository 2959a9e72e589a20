/** Harness by task: a mean, its interval and what it rests on in every cell. Refuses to rank on too little. Pure. */
import { comparePaired, meanOverTasks, meanWithInterval } from "../../engine/statistics/index.ts";
import type { CompareCell, CompareColumn, CompareGrid, Estimate } from "../api/analysis-views.ts";
import { type ComparableRollout, rewardsByTask } from "./comparable.ts";
import { groupedBy } from "./grouping.ts";

/** Fewer tasks than this say nothing about other tasks. */
export const fewestTasks = 5;

export function compareGrid(rollouts: readonly ComparableRollout[]): CompareGrid {
  const byColumn = groupedBy(rollouts, ({ column }) => column.key);
  const columns = [...byColumn.values()].flatMap((group) => columnOf(group) ?? []);
  const cells = [...byColumn.values()].flatMap((group) =>
    [...groupedBy(group, ({ task }) => task).values()].flatMap((ofTask) => cellOf(ofTask) ?? []),
  );
  return { columns, tasks: [...new Set(rollouts.map(({ task }) => task))].sort(), cells, order: orderOf(columns, byColumn) };
}

/** null for no rollouts. */
export function columnOf(rollouts: readonly ComparableRollout[]): CompareColumn | null {
  const [first] = rollouts;
  if (first === undefined) return null;
  const { tasks, ...success } = meanOverTasks(rewardsByTask(rollouts));
  return { ...first.column, tasks, success, ...countsOf(rollouts), behaviour: behaviourOf(rollouts) };
}

function cellOf(rollouts: readonly ComparableRollout[]): CompareCell | null {
  const [first] = rollouts;
  if (first === undefined) return null;
  return { task: first.task, column: first.column.key, ...meanWithInterval(rewardsByTask(rollouts)), ...countsOf(rollouts) };
}

const countsOf = (rollouts: readonly ComparableRollout[]) => ({
  infrastructure: rollouts.filter(({ infrastructure }) => infrastructure).length,
  unended: rollouts.filter(({ ended }) => !ended).length,
});

/** Over the rollouts in which the policy had a fair try; a measure that says nothing about any of them is left out. */
function behaviourOf(rollouts: readonly ComparableRollout[]): Record<string, Estimate> {
  const fair = rollouts.filter(({ ended, infrastructure }) => ended && !infrastructure);
  const names = new Set(fair.flatMap(({ behaviour }) => Object.keys(behaviour)));
  const estimates = [...names].map((name): [string, Estimate] => {
    const values = fair.flatMap(({ task, behaviour }) => (typeof behaviour[name] === "number" ? [{ cluster: task, value: behaviour[name] }] : []));
    return [name, meanWithInterval(values)];
  });
  return Object.fromEntries(estimates.filter(([, { n }]) => n > 0));
}

/** Neighbours in the order of their means are compared on the tasks they share; where the interval holds 0 there is no order. */
function orderOf(columns: readonly CompareColumn[], byColumn: ReadonlyMap<string, readonly ComparableRollout[]>): string {
  const ranked = columns.filter(({ tasks }) => tasks >= fewestTasks).toSorted((left, right) => (right.success.mean ?? 0) - (left.success.mean ?? 0));
  if (ranked.length < 2) return columns.length < 2 ? "" : `No order: fewer than two columns have rewards on ${fewestTasks} tasks.`;
  const names = namesOf(ranked);
  const groups: string[][] = [];
  for (const [index, column] of ranked.entries()) {
    const before = ranked[index - 1];
    const ahead = before !== undefined && isAhead(byColumn.get(before.key) ?? [], byColumn.get(column.key) ?? []);
    const name = names[index] ?? column.harness;
    if (index === 0 || ahead) groups.push([name]);
    else groups.at(-1)?.push(name);
  }
  const words = groups.map((group) =>
    group.length === 1 ? group.join("") : `no order between ${group.slice(0, -1).join(", ")} and ${group.at(-1)}`,
  );
  const unranked = columns.length - ranked.length;
  return `Ranks: ${words.join(", then ")}.${unranked === 0 ? "" : ` ${unranked} with fewer than ${fewestTasks} tasks ${unranked === 1 ? "has" : "have"} no rank.`}`;
}

function isAhead(ahead: readonly ComparableRollout[], behind: readonly ComparableRollout[]): boolean {
  const { gain, differences } = comparePaired(rewardsByTask(behind), rewardsByTask(ahead));
  return differences.length >= fewestTasks && gain.low !== null && gain.low > 0;
}

/** The shortest name that tells the columns apart. */
function namesOf(columns: readonly CompareColumn[]): readonly string[] {
  const forms = [
    (column: CompareColumn) => column.harness,
    (column: CompareColumn) => `${column.harness} ${column.harnessVersion}`,
    (column: CompareColumn) => `${column.harness} ${column.step === null ? column.policy : `step ${column.step}`}`,
    (column: CompareColumn) => `${column.harness} in ${column.experimentName}`,
    (column: CompareColumn) => `${column.harness} ${column.harnessVersion}, ${column.policy}, ${column.experimentName}`,
  ];
  const distinct = forms.map((form) => columns.map(form)).find((names) => new Set(names).size === names.length);
  return distinct ?? columns.map((column) => column.key);
}
