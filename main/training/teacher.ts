/** What an SFT stage learns from: rollouts of a teacher, made for it or recorded before. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { deriveSeed } from "../../engine/statistics/index.ts";
import { correctionsOf } from "../attach/index.ts";
import { WorkbenchError } from "../errors.ts";
import { readPublishedVersion, trainingFolder } from "../models/index.ts";
import type { RolloutRecord, Store } from "../store/index.ts";
import { type BasePlaces, baseModel } from "./base-model.ts";
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
  const kept = found.filter((record) => isKept(record, stage.keep) || correctionsOf(run.store, record.id).size > 0);
  if (kept.length > 0) return kept;
  throw new WorkbenchError(
    "usage",
    `The teacher gave ${found.length} rollouts, and none of them can be learnt from${stage.keep === "successes" ? ": none succeeded" : ""}.`,
    "Take another teacher, more rollouts a task, or `keep: all`.",
  );
}

/** Ids of these rollouts are the policy's own: same tokenizer, same template. */
export async function speaksAlike(policy: string, modelFolder: string, places: BasePlaces): Promise<boolean> {
  const teacher = await tokenizerFolder(policy, places);
  if (teacher === null) return false;
  const read = (folder: string, name: string): Promise<string | null> => readFile(join(folder, name), "utf8").catch(() => null);
  for (const name of ["tokenizer.json", "chat_template.jinja"]) if ((await read(teacher, name)) !== (await read(modelFolder, name))) return false;
  return true;
}

async function tokenizerFolder(policy: string, places: BasePlaces): Promise<string | null> {
  const [name = ""] = policy.split("?");
  try {
    if (name.startsWith("training:"))
      return (await readPublishedVersion(trainingFolder(places.dataFolder), name.slice("training:".length))).run.baseModel;
    return name.startsWith("embedded:") ? await baseModel(name, places) : null;
  } catch (error) {
    // It is gone by now: what it said is written anew.
    if (error instanceof WorkbenchError) return null;
    throw error;
  }
}

function isKept({ outcome, reward, calls }: RolloutRecord, keep: SftStage["keep"]): boolean {
  if (outcome === null || outcome.action !== "train" || reward === null || calls === 0) return false;
  return keep === "all" || outcome.status === "succeeded";
}

function recorded(store: Store, experiments: readonly string[]): readonly RolloutRecord[] {
  return experiments.flatMap((id) => {
    if (store.experiment(id) === null) throw new WorkbenchError("not-found", `There is no experiment ${id}.`, "See `openforge runs list`.");
    return store.rolloutsOf(id).filter(({ labels }) => labels.purpose !== "evaluation");
  });
}

async function collectTeacher(
  { collector, settings, tasks, seed }: OpenRun,
  stage: SftStage,
  policy: string,
  number: number,
  { signal, onEnded }: Pick<CollectOptions, "signal" | "onEnded">,
): Promise<readonly RolloutRecord[]> {
  const { perTask, spendingLimit = Number.POSITIVE_INFINITY } = stage.teacher;
  const wanted = planTeacher(tasks.train, settings.harnesses, { policy, perTask, seed, number });
  const spent = (ended: readonly Collected[]): number => ended.reduce((sum, { record }) => sum + record.promptTokens + record.completionTokens, 0);
  // A policy that has reached its own limit answers no more.
  const enough = (ended: readonly Collected[]): boolean =>
    spent(ended) >= spendingLimit || ended.some(({ record }) => record.outcome?.cause === "spending-limit");
  const collected = await collector.collect(wanted, { signal, ...(onEnded === undefined ? {} : { onEnded }), enough });
  return collected.map(({ record }) => record);
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
