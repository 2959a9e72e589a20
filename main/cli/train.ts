import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import type { TrainingResult, TrainingRunView } from "../api/training-views.ts";
import { WorkbenchError } from "../errors.ts";
import { note, print, printJson, shellWord } from "./output.ts";
import { trainingTable } from "./training-table.ts";
import { type CommonOptions, follow, runVerb, type VerbContext, verb } from "./verb.ts";

interface TrainOptions extends CommonOptions {
  readonly resume?: boolean;
  readonly seed?: string;
  readonly check?: boolean;
}

export function trainCommand(): Command {
  return verb("train", "train a policy as a run file says (docs/training.md)", "openforge train resources/training/starter.yaml --seed 7")
    .argument("<file>", "the run file")
    .option("--resume", "go on with the last run of this file that has not ended")
    .option("--seed <n>", "overrides the file's seed")
    .option("--check", "only read the file and say what it would do")
    .action((file: string, options: TrainOptions) =>
      runVerb(options, async (context) => {
        const input = { yaml: await readText(file), folder: dirname(resolve(file)) };
        if (options.check === true) return check(context, file, input);
        const seed = seedNumber(options.seed);
        const id = options.resume === true ? await resumed(context, input.yaml, seed) : await started(context, { ...input, ...seedOf(seed) });
        return followTraining(context, id, file);
      }),
    );
}

/** Follows a run to its end and prints its result; Ctrl-C cancels the run, which can be gone on with. */
export async function followTraining({ client, json, signal }: VerbContext, id: string, file: string): Promise<0> {
  const cancel = (): void => {
    note(`The run ${id} is cancelled; \`openforge train ${shellWord(file)} --resume\` goes on from its last step.`);
    client.training.cancel({ id }).catch(() => note("The run could not be cancelled; it goes on."));
  };
  signal.addEventListener("abort", cancel, { once: true });
  // Ctrl-C while it was being started.
  if (signal.aborted) cancel();
  try {
    const result = await follow<TrainingResult>(await client.training.follow({ id }));
    if (json) printJson(result);
    else print(trainingTable(result));
    return 0;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

export function seedNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new WorkbenchError("usage", `--seed wants a whole number, not \`${text}\`.`, "For example --seed 4.");
  return Number(text);
}

function seedOf(seed: number | undefined): { readonly seed?: number } {
  return seed === undefined ? {} : { seed };
}

async function started({ client }: VerbContext, input: { readonly yaml: string; readonly folder: string; readonly seed?: number }): Promise<string> {
  const { id } = await client.training.start(input);
  note(`Training run ${id}.`);
  return id;
}

async function resumed({ client }: VerbContext, yaml: string, seed: number | undefined): Promise<string> {
  const fits = (run: TrainingRunView): boolean => run.file === yaml && run.status !== "ended" && (seed === undefined || run.seed === seed);
  const run = (await client.training.list()).find(fits);
  if (run === undefined)
    throw new WorkbenchError(
      "not-found",
      "There is no unfinished run of this file.",
      "Leave --resume out to begin one; a file that was changed is another run.",
    );
  note(`Going on with the training run ${run.id} after step ${run.step} of ${run.steps}.`);
  const runs = ["preparing", "running"].includes(run.status);
  if (!runs) await client.training.resume({ id: run.id });
  return run.id;
}

async function check({ client, json }: VerbContext, file: string, input: { readonly yaml: string; readonly folder: string }): Promise<0 | 1> {
  const result = await client.training.check(input);
  if (json) printJson(result);
  else for (const line of [...result.faults.map((fault) => `${file}:${fault.line}: ${fault.message}`), ...result.summary]) print(line);
  return result.valid ? 0 : 1;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new WorkbenchError("usage", `The run file ${file} cannot be read.`, "Check the path.", { cause: error });
  }
}
