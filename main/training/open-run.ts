/** What a run works with while it runs: its trainer, its tasks, its open experiment. Opened again after a restart or a pause. */
import { join } from "node:path";
import type { LoraSettings } from "../../engine/models/index.ts";
import { WorkbenchError } from "../errors.ts";
import type { RolloutService } from "../rollouts/index.ts";
import type { Store } from "../store/index.ts";
import { algorithmOf } from "./algorithm-of.ts";
import type { BasePlaces } from "./base-model.ts";
import { Collector } from "./collect.ts";
import { type EmbeddedTrainer, openEmbeddedTrainer } from "./embedded/trainer.ts";
import type { RunSettings } from "./run-file.ts";
import type { RunFolder } from "./run-folder.ts";
import { readTasks, type TaskSet } from "./task-set.ts";

export interface OpenParts {
  readonly store: Store;
  readonly rollouts: RolloutService;
  readonly starterTasksFolder: string;
  readonly places: BasePlaces;
}

export interface OpenRun {
  readonly id: string;
  readonly seed: number;
  readonly folder: RunFolder;
  readonly settings: RunSettings;
  readonly tasks: TaskSet;
  readonly trainer: EmbeddedTrainer;
  readonly collector: Collector;
  readonly store: Store;
  readonly places: BasePlaces;
  /** Folder that the run began from. */
  readonly modelFolder: string;
  /** Updates made: those of the last step that is whole on disk, checkpoint included. */
  readonly done: number;
}

/** Forgets steps that were begun and not finished; their rollouts are found again by the collector. */
export async function openRun(folder: RunFolder, settings: RunSettings, parts: OpenParts): Promise<OpenRun> {
  const record = folder.readRun();
  const tasks = await readTasks(settings.tasks, { starterTasksFolder: parts.starterTasksFolder, generated: join(folder.path, "tasks") });
  const done = lastWholeStep(folder);
  folder.forgetStepsAfter(done);
  const experiments = await openExperiments(record.experiments, record.name, settings, parts);
  const trainer = await openEmbeddedTrainer(trainerSettings(settings, record.baseModel, record.seed, done === 0 ? null : folder.checkpoint(done)));
  const { estimate, plan } = trainer.info;
  folder.writeRun({ ...folder.readRun(), experiments: [...experiments], memory: { bytes: estimate.total, plan } });
  const collector = new Collector({ ...parts, experiment: experiments.at(-1) ?? "", experiments });
  const { store, places } = parts;
  return { id: record.id, seed: record.seed, folder, settings, tasks, trainer, collector, store, places, modelFolder: record.baseModel, done };
}

function lastWholeStep(folder: RunFolder): number {
  const written = new Set(folder.steps());
  return folder.checkpoints().findLast((step) => written.has(step)) ?? 0;
}

/** One that was closed is followed by another; its rollouts stay known. */
async function openExperiments(
  known: readonly string[],
  name: string,
  settings: RunSettings,
  { store, rollouts }: OpenParts,
): Promise<readonly string[]> {
  const last = known.at(-1);
  if (last !== undefined && store.experiment(last)?.status === "running") return known;
  const { sandbox, concurrency, outcomes, attempts, limits } = settings;
  const opened = await rollouts.openExperiment({
    ...{ name, sandbox, concurrency, attempts, rules: { preset: outcomes, discardTimeouts: false } },
    ...(limits.agentSeconds === undefined ? {} : { agentTimeoutSeconds: limits.agentSeconds }),
  });
  return [...known, opened];
}

function trainerSettings(settings: RunSettings, modelFolder: string, seed: number, resumeFrom: string | null) {
  const { limits, optimiser, stages } = settings;
  const { clipNorm, stopNorm, ...adamW } = optimiser;
  const algorithms = stages.flatMap((stage) => (stage.kind === "rl" ? [algorithmOf(stage)] : []));
  return {
    ...{ modelFolder, seed, resumeFrom, clipNorm, stopNorm, withEntropy: algorithms.length > 0, lora: loraOf(settings) },
    valueHead: algorithms.some(({ value }) => value !== null),
    optimiser: { ...adamW, epsilon: 1e-8 },
    limits: { positions: limits.batchTokens, longest: longestSequence(settings) },
    memoryBudget: limits.memoryBytes,
    threads: limits.threads ?? null,
  };
}

function loraOf({ train }: RunSettings): LoraSettings | null {
  return train === "weights" ? null : train;
}

export function longestSequence({ limits }: RunSettings): number {
  return Math.min(limits.sequenceTokens ?? limits.contextWindow, limits.contextWindow);
}

export async function closeRun({ trainer }: Pick<OpenRun, "trainer">): Promise<void> {
  await trainer.close();
}

/** Ends the run's experiment, if it is open still. */
export async function closeExperiment(folder: RunFolder, { store, rollouts }: OpenParts): Promise<void> {
  const last = folder.readRun().experiments.at(-1);
  if (last === undefined || store.experiment(last)?.status !== "running") return;
  try {
    await rollouts.closeExperiment(last);
  } catch (error) {
    if (!(error instanceof WorkbenchError && error.code === "not-found")) throw error;
  }
}
