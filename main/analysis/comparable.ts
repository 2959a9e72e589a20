/** Rollouts as comparisons see them: only what is compared, one column key each. Pure. */
import { type BehaviourMeasures, behaviourMeasureNames } from "../../engine/behaviour/index.ts";
import { isPolicysDoing } from "../../engine/outcome/index.ts";
import type { ClusteredValue } from "../../engine/statistics/index.ts";
import type { CompareColumn } from "../api/analysis-views.ts";
import type { ExperimentRecord, RolloutRecord } from "../store/index.ts";

/** What all rollouts of a column have in common. */
type ColumnName = Pick<CompareColumn, "key" | "experiment" | "experimentName" | "harness" | "harnessVersion" | "policy" | "step">;

export interface ComparableRollout {
  readonly id: string;
  readonly column: ColumnName;
  readonly task: string;
  /** Number inside its group: the k-th rollout of a side is paired with the k-th of the other. */
  readonly index: number;
  /** null when there is none, or when the policy had no fair try. */
  readonly reward: number | null;
  readonly status: string;
  readonly ended: boolean;
  readonly infrastructure: boolean;
  readonly calls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** By the names of the behaviour definitions; null = says nothing about this rollout. */
  readonly behaviour: Readonly<Record<string, number | null>>;
}

/**
 * The rollouts of an experiment. Of a training run only its evaluations are compared: what it was trained on says nothing about how
 * good it is. Rollouts that a person cancelled are left out. `measured`: by rollout; of the others only what the record itself says.
 */
export function comparableRollouts(
  experiment: ExperimentRecord,
  rollouts: readonly RolloutRecord[],
  measured: ReadonlyMap<string, BehaviourMeasures>,
): readonly ComparableRollout[] {
  return rollouts.flatMap((rollout) => {
    const step = experiment.kind === "training" ? evaluationStep(rollout) : null;
    if (rollout.outcome?.status === "cancelled" || (experiment.kind === "training" && step === null)) return [];
    const fair = rollout.outcome !== null && isPolicysDoing(rollout.outcome);
    return [
      {
        id: rollout.id,
        column: columnName(experiment, rollout, step),
        task: rollout.taskName,
        index: rollout.groupIndex,
        reward: fair ? rollout.reward : null,
        status: rollout.outcome?.status ?? rollout.phase,
        ended: rollout.outcome !== null,
        infrastructure: rollout.outcome !== null && !fair,
        calls: rollout.calls,
        promptTokens: rollout.promptTokens,
        completionTokens: rollout.completionTokens,
        behaviour: behaviourOf(rollout, measured.get(rollout.id)),
      },
    ];
  });
}

/** The experiment that a column key belongs to; null when it is no key. */
export function experimentOfKey(key: string): string | null {
  const [experiment, ...rest] = key.split("|");
  return experiment === undefined || rest.length < 4 ? null : experiment;
}

function columnName(experiment: ExperimentRecord, { harness, harnessVersion, policy }: RolloutRecord, step: number | null): ColumnName {
  // A training run publishes under a new policy name each step; its evaluations are told apart by the step.
  const named = step === null ? policy : "";
  return {
    key: [experiment.id, harness, harnessVersion, step ?? "", named].join("|"),
    experiment: experiment.id,
    experimentName: experiment.name,
    harness,
    harnessVersion,
    policy,
    step,
  };
}

function behaviourOf(rollout: RolloutRecord, measures: BehaviourMeasures | undefined): Record<string, number | null> {
  if (measures !== undefined) return Object.fromEntries(behaviourMeasureNames.map((name) => [name, measures[name]]));
  const { calls, promptTokens, completionTokens, startedAt, endedAt } = rollout;
  return { calls, promptTokens, completionTokens, seconds: startedAt === null || endedAt === null ? null : (endedAt - startedAt) / 1000 };
}

/** Training runs label what they order: rollouts of an evaluation carry its step. */
function evaluationStep({ labels }: RolloutRecord): number | null {
  return labels.purpose === "evaluation" && typeof labels.step === "number" ? labels.step : null;
}

export const rewardsByTask = (rollouts: readonly ComparableRollout[]): readonly ClusteredValue[] =>
  rollouts.flatMap(({ task, reward }) => (reward === null ? [] : [{ cluster: task, value: reward }]));
