/** The rollouts of a step by group, as the step pane lists them. Pure. */
import type { TrainingStepDetail } from "../../service/views.ts";

export type StepRollout = TrainingStepDetail["rollouts"][number];

export interface StepGroup {
  readonly key: string;
  readonly task: string;
  readonly harness: string;
  readonly rollouts: readonly StepRollout[];
  /** Share of the absolute loss; null when not known. */
  readonly lossShare: number | null;
  /** All rewards are equal, and there are several: nothing to learn from. */
  readonly flat: boolean;
}

/** By share of the loss, those without variance last. */
export function stepGroups(rollouts: readonly StepRollout[]): readonly StepGroup[] {
  const groups = new Map<string, StepRollout[]>();
  for (const rollout of rollouts) groups.set(rollout.group, [...(groups.get(rollout.group) ?? []), rollout]);
  return [...groups]
    .map(([key, members]): StepGroup => {
      const shares = members.flatMap(({ lossShare }) => (lossShare === null ? [] : [lossShare]));
      const rewards = members.flatMap(({ reward }) => (reward === null ? [] : [reward]));
      return {
        key,
        task: members[0]?.task ?? "",
        harness: members[0]?.harness ?? "",
        rollouts: members,
        lossShare: shares.length === 0 ? null : shares.reduce((sum, share) => sum + share, 0),
        flat: rewards.length > 1 && rewards.every((reward) => reward === rewards[0]),
      };
    })
    .sort((left, right) => Number(left.flat) - Number(right.flat) || (right.lossShare ?? -1) - (left.lossShare ?? -1));
}

/** Where to look first: the rollout that weighs most, else the first. */
export function weightiest(groups: readonly StepGroup[]): StepRollout | null {
  const all = groups.flatMap((group) => group.rollouts);
  return all.reduce<StepRollout | null>((best, each) => (best === null || (each.lossShare ?? -1) > (best.lossShare ?? -1) ? each : best), null);
}
