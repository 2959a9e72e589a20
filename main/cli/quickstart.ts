import { join } from "node:path";
import type { Command } from "commander";
import { productFolder } from "../machine/index.ts";
import { note } from "./output.ts";
import { followTraining, seedNumber } from "./train.ts";
import { type CommonOptions, runVerb, verb } from "./verb.ts";

interface QuickstartOptions extends CommonOptions {
  readonly seed?: string;
  readonly quick?: boolean;
}

export function quickstartCommand(): Command {
  return verb("quickstart", "the starter experiment: a tiny policy gets better inside its harness, start to finish", "openforge quickstart --seed 7")
    .option("--seed <n>", "seed of the run (default 1)")
    .option("--quick", "a short form: fewer steps, a wider interval")
    .action((options: QuickstartOptions) =>
      runVerb(options, async (context) => {
        const input = { quick: options.quick === true, seed: seedNumber(options.seed) ?? 1 };
        const { id } = await context.client.training.startStarter(input);
        note(
          `Training run ${id}: the starter experiment, seed ${input.seed}. A policy of half a million parameters learns on generated shell tasks.`,
        );
        const file = join(productFolder(), "resources", "training", input.quick ? "starter-quick.yaml" : "starter.yaml");
        return followTraining(context, id, file);
      }),
    );
}
