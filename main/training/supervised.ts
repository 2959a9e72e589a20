/** Supervised steps: cross-entropy on what a teacher wrote. */
import { deriveSeed } from "../../engine/statistics/index.ts";
import { correctionsOf } from "../attach/index.ts";
import { loadPolicyText } from "../proxy/index.ts";
import type { RolloutRecord } from "../store/index.ts";
import { buildBatch, type ChainRow, type StepBatch, type StepMember } from "./batch.ts";
import { sampledRows } from "./chain-rows.ts";
import type { EmbeddedTrainer } from "./embedded/trainer.ts";
import { longestSequence, type OpenRun } from "./open-run.ts";
import { renderedRows } from "./rendered-rows.ts";
import type { SftStage } from "./run-file.ts";
import type { StepFacts } from "./step-record.ts";
import { shuffled } from "./task-set.ts";
import { speaksAlike } from "./teacher.ts";

export interface SupervisedWish {
  readonly stage: SftStage;
  readonly teachers: readonly RolloutRecord[];
  /** 0-based among the stage's steps. */
  readonly place: number;
  readonly rowsOf: TeacherRows;
}

export type TeacherRows = (record: RolloutRecord) => readonly ChainRow[];

/** Tokens as the teacher sampled them where they are the policy's own, else its words in the policy's. */
export async function teacherRows({ store, places, modelFolder }: OpenRun, teachers: readonly RolloutRecord[]): Promise<TeacherRows> {
  const alike = new Map<string, boolean>();
  for (const { policy } of teachers) if (!alike.has(policy)) alike.set(policy, await speaksAlike(policy, modelFolder, places));
  const { builder } = await loadPolicyText(modelFolder);
  return ({ id, policy, outcome }) => {
    const corrections = correctionsOf(store, id);
    if (corrections.size > 0) return renderedRows(store, id, builder, { corrections, only: outcome?.status !== "succeeded" });
    return alike.get(policy) === true ? sampledRows(store, id) : renderedRows(store, id, builder);
  };
}

/** Every rollout once a pass, each pass in another order. */
export function supervisedBatch({ seed, settings }: OpenRun, { stage, teachers, place, rowsOf }: SupervisedWish): StepBatch {
  const perPass = Math.ceil(teachers.length / stage.batch);
  const order = shuffled(teachers, deriveSeed(seed, "supervised", Math.floor(place / perPass)));
  const first = (place % perPass) * stage.batch;
  const members = order.slice(first, first + stage.batch).map(memberOf);
  const batch = buildBatch(members, rowsOf, { longest: longestSequence(settings), controls: {} });
  // The policy sampled none of it: here that is as it should be.
  return { ...batch, trainedUnsampled: 0 };
}

function memberOf(record: RolloutRecord): StepMember {
  const { taskName, taskPath, harness } = record;
  const task = { path: taskPath, name: taskName, family: null, maxReward: 1, requiredTools: [] };
  const planned = { taskPath, harness, policy: record.policy, groupIndex: record.groupIndex, seed: record.seed, labels: record.labels };
  return { collected: { record, wanted: { key: record.id, group: taskName, task, planned } }, reward: record.reward, staleness: null, leftOut: null };
}

type Supervised = Pick<StepFacts, "reports" | "measures" | "metrics" | "skipped" | "divergenceCoefficient" | "memoryBytes" | "rollouts">;

export async function supervisedUpdate(trainer: EmbeddedTrainer, batch: StepBatch, rate: number, signal: AbortSignal): Promise<Supervised> {
  const none = { measures: null, metrics: {}, divergenceCoefficient: 0, rollouts: rowsOf(batch) };
  if (batch.rows.length === 0) return { ...none, reports: [], skipped: "no rollout of the teacher has a token to train", memoryBytes: null };
  const sequences = batch.rows.map(({ ids }) => ids);
  const { reports, skipped, memoryBytes } = await trainer.supervisedStep({ sequences, mask: batch.mask, rate }, { signal });
  return { ...none, reports, skipped, memoryBytes };
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
