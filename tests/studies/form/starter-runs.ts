/** Training runs of the starter experiment as studies need them: one setting changed at a time, results read from their records. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parse, stringify } from "yaml";
import { z } from "zod";
import type { TrainingRunView } from "../../../main/api/training-views.ts";
import { type EvaluationRecord, evaluationRecordSchema } from "../../../main/training/index.ts";
import type { StudyOptions } from "./study.ts";
import type { StudyBench } from "./workbench.ts";

/** Of the run file that ships, what is changed here. */
const shippedSchema = z.looseObject({ tasks: z.looseObject({}), stages: z.tuple([z.looseObject({})]) });

export interface StarterRun {
  readonly name: string;
  readonly seed: number;
  readonly harnesses?: readonly string[];
  /** Of the one stage. */
  readonly stage?: Readonly<Record<string, unknown>>;
  readonly controls?: Readonly<Record<string, unknown>>;
  readonly evaluation?: Readonly<Record<string, unknown>>;
  readonly size: StarterSize;
}

interface StarterSize {
  readonly steps: number;
  readonly tasks: number;
  readonly group: number;
  readonly heldOut: number;
  readonly samples: number;
}

export interface EndedRun {
  readonly run: TrainingRunView;
  readonly before: EvaluationRecord;
  readonly after: EvaluationRecord;
}

/** `before`: the base was evaluated already, by a run with the same seed and held-out tasks: on the same tasks, from the same draws. */
export async function trainStarter(bench: StudyBench, wanted: StarterRun, options: StudyOptions, before?: EvaluationRecord): Promise<EndedRun> {
  const { name, seed } = wanted;
  const begun = Date.now();
  const run = await startAndFollow(bench, { ...wanted, evaluation: { ...wanted.evaluation, before: before === undefined } });
  const steps = run.evaluations.map(({ step }) => step).toSorted((left, right) => left - right);
  const at = (step: number | undefined): Promise<EvaluationRecord> => readEvaluation(bench.workbench.store.dataFolder, run.id, step ?? 0);
  const ended = { run, before: before ?? (await at(steps[0])), after: await at(steps.at(-1)) };
  const seconds = Math.round((Date.now() - begun) / 1000);
  options.report(`${name}, seed ${seed}: ${percent(ended.before.view.success.mean)} → ${percent(ended.after.view.success.mean)} in ${seconds} s`);
  return ended;
}

/** Trains without evaluating. */
export async function onlyTrainStarter(bench: StudyBench, wanted: StarterRun): Promise<TrainingRunView> {
  return startAndFollow(bench, { ...wanted, evaluation: { before: false, after: false } });
}

/** The run that ships, with what is changed of it; a kept data folder may hold it already, ended or under way again. */
async function startAndFollow({ workbench, folder }: StudyBench, wanted: StarterRun): Promise<TrainingRunView> {
  const { name, seed, size, harnesses, controls, stage, evaluation } = wanted;
  const shipped = shippedSchema.parse(parse(await readFile(resolve("resources/training/starter.yaml"), "utf8")));
  const { steps, tasks, group, samples } = size;
  const file = {
    ...shipped,
    name,
    tasks: { ...shipped.tasks, heldOut: { starter: { count: size.heldOut } } },
    stages: shipped.stages.map((own) => ({ ...own, steps, tasks, group, ...stage })),
    evaluation: { samples, ...evaluation },
    ...(harnesses === undefined ? {} : { harnesses }),
    ...(controls === undefined ? {} : { controls }),
  };
  const yaml = stringify(file);
  const kept = workbench.training
    .list()
    .find((run) => run.file === yaml && run.seed === seed && run.status !== "failed" && run.status !== "cancelled");
  const id = kept?.id ?? (await workbench.training.start({ yaml, folder, seed }));
  await workbench.training.follow(id, () => undefined, AbortSignal.timeout(3_600_000));
  return workbench.training.get(id);
}

async function readEvaluation(dataFolder: string, run: string, step: number): Promise<EvaluationRecord> {
  return evaluationRecordSchema.parse(JSON.parse(await readFile(join(dataFolder, "training", run, "evaluations", `${step}.json`), "utf8")));
}

/** What the rollouts of evaluations got, one value a rollout, clustered by task; those without a reward are no values. */
export function successes(evaluations: readonly EvaluationRecord[]): readonly { readonly cluster: string; readonly value: number }[] {
  return evaluations.flatMap(({ rollouts }) =>
    rollouts.flatMap(({ task, harness, success }) => (success === null ? [] : [{ cluster: `${task} ${harness}`, value: success }])),
  );
}

export function percent(value: number | null): string {
  return value === null ? "–" : `${(100 * value).toFixed(1)} %`;
}

/** `+38.0 [32.2, 43.8]` in points. */
export function points({ mean, low, high }: { readonly mean: number | null; readonly low: number | null; readonly high: number | null }): string {
  const one = (value: number | null): string => (value === null ? "–" : (100 * value).toFixed(1));
  return mean === null ? "–" : `${mean >= 0 ? "+" : ""}${one(mean)} [${one(low)}, ${one(high)}]`;
}
