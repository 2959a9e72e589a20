/** Training runs of the starter experiment as studies need them: one setting changed at a time, results read from their records. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { TrainingRunView } from "../../../main/api/training-views.ts";
import { type EvaluationRecord, evaluationRecordSchema } from "../../../main/training/index.ts";
import type { StudyOptions } from "./study.ts";
import type { StudyBench } from "./workbench.ts";

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

/** The first and the last evaluation of an ended run. */
export interface EndedRun {
  readonly run: TrainingRunView;
  readonly before: EvaluationRecord;
  readonly after: EvaluationRecord;
}

export async function trainStarter({ workbench, folder }: StudyBench, wanted: StarterRun, { report }: StudyOptions): Promise<EndedRun> {
  const { name, seed, size } = wanted;
  const file = {
    name,
    base: "starter",
    train: "weights",
    tasks: { train: { starter: { count: 400 } }, heldOut: { starter: { count: size.heldOut } } },
    harnesses: wanted.harnesses ?? ["react"],
    concurrency: 16,
    limits: { contextWindow: 256, answerTokens: 64, batchTokens: 2048, lanes: 16 },
    stages: [
      {
        kind: "rl",
        algorithm: "grpo",
        overrides: { divergence: 0, aggregation: "token-mean" },
        steps: size.steps,
        tasks: size.tasks,
        group: size.group,
        rate: 4e-4,
        warmUp: 2,
        flatGroups: "drop",
        ...wanted.stage,
      },
    ],
    evaluation: { samples: size.samples, ...wanted.evaluation },
    ...(wanted.controls === undefined ? {} : { controls: wanted.controls }),
  };
  const id = await workbench.training.start({ yaml: stringify(file), folder, seed });
  const begun = Date.now();
  await workbench.training.follow(id, () => undefined, AbortSignal.timeout(3_600_000));
  const run = workbench.training.get(id);
  const steps = run.evaluations.map(({ step }) => step).toSorted((left, right) => left - right);
  const at = (step: number | undefined): Promise<EvaluationRecord> => readEvaluation(workbench.store.dataFolder, id, step ?? 0);
  const ended = { run, before: await at(steps[0]), after: await at(steps.at(-1)) };
  const seconds = Math.round((Date.now() - begun) / 1000);
  report(`${name}, seed ${seed}: ${percent(ended.before.view.success.mean)} → ${percent(ended.after.view.success.mean)} in ${seconds} s`);
  return ended;
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
