/** Mean reward by harness and policy. A missing reward is missing, and what our side broke is counted apart: neither is a 0. */
import { isPolicysDoing } from "../../engine/outcome/index.ts";
import { type ClusteredValue, meanWithInterval } from "../../engine/statistics/index.ts";
import type { SummaryRow } from "../api/experiment-views.ts";
import type { RolloutRecord } from "../store/index.ts";

export function summarise(rollouts: readonly RolloutRecord[]): readonly SummaryRow[] {
  const rows = new Map<string, RolloutRecord[]>();
  for (const rollout of rollouts) {
    const key = JSON.stringify([rollout.harness, rollout.policy]);
    rows.set(key, [...(rows.get(key) ?? []), rollout]);
  }
  return [...rows.values()].map(summaryRow);
}

/** The rewards that say something about the policy, by task. */
export function fairRewards(rollouts: readonly Pick<RolloutRecord, "outcome" | "reward" | "taskName">[]): readonly ClusteredValue[] {
  return rollouts.flatMap(({ outcome, reward, taskName }) =>
    outcome !== null && reward !== null && isPolicysDoing(outcome) ? [{ cluster: taskName, value: reward }] : [],
  );
}

function summaryRow(rollouts: readonly RolloutRecord[]): SummaryRow {
  const failures = rollouts.filter(({ outcome }) => outcome !== null && outcome.status !== "cancelled" && !isPolicysDoing(outcome));
  const { harness = "", policy = "" } = rollouts[0] ?? {};
  return { harness, policy, ...meanWithInterval(fairRewards(rollouts)), infrastructureFailures: failures.length };
}
