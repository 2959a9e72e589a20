import type { Command } from "commander";
import type { ExperimentSpecInput } from "../api/experiment-views.ts";
import { WorkbenchError } from "../errors.ts";
import { followExperiment, printExperimentResult } from "./follow-experiment.ts";
import { note, printJson } from "./output.ts";
import { type ExperimentOptions, readExperiment } from "./read-experiment.ts";
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
  readonly keepWorkspace?: boolean;
}

/** Endings in which the rollout was run as asked, whatever the policy made of it. */
const fairEndings: readonly string[] = ["succeeded", "failed", "agent-timeout", "cancelled"];

export function runCommand(): Command {
  return verb(
    "run",
    "run an experiment: tasks × harnesses × policies × k rollouts",
    "openforge run --tasks resources/tasks/sort-downloads --harness react --policy scripted -k 2",
  )
    .argument("[file]", "the experiment as a YAML file; options override it")
    .option("--tasks <path...>", "task packages, folders of packages; `starter` = all that ship")
    .option("--harness <id...>", "harnesses (see `openforge harness list`)")
    .option("--policy <policy...>", "policy id, URL, scripted[:FILE], embedded:FOLDER, embedded:NAME or training:RUN@STEP")
    .option("-k <n>", "rollouts of each combination")
    .option("--sandbox <kind>", "local, docker or kubernetes")
    .option("--concurrency <n>", "rollouts at once")
    .option("--seed <n>", "seed of the experiment")
    .option("--name <name>", "a name for the experiment")
    .option("--keep-workspace", "keep the final state of each sandbox, for `runs regrade`")
    .action((file: string | undefined, options: RunOptions) =>
      runVerb(options, async (context) => {
        const spec = await readExperiment(file, settingsOf(options));
        const { id } = await context.client.experiments.start(spec);
        note(
          `Experiment ${id}: ${spec.tasks.join(", ")} × ${spec.harnesses.join(", ")} × ${spec.policies.join(", ")} × ${spec.k}, in the ${spec.sandbox} sandbox.`,
        );
        const result = await followExperiment(context, id);
        if (context.json) printJson(result);
        else printExperimentResult(result);
        return result.rollouts.every((rollout) => rollout.status !== null && fairEndings.includes(rollout.status)) ? 0 : 1;
      }),
    );
}

/** Options as settings of an experiment; those not given are left out of the way. */
function settingsOf(options: RunOptions): ExperimentOptions {
  return {
    name: options.name,
    tasks: options.tasks,
    harnesses: options.harness,
    policies: options.policy,
    k: integer("-k", options.k),
    sandbox: sandboxKind(options.sandbox),
    concurrency: integer("--concurrency", options.concurrency),
    seed: integer("--seed", options.seed),
    keepWorkspace: options.keepWorkspace,
  };
}

function sandboxKind(text: string | undefined): ExperimentSpecInput["sandbox"] {
  if (text === undefined || text === "local" || text === "docker" || text === "kubernetes") return text;
  throw new WorkbenchError("usage", `There is no sandbox called \`${text}\`.`, "Use --sandbox local, docker or kubernetes.");
}

function integer(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new WorkbenchError("usage", `${name} wants a whole number, not \`${text}\`.`, `For example ${name} 4.`);
  return Number(text);
}
