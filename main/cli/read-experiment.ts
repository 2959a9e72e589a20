/** An experiment from its YAML file and the options on top; paths in the file are meant from where the file lies. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { z } from "zod";
import { type ExperimentSpec, experimentSpecSchema } from "../api/experiment-views.ts";
import { WorkbenchError } from "../errors.ts";
import { absolutePolicy } from "../models/index.ts";
import { issueSentence, readYaml, telling } from "../yaml/index.ts";
import { shellWord } from "./output.ts";

/** What the options of `openforge run` give; undefined = not given. */
export type ExperimentOptions = { readonly [K in keyof z.input<typeof experimentSpecSchema>]?: z.input<typeof experimentSpecSchema>[K] | undefined };

/** One fault is told as one sentence, with its line when it is in the file. */
export async function readExperiment(file: string | undefined, options: ExperimentOptions): Promise<ExperimentSpec> {
  const written = file === undefined ? {} : parseExperiment(await readText(file), file);
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const parsed = experimentSpecSchema.safeParse({ ...written, ...given }, { reportInput: true });
  if (parsed.success) return fromFolder(parsed.data, process.cwd());
  const [issue] = parsed.error.issues;
  throw new WorkbenchError(
    "usage",
    issue === undefined ? "The experiment is not valid." : issueSentence(telling(issue), "The experiment"),
    "See `openforge run --help` for an example.",
  );
}

/** `file` is for messages and for the paths that the text names. */
export function parseExperiment(text: string, file: string): ExperimentSpec {
  const reading = readYaml(text, experimentSpecSchema, { subject: "The experiment", example: "tasks: [starter]" });
  if (reading.ok) return fromFolder(reading.value, dirname(resolve(file)));
  const [first] = reading.faults;
  const more = reading.faults.length > 1 ? ` (and ${reading.faults.length - 1} more)` : "";
  throw new WorkbenchError(
    "usage",
    `${file}:${first?.line ?? 1}: ${first?.message ?? "unreadable."}${more}`,
    /^stages:/m.test(text)
      ? `It looks like the file of a training run: openforge train ${shellWord(file)}`
      : "An experiment has the keys name, tasks, harnesses, policies, k, sandbox, concurrency and seed; see docs/rollouts.md.",
  );
}

function fromFolder(spec: ExperimentSpec, folder: string): ExperimentSpec {
  return {
    ...spec,
    tasks: spec.tasks.map((path) => (path === "starter" ? path : resolve(folder, path))),
    policies: spec.policies.map((policy) => absolutePolicy(policy, folder)),
  };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new WorkbenchError("usage", `The experiment file ${file} cannot be read.`, "Check the path.", { cause: error });
  }
}
