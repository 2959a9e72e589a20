/** Supervised steps: cross-entropy on what a teacher wrote. */
import { deriveSeed } from "../../engine/statistics/index.ts";
import type { RolloutRecord } from "../store/index.ts";
import { buildBatch, type StepBatch, type StepMember } from "./batch.ts";
import type { EmbeddedTrainer } from "./embedded/trainer.ts";
import { longestSequence, type OpenRun } from "./open-run.ts";
import type { SftStage } from "./run-file.ts";
import type { StepFacts } from "./step-record.ts";
import { shuffled } from "./task-set.ts";

export interface SupervisedWish {
  readonly stage: SftStage;
  readonly teachers: readonly RolloutRecord[];
  /** 0-based among the stage's steps. */
  readonly place: number;
}

/** Every rollout once a pass, each pass in another order. */
export async function supervisedBatch({ seed, settings, store }: OpenRun, { stage, teachers, place }: SupervisedWish): Promise<StepBatch> {
  const perPass = Math.ceil(teachers.length / stage.batch);
  const order = shuffled(teachers, deriveSeed(seed, "supervised", Math.floor(place / perPass)));
  const first = (place % perPass) * stage.batch;
  const members = order.slice(first, first + stage.batch).map(memberOf);
  const rules = { version: 0, stalenessLimit: 0, stale: "correct", longest: longestSequence(settings), controls: {}, seed: 0 } as const;
  return buildBatch(store, members, rules);
}

function memberOf(record: RolloutRecord): StepMember {
  const { taskName, taskPath, harness } = record;
  const task = { path: taskPath, name: taskName, family: null, maxReward: 1, requiredTools: [] };
  const planned = { taskPath, harness, policy: record.policy, groupIndex: record.groupIndex, seed: record.seed, labels: record.labels };
  return { collected: { record, wanted: { key: record.id, group: taskName, task, planned } }, reward: record.reward, staleness: null, leftOut: null };
}

type Supervised = Pick<StepFacts, "reports" | "measures" | "metrics" | "skipped" | "divergenceCoefficient" | "rollouts">;

export async function supervisedUpdate(trainer: EmbeddedTrainer, batch: StepBatch, rate: number, signal: AbortSignal): Promise<Supervised> {
  const none = { measures: null, metrics: {}, divergenceCoefficient: 0 };
  if (batch.rows.length === 0) return { ...none, reports: [], skipped: "no rollout of the teacher has a token to train", rollouts: rowsOf(batch) };
  const { reports, skipped } = await trainer.supervisedStep({ sequences: batch.rows.map(({ ids }) => ids), mask: batch.mask, rate }, { signal });
  return { ...none, reports, skipped, rollouts: rowsOf(batch) };
}

function rowsOf({ members, rolloutIds, rolloutOfRow, mask }: StepBatch): StepFacts["rollouts"] {
  const tokens = rolloutIds.map(() => 0);
  for (const [index, trains] of mask.values.entries()) {
    const rollout = rolloutOfRow[Math.floor(index / mask.width)] ?? 0;
    if (trains === 1) tokens[rollout] = (tokens[rollout] ?? 0) + 1;
  }
  return members.map(({ collected: { record, wanted }, leftOut }) => ({
    ...{ rollout: record.id, task: record.taskName, harness: record.harness, group: wanted.group, policyVersion: record.policyVersion ?? "" },
    ...{ reward: record.reward, advantage: null, trainedTokens: tokens[rolloutIds.indexOf(record.id)] ?? 0, lossShare: null, leftOut },
  }));
}
