import { resolve } from "node:path";
import type { Command } from "commander";
import type { RolloutDetail } from "../api/rollout-views.ts";
import { correctCommand, gradeCommand } from "./attach.ts";
import { printExperimentResult } from "./follow-experiment.ts";
import { counted, note, number, print, printJson, table } from "./output.ts";
import { regradeCommand } from "./regrade.ts";
import { type CommonOptions, follow, runVerb, type VerbContext, verb, verbGroup } from "./verb.ts";

export function runsCommand(): Command {
  const runs = verbGroup("runs", "experiments and rollouts in the store");
  runs.addCommand(gradeCommand());
  runs.addCommand(correctCommand());
  runs.addCommand(regradeCommand());
  runs.addCommand(
    verb("list", "experiments, newest first", "openforge runs list --json").action((options: CommonOptions) =>
      runVerb(options, async ({ client, json, remote }) => {
        const experiments = await client.experiments.list();
        if (json) printJson(experiments);
        else if (experiments.length === 0) note("Nothing is recorded yet. Begin with: openforge run --tasks starter --policy scripted");
        else {
          print(
            table(
              ["id", "name", "status", "rollouts", "mean reward", "n", "harnesses", "policies"],
              experiments.map((experiment) => [
                experiment.id,
                experiment.name,
                experiment.status,
                `${experiment.ended}/${experiment.total}`,
                number(experiment.reward.mean),
                String(experiment.reward.n),
                experiment.harnesses.join(", "),
                experiment.policies.join(", "),
              ]),
            ),
          );
        }
        if (!remote && experiments.some(({ status }) => status === "running"))
          note("What is `running` was left by a service that has ended; `openforge serve` goes on with it.");
        return 0;
      }),
    ),
  );
  runs.addCommand(
    verb("show", "one experiment or one rollout", "openforge runs show r-8c2b")
      .argument("<id>")
      .action((id: string, options: CommonOptions) => runVerb(options, (context) => show(context, id))),
  );
  runs.addCommand(
    verb("cancel", "cancel an experiment or a rollout", "openforge runs cancel e-1f0a")
      .argument("<id>")
      .action((id: string, options: CommonOptions) =>
        runVerb(options, async ({ client, json }) => {
          const result = id.startsWith("r-") ? { ...(await client.rollouts.cancel({ id })), cancelled: 1 } : await client.experiments.cancel({ id });
          if (json) printJson(result);
          else print(`Cancelled ${counted(result.cancelled, "rollout")}.`);
          return 0;
        }),
      ),
  );
  runs.addCommand(
    verb("delete", "delete an experiment with its recordings", "openforge runs delete e-1f0a")
      .argument("<id>")
      .action((id: string, options: CommonOptions) =>
        runVerb(options, async ({ client, json }) => {
          await client.experiments.remove({ id });
          if (json) printJson({ deleted: id });
          else print(`Deleted ${id}.`);
          return 0;
        }),
      ),
  );
  runs.addCommand(
    verb(
      "import",
      "someone else's recordings, read-only: a Harbor job folder, an Inspect .eval log, an ATIF file",
      "openforge runs import jobs/2026-03-01__10-00-00",
    )
      .argument("<path>")
      .action((path: string, options: CommonOptions) =>
        runVerb(options, async ({ client, json, signal }) => {
          const report = await follow(await client.experiments.import({ path: resolve(path) }, { signal }));
          for (const sentence of report.notes) note(sentence);
          if (json) printJson(report);
          else
            print(
              `${report.kind} ${report.name}: ${counted(report.rollouts, "rollout")}, ${counted(report.calls, "call")}, as ${report.experiment}.`,
            );
          return 0;
        }),
      ),
  );
  return runs;
}

export function callsCommand(): Command {
  return verb("calls", "the model calls of a rollout", "openforge calls r-8c2b")
    .argument("<rollout>")
    .action((id: string, options: CommonOptions) =>
      runVerb(options, async ({ client, json }) => {
        const rollout = await client.rollouts.get({ id });
        if (json) printJson(rollout.calls);
        else printCalls(rollout);
        return 0;
      }),
    );
}

async function show({ client, json }: VerbContext, id: string): Promise<0> {
  if (!id.startsWith("r-")) {
    const result = await client.experiments.result({ id });
    if (json) printJson(result);
    else printExperimentResult(result);
    return 0;
  }
  const rollout = await client.rollouts.get({ id });
  if (json) {
    printJson(rollout);
    return 0;
  }
  print([rollout.id, rollout.task, `${rollout.harness} ${rollout.harnessVersion}`.trim(), rollout.policy, placeOf(rollout)].join("  "));
  print(`outcome   ${outcomeOf(rollout)}`);
  if (rollout.detail !== null) print(`          ${rollout.detail}`);
  print(`reward    ${number(rollout.reward)}`);
  print(`trainable ${rollout.trainable === true ? "yes" : (rollout.trainableReason ?? "not ended")}`);
  print(`phases    ${rollout.phases.map((phase) => `${phase.name} ${number(phase.seconds, 1)} s`).join(" · ")}`);
  print("");
  printSteps(rollout);
  printCalls(rollout);
  print("");
  print(
    table(
      ["chain", "calls", "tokens", "trained", "break"],
      rollout.chains.map((chain, index) => [
        String(index),
        chain.calls.join(" "),
        String(chain.tokens),
        String(chain.trained),
        chain.breakCause ?? "–",
      ]),
    ),
  );
  return 0;
}

const isAttached = ({ labels }: RolloutDetail): boolean => labels.purpose === "attach";

function placeOf(rollout: RolloutDetail): string {
  return isAttached(rollout) ? "outside any sandbox" : `in ${rollout.sandbox}`;
}

function outcomeOf(rollout: RolloutDetail): string {
  const { status, cause, action, phase } = rollout;
  if (status !== null) return `${status}${cause === null ? "" : ` · ${cause}`}  (${action})`;
  if (phase === "ended" && isAttached(rollout)) return `not graded: openforge runs grade ${rollout.id} succeeded`;
  return `${phase}  (not ended)`;
}

function printSteps({ steps }: RolloutDetail): void {
  if (steps.length === 0) return;
  const rows = steps.map((step) => {
    const { name, status, cause, startedAt, reward, calls, agentSeconds } = step;
    const outcome = startedAt === null ? "not begun" : (status ?? "running") + (cause === null ? "" : ` · ${cause}`);
    return [name, outcome, number(reward), String(calls), number(agentSeconds, 1)];
  });
  print(table(["step", "outcome", "reward", "calls", "agent s"], rows));
  print("");
}

function printCalls(rollout: RolloutDetail): void {
  print(
    table(
      ["call", "dialect", "status", "chain", "prompt", "sampled", "capture", "retries", "summary"],
      rollout.calls.map((call) => [
        call.id,
        call.dialect,
        call.aborted ? "aborted" : call.status,
        call.chain === null ? "–" : String(call.chain),
        String(call.promptTokens),
        String(call.completionTokens),
        call.capture,
        String(call.retries),
        `${call.side === null ? "" : `[side call: ${call.side}] `}${call.summary.slice(0, 80)}`,
      ]),
    ),
  );
}
