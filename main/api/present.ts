/** Records of the store as views. Pure: values in, values out. */

import { meanWithInterval } from "../../engine/statistics/index.ts";
import { fairRewards } from "../rollouts/index.ts";
import type { EventRecord, ExperimentSummary, RolloutRecord, StepRecord } from "../store/index.ts";
import type { ExperimentView } from "./experiment-views.ts";
import type { StepView } from "./grade-views.ts";
import type { RolloutView } from "./rollout-views.ts";
import type { EventView } from "./system-views.ts";

export type ExperimentFigures = Omit<ExperimentView, "id" | "name" | "createdAt" | "endedAt" | "status" | "kind" | "spec">;

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
    steps: record.steps.map(stepView),
    labels: { ...record.labels },
    createdAt: record.createdAt,
  };
}

export function stepView({ outcome, rewards, minReward, ...rest }: StepRecord): StepView {
  const { status = null, cause = null, detail = null } = outcome ?? {};
  return {
    ...rest,
    status,
    cause,
    detail,
    rewards: rewards === null ? null : { ...rewards },
    minReward: minReward === null ? null : { ...minReward },
  };
}

/** The figures of an experiment in a list; what is left, its record has. */
export function experimentFigures(summary: ExperimentSummary): ExperimentFigures {
  const { total, ended, queued, outcomes, calls, chains, promptTokens, completionTokens, harnesses, policies } = summary;
  const judged = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  // A session that ended and that nobody has graded has no outcome: it runs no longer.
  const running = Math.max(0, total - Math.max(judged, ended) - queued);
  return {
    total,
    ended,
    outcomes: { ...outcomes, ...(queued > 0 ? { queued } : {}), ...(running > 0 ? { running } : {}) },
    calls,
    chains,
    tokens: promptTokens + completionTokens,
    harnesses: [...harnesses],
    policies: [...policies],
    reward: meanWithInterval(fairRewards(summary.rewards)),
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
