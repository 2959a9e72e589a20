/** What an SFT stage learns from: rollouts of a teacher, made for it or recorded before. */
import { deriveSeed } from "../../engine/statistics/index.ts";
import { WorkbenchError } from "../errors.ts";
import type { RolloutRecord, Store } from "../store/index.ts";
import type { Collected, CollectOptions } from "./collect.ts";
import type { OpenRun } from "./open-run.ts";
import type { RunSettings, SftStage } from "./run-file.ts";
import type { WantedRollout } from "./step-plan.ts";
import type { RunTask } from "./task-set.ts";

/** In the order of the tasks; only what the stage keeps. Rejects with WorkbenchError when nothing is left. */
export async function teacherRollouts(
  run: OpenRun,
  stage: SftStage,
  number: number,
  options: Pick<CollectOptions, "signal" | "onEnded">,
): Promise<readonly RolloutRecord[]> {
  const { policy, experiments } = stage.teacher;
  const found = policy === undefined ? recorded(run.store, experiments ?? []) : await collectTeacher(run, stage, policy, number, options);
  const kept = found.filter(({ record, best }) => isKept(record, best, stage.keep)).map(({ record }) => record);
  if (kept.length > 0) return kept;
  throw new WorkbenchError(
    "usage",
    `The teacher gave ${found.length} rollouts, and none of them can be learnt from${stage.keep === "successes" ? ": none succeeded" : ""}.`,
    "Take another teacher, more rollouts a task, or `keep: all`.",
  );
}

interface Judged {
  readonly record: RolloutRecord;
  /** Reward of a success. */
  readonly best: number;
}

function isKept({ outcome, reward, chains }: RolloutRecord, best: number, keep: SftStage["keep"]): boolean {
  if (outcome === null || outcome.action !== "train" || reward === null || chains === 0) return false;
  return keep === "all" || reward >= best;
}

function recorded(store: Store, experiments: readonly string[]): readonly Judged[] {
  return experiments.flatMap((id) => {
    if (store.experiment(id) === null) throw new WorkbenchError("not-found", `There is no experiment ${id}.`, "See `openforge runs list`.");
    const rollouts = store.rolloutsOf(id).filter(({ labels }) => labels.purpose !== "evaluation");
    return rollouts.map((record) => ({ record, best: 1 }));
  });
}

async function collectTeacher(
  { collector, settings, tasks, seed }: OpenRun,
  stage: SftStage,
  policy: string,
  number: number,
  { signal, onEnded }: Pick<CollectOptions, "signal" | "onEnded">,
): Promise<readonly Judged[]> {
  const { perTask, spendingLimit } = stage.teacher;
  const wanted = planTeacher(tasks.train, settings.harnesses, { policy, perTask, seed, number });
  const spent = (ended: readonly Collected[]): number => ended.reduce((sum, { record }) => sum + record.promptTokens + record.completionTokens, 0);
  const enough = spendingLimit === undefined ? {} : { enough: (ended: readonly Collected[]) => spent(ended) >= spendingLimit };
  const collected = await collector.collect(wanted, { signal, ...(onEnded === undefined ? {} : { onEnded }), ...enough });
  return collected.map(({ record, wanted: { task } }) => ({ record, best: task.maxReward }));
}

/** Every task with every harness. */
function planTeacher(
  tasks: readonly RunTask[],
  harnesses: RunSettings["harnesses"],
  { policy, perTask, seed, number }: { readonly policy: string; readonly perTask: number; readonly seed: number; readonly number: number },
): readonly WantedRollout[] {
  return tasks.flatMap((task, place) =>
    harnesses.flatMap(({ id }) =>
      Array.from({ length: perTask }, (_unused, index): WantedRollout => {
        const group = `t${number}.${place}.${id}`;
        const key = `${group}.${index}`;
        return {
          ...{ key, group, task },
          planned: {
            ...{ taskPath: task.path, harness: id, policy, groupIndex: index },
            seed: deriveSeed(seed, "teacher", number, task.name, index),
            labels: { purpose: "teacher", step: 0, group, key },
          },
        };
      }),
    ),
  );
}
