import { type ClusteredValue, type MeanInterval, meanWithInterval } from "../statistics/index.ts";
import { type BehaviourMeasureName, type BehaviourMeasures, behaviourMeasureNames } from "./contract.ts";

/** Measures of one rollout with the task it was at: rollouts of one task are not independent. */
export interface MeasuredRollout {
  readonly task: string;
  readonly measures: BehaviourMeasures;
}

export interface BehaviourSummary {
  readonly rollouts: number;
  /** Mean and 95 % interval over the rollouts that a measure says something about; `n` is their number. */
  readonly measures: Readonly<Record<BehaviourMeasureName, MeanInterval>>;
  /** Most used first; `share` of all tool calls. */
  readonly tools: readonly { readonly tool: string; readonly calls: number; readonly share: number }[];
}

/** What the rollouts of one harness and policy have in common. */
export function summariseBehaviour(rollouts: readonly MeasuredRollout[], seed = 1): BehaviourSummary {
  const entries = behaviourMeasureNames.map((name) => [name, meanWithInterval(valuesOf(rollouts, name), seed)] as const);
  return {
    rollouts: rollouts.length,
    // Every name is among the entries.
    measures: Object.fromEntries(entries) as Record<BehaviourMeasureName, MeanInterval>,
    tools: toolDistribution(rollouts),
  };
}

/** Values of one measure by task, without the rollouts it says nothing about: what comparisons take. */
export function valuesOf(rollouts: readonly MeasuredRollout[], name: BehaviourMeasureName): readonly ClusteredValue[] {
  return rollouts.flatMap(({ task, measures }) => {
    const value = measures[name];
    return value === null ? [] : [{ cluster: task, value }];
  });
}

function toolDistribution(rollouts: readonly MeasuredRollout[]): BehaviourSummary["tools"] {
  const counts = new Map<string, number>();
  for (const { measures } of rollouts) for (const [tool, calls] of Object.entries(measures.tools)) counts.set(tool, (counts.get(tool) ?? 0) + calls);
  const total = [...counts.values()].reduce((sum, calls) => sum + calls, 0);
  return [...counts].map(([tool, calls]) => ({ tool, calls, share: calls / total })).toSorted((left, right) => right.calls - left.calls);
}
