/**
 * A run on disk. Each file is written beside and renamed: what is there is whole.
 *
 *     training/RUN/run.json                what it is, and how it stands (RunRecord)
 *     training/RUN/steps/N.json            what step N did (StepRecord)
 *     training/RUN/steps/N.tokens.json     what the update saw of each trained token (StepTokens)
 *     training/RUN/evaluations/N.json      the evaluation after N updates (EvaluationRecord)
 *     training/RUN/checkpoints/N/          trainer state after N updates
 *     training/RUN/published/N/            weights after N updates, as they answer model calls
 *     training/RUN/tasks/                  tasks that were generated for it
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { WorkbenchError } from "../errors.ts";
import { publishedFolder, trainingFolder } from "../models/index.ts";
import {
  type EvaluationRecord,
  evaluationRecordSchema,
  type RunRecord,
  runRecordSchema,
  type StepRecord,
  type StepTokens,
  stepRecordSchema,
  stepTokensSchema,
} from "./records.ts";

const parts = ["steps", "evaluations", "checkpoints", "published"] as const;

export class RunFolder {
  readonly path: string;

  constructor(dataFolder: string, id: string) {
    this.path = join(trainingFolder(dataFolder), id);
  }

  create(): void {
    for (const part of parts) mkdirSync(join(this.path, part), { recursive: true });
  }

  readRun(): RunRecord {
    return this.#read("run.json", runRecordSchema);
  }

  writeRun(record: RunRecord): void {
    this.#write("run.json", record);
  }

  /** Steps that were written, ascending. */
  steps(): readonly number[] {
    return this.#numbers("steps", /^(\d+)\.json$/);
  }

  readStep(step: number): StepRecord {
    return this.#read(join("steps", `${step}.json`), stepRecordSchema);
  }

  readTokens(step: number): StepTokens {
    return this.#read(join("steps", `${step}.tokens.json`), stepTokensSchema);
  }

  /** The tokens first: a step that is there is whole. */
  writeStep(record: StepRecord, tokens: StepTokens): void {
    this.#write(join("steps", `${record.point.step}.tokens.json`), tokens);
    this.#write(join("steps", `${record.point.step}.json`), record);
  }

  /** Steps after this one are taken again. */
  forgetStepsAfter(step: number): void {
    for (const later of this.steps().filter((one) => one > step)) rmSync(join(this.path, "steps", `${later}.json`));
    for (const later of this.evaluations().filter((one) => one > step)) rmSync(join(this.path, "evaluations", `${later}.json`));
  }

  evaluations(): readonly number[] {
    return this.#numbers("evaluations", /^(\d+)\.json$/);
  }

  readEvaluation(step: number): EvaluationRecord {
    return this.#read(join("evaluations", `${step}.json`), evaluationRecordSchema);
  }

  writeEvaluation(record: EvaluationRecord): void {
    this.#write(join("evaluations", `${record.view.step}.json`), record);
  }

  checkpoints(): readonly number[] {
    return this.#numbers("checkpoints", /^(\d+)$/);
  }

  checkpoint(step: number): string {
    return join(this.path, "checkpoints", String(step));
  }

  published(step: number): string {
    return publishedFolder(this.path, step);
  }

  publishedSteps(): readonly number[] {
    return this.#numbers("published", /^(\d+)$/);
  }

  /** Removes checkpoints and published weights of steps that `keeps` does not want. */
  prune(part: "checkpoints" | "published", keeps: (step: number) => boolean): void {
    for (const step of this.#numbers(part, /^(\d+)$/).filter((one) => !keeps(one))) {
      rmSync(join(this.path, part, String(step)), { recursive: true, force: true });
    }
  }

  #numbers(part: (typeof parts)[number], pattern: RegExp): readonly number[] {
    return readdirSync(join(this.path, part))
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .map(Number)
      .toSorted((left, right) => left - right);
  }

  #write(name: string, value: object): void {
    const path = join(this.path, name);
    const partial = `${path}.partial`;
    writeFileSync(partial, JSON.stringify(value));
    renameSync(partial, path);
  }

  #read<T>(name: string, schema: z.ZodType<T>): T {
    const path = join(this.path, name);
    try {
      return schema.parse(JSON.parse(readFileSync(path, "utf8")));
    } catch (error) {
      throw new WorkbenchError("store", `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, "Begin the run anew.", {
        cause: error,
      });
    }
  }
}

/** Runs of a data folder; folders that hold none are left alone. */
export function runFolders(dataFolder: string): readonly RunFolder[] {
  const ids = listed(trainingFolder(dataFolder));
  return ids.map((id) => new RunFolder(dataFolder, id)).filter((folder) => listed(folder.path).includes("run.json"));
}

function listed(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return [];
    throw error;
  }
}
