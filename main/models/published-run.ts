/**
 * What a training run publishes, so that its weights answer model calls:
 *
 *     training/RUN/run.json            what the run is made of (below)
 *     training/RUN/published/STEP/     adapter_config.json + adapter_model.safetensors, or config.json + model.safetensors
 *
 * A folder of a step is written beside and renamed, so that one that is there is whole.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { WorkbenchError } from "../errors.ts";

export const publishedRunSchema = z.looseObject({
  /** Hugging Face folder: tokenizer, chat template, and the weights that an adapter is put on. */
  baseModel: z.string(),
  kind: z.enum(["adapter", "weights"]),
  /** What samples: this machine, or a saved vLLM policy that the adapters are loaded into. */
  sampler: z.union([z.literal("embedded"), z.strictObject({ vllm: z.string() })]).default("embedded"),
  /** Left out = by the memory of this machine. */
  lanes: z.number().int().positive().optional(),
  contextWindow: z.number().int().positive().optional(),
  /** Tokens of one answer at most, whatever a harness asks for. */
  maxTokens: z.number().int().positive().optional(),
  deterministic: z.boolean().default(false),
  /** Draws at this temperature from all tokens, whatever a harness asks for; left out = as it asks. */
  temperature: z.number().nonnegative().optional(),
  /** The step that `@best` means; null = none is known. */
  best: z.number().int().nonnegative().nullable().default(null),
});

/** Members that publishing needs; a run's file may hold more. */
type PublishedRun = z.output<typeof publishedRunSchema>;

/** Weights of one step of a run. */
export interface PublishedVersion {
  /** `RUN@STEP`: what answers are stamped with. */
  readonly name: string;
  readonly run: PublishedRun;
  /** The step's folder. */
  readonly folder: string;
  /** Differs when the same step was published again. */
  readonly stamp: string;
}

export function trainingFolder(dataFolder: string): string {
  return join(dataFolder, "training");
}

export function publishedFolder(runFolder: string, step: number): string {
  return join(runFolder, "published", String(step));
}

/** Steps that are published, ascending. */
export async function publishedSteps(runFolder: string): Promise<readonly number[]> {
  const names = await readdir(join(runFolder, "published")).catch((): readonly string[] => []);
  return names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .toSorted((left, right) => left - right);
}

/** `name`: `RUN`, `RUN@STEP`, `RUN@last` or `RUN@best`. Rejects with WorkbenchError for what is not there. */
export async function readPublishedVersion(folder: string, name: string): Promise<PublishedVersion> {
  const { run, wanted } = readName(name);
  const runFolder = join(folder, run);
  const settings = await readRun(runFolder, run);
  const steps = await publishedSteps(runFolder);
  const step = stepOf(wanted, steps, settings);
  if (step === null || !steps.includes(step)) throw notPublished(run, wanted, steps);
  const stepFolder = publishedFolder(runFolder, step);
  const file = join(stepFolder, settings.kind === "adapter" ? "adapter_model.safetensors" : "model.safetensors");
  const found = await stat(file).catch(() => null);
  if (found === null)
    throw new WorkbenchError("unavailable", `The weights of ${run}@${step} are not whole: ${file} is not there.`, "Name another step of the run.");
  return { name: `${run}@${step}`, run: settings, folder: stepFolder, stamp: `${found.ino.toString(36)}-${Math.round(found.mtimeMs).toString(36)}` };
}

function readName(name: string): { readonly run: string; readonly wanted: string } {
  const [run = "", wanted = "last", ...rest] = name.split("@");
  if (/^[\w.-]+$/.test(run) && !/^\.+$/.test(run) && /^(\d{1,9}|last|best)$/.test(wanted) && rest.length === 0) return { run, wanted };
  throw new WorkbenchError(
    "usage",
    `"${name}" names no step of a training run.`,
    "Write RUN@STEP, RUN@last or RUN@best; RUN alone is its last published step.",
  );
}

async function readRun(runFolder: string, run: string): Promise<PublishedRun> {
  const path = join(runFolder, "run.json");
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null)
    throw new WorkbenchError("not-found", `There is no training run ${run}.`, "See `openforge train --help`; a run begins with its file.");
  try {
    return publishedRunSchema.parse(JSON.parse(text));
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const why = issue === undefined ? "it is not JSON" : `${issue.path.join(".")} ${issue.message}`;
    throw new WorkbenchError("usage", `${path} cannot be read: ${why}.`, "Write it as it was, or begin the run anew.", { cause: error });
  }
}

function stepOf(wanted: string, steps: readonly number[], { best }: PublishedRun): number | null {
  if (wanted === "last") return steps.at(-1) ?? null;
  return wanted === "best" ? best : Number(wanted);
}

function notPublished(run: string, wanted: string, steps: readonly number[]): WorkbenchError {
  const there =
    steps.length === 0 ? "It has published nothing yet." : `Published: ${steps.length > 12 ? `${steps[0]} to ${steps.at(-1)}` : steps.join(", ")}.`;
  return new WorkbenchError("not-found", `The training run ${run} has no published step "${wanted}".`, there);
}
