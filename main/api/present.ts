/** Records of the store as views. Pure: values in, values out. */

import { meanWithInterval } from "../../engine/statistics/index.ts";
import { fairRewards } from "../rollouts/index.ts";
import type { EventRecord, ExperimentRecord, RolloutRecord } from "../store/index.ts";
import type { EventView, ExperimentView, RolloutView } from "./views.ts";

/** `now` in Unix milliseconds: what a rollout that still runs has taken so far. */
export function rolloutView(record: RolloutRecord, now: number): RolloutView {
  return {
    id: record.id,
    experiment: record.experimentId,
    task: record.taskName,
    taskPath: record.taskPath,
    taskDigest: record.taskDigest,
    harness: record.harness,
    harnessVersion: record.harnessVersion,
    policy: record.policy,
    policyVersion: record.policyVersion,
    sandbox: record.sandbox,
    groupIndex: record.groupIndex,
    seed: record.seed,
    phase: record.phase,
    status: record.outcome?.status ?? null,
    cause: record.outcome?.cause ?? null,
    action: record.outcome?.action ?? null,
    detail: record.outcome?.detail ?? null,
    reward: record.reward,
    rewards: record.rewards === null ? null : { ...record.rewards },
    attempts: record.attempts,
    phases: record.phases.map((phase) => ({ ...phase })),
    isolation: record.isolation,
    fingerprint: record.fingerprint === null ? null : { ...record.fingerprint },
    calls: record.calls,
    chains: record.chains,
    trainable: record.trainable,
    trainableReason: record.trainableReason,
    promptTokens: record.promptTokens,
    completionTokens: record.completionTokens,
    seconds: record.startedAt === null ? null : ((record.endedAt ?? now) - record.startedAt) / 1000,
    policyWaitSeconds: record.policyWaitSeconds,
    labels: { ...record.labels },
    createdAt: record.createdAt,
  };
}

export function experimentView(record: ExperimentRecord, rollouts: readonly RolloutRecord[]): ExperimentView {
  const outcomes: Record<string, number> = {};
  for (const rollout of rollouts) {
    const name = rollout.outcome?.status ?? (rollout.phase === "queued" ? "queued" : "running");
    outcomes[name] = (outcomes[name] ?? 0) + 1;
  }
  const sum = (value: (rollout: RolloutRecord) => number): number => rollouts.reduce((total, rollout) => total + value(rollout), 0);
  return {
    id: record.id,
    name: record.name,
    createdAt: record.createdAt,
    endedAt: record.endedAt,
    status: record.status,
    spec: record.spec,
    total: rollouts.length,
    ended: rollouts.filter((rollout) => rollout.phase === "ended").length,
    outcomes,
    calls: sum((rollout) => rollout.calls),
    chains: sum((rollout) => rollout.chains),
    tokens: sum((rollout) => rollout.promptTokens + rollout.completionTokens),
    harnesses: [...new Set(rollouts.map((rollout) => rollout.harness))],
    policies: [...new Set(rollouts.map((rollout) => rollout.policy))],
    reward: meanWithInterval(fairRewards(rollouts)),
  };
}

export function eventView(record: EventRecord): EventView {
  return {
    sequence: record.sequence,
    at: record.at,
    experiment: record.experimentId,
    rollout: record.rolloutId,
    type: record.type,
    payload: record.payload,
  };
}
