import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { parse } from "yaml";
import { type ExperimentSpecInput, experimentSpecSchema } from "../api/views.ts";
import { WorkbenchError } from "../errors.ts";
import { followExperiment, printExperimentResult } from "./follow-experiment.ts";
import { note, printJson } from "./output.ts";
import { type CommonOptions, runVerb, verb } from "./verb.ts";

interface RunOptions extends CommonOptions {
  readonly tasks?: string[];
  readonly harness?: string[];
  readonly policy?: string[];
  readonly k?: string;
  readonly sandbox?: string;
  readonly concurrency?: string;
  readonly seed?: string;
  readonly name?: string;
}

export function runCommand(): Command {
  return verb(
    "run",
    "run an experiment: tasks × harnesses × policies × k rollouts",
    "openforge run --tasks resources/tasks/count-lines --harness react --policy scripted -k 2",
  )
    .argument("[file]", "the experiment as a YAML file; options override it")
    .option("--tasks <path...>", "task packages; `starter` = all that ship")
    .option("--harness <id...>", "harnesses (see `openforge harness list`)")
    .option("--policy <policy...>", "policy id, URL, scripted[:FILE], replay:ROLLOUT or embedded:PATH")
    .option("-k <n>", "rollouts of each combination")
    .option("--sandbox <kind>", "local, docker or kubernetes")
    .option("--concurrency <n>", "rollouts at once")
    .option("--seed <n>", "seed of the experiment")
    .option("--name <name>", "a name for the experiment")
    .action((file: string | undefined, options: RunOptions) =>
      runVerb(options, async (context) => {
        const spec = experimentSpecSchema.parse(await readSpec(file, options));
        const { id } = await context.client.experiments.start(spec);
        note(
          `Experiment ${id}: ${spec.tasks.join(", ")} × ${spec.harnesses.join(", ")} × ${spec.policies.join(", ")} × ${spec.k}, in the ${spec.sandbox} sandbox.`,
        );
        const result = await followExperiment(context, id);
        if (context.json) printJson(result);
        else printExperimentResult(result);
        return result.rollouts.some((rollout) => rollout.reward === null && rollout.status !== "cancelled") ? 1 : 0;
      }),
    );
}

/** The file's settings with the options on top; a fault names the field. */
async function readSpec(file: string | undefined, options: RunOptions): Promise<ExperimentSpecInput> {
  const written: unknown = file === undefined ? {} : parse(await readText(file));
  const given = {
    name: options.name,
    tasks: options.tasks?.map((path) => absoluteTask(path, process.cwd())),
    harnesses: options.harness,
    policies: options.policy?.map((policy) => absolutePolicy(policy, process.cwd())),
    k: integer("-k", options.k),
    sandbox: options.sandbox,
    concurrency: integer("--concurrency", options.concurrency),
    seed: integer("--seed", options.seed),
  };
  const merged = {
    ...(typeof written === "object" ? written : {}),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
  const result = experimentSpecSchema.safeParse(merged);
  if (result.success) {
    // Paths in a file are meant from where the file lies; the service may run anywhere.
    const folder = file === undefined ? process.cwd() : dirname(resolve(file));
    const { tasks, policies } = result.data;
    return {
      ...result.data,
      tasks: tasks.map((path) => absoluteTask(path, folder)),
      policies: policies.map((policy) => absolutePolicy(policy, folder)),
    };
  }
  const issue = result.error.issues[0];
  throw new WorkbenchError(
    "usage",
    `The experiment is not valid at \`${issue?.path.join(".") ?? ""}\`: ${issue?.message ?? "unknown fault"}.`,
    "See `openforge run --help` for an example.",
  );
}

function absoluteTask(path: string, folder: string): string {
  return path === "starter" ? path : resolve(folder, path);
}

/** `scripted:FILE` and `embedded:PATH` name something on disk; anything else is an id or an address. */
function absolutePolicy(policy: string, folder: string): string {
  const named = /^(scripted|embedded):(.+)$/s.exec(policy);
  return named === null ? policy : `${named[1]}:${resolve(folder, named[2] ?? "")}`;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new WorkbenchError("usage", `The experiment file ${file} cannot be read.`, "Check the path.", { cause: error });
  }
}

function integer(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new WorkbenchError("usage", `${name} wants a whole number, not \`${text}\`.`, `For example ${name} 4.`);
  return Number(text);
}
