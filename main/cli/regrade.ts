import { resolve } from "node:path";
import type { Command } from "commander";
import type { RegradeReport, RegradeRow } from "../api/grade-views.ts";
import { note, number, print, printJson, table } from "./output.ts";
import { type CommonOptions, follow, runVerb, type VerbContext, verb } from "./verb.ts";

export function regradeCommand(): Command {
  return verb(
    "regrade",
    "grade stored work with a changed verifier; lists the verdicts that flip (the work must have been kept: `run --keep-workspace`)",
    "openforge runs regrade e-1f0a --task my-tasks/rename-files",
  )
    .argument("<id>", "an experiment or a rollout")
    .option("--task <path>", "the task package with the verifier (default: where each rollout's own lies)")
    .action((id: string, options: CommonOptions & { task?: string }) => runVerb(options, (context) => regrade(context, id, options.task)));
}

/** The answer is no when nothing could be graded. */
async function regrade({ client, json, signal }: VerbContext, id: string, task: string | undefined): Promise<0 | 1> {
  const input = { id, ...(task === undefined ? {} : { task: resolve(task) }) };
  const report = await follow<RegradeReport>(await client.rollouts.regrade(input, { signal }));
  if (json) printJson(report);
  else {
    print(table(["rollout", "task", "before", "after", ""], report.rows.map(cells)));
    print(`${report.graded} graded again, ${report.flipped} flipped, ${report.skipped} skipped.`);
    for (const { rollout, skipped } of report.rows) if (skipped !== null) note(`${rollout} was skipped: ${skipped}`);
  }
  return report.graded > 0 ? 0 : 1;
}

function cells({ rollout, task, before, after, flipped }: RegradeRow): string[] {
  const of = (grade: { readonly verdict: string; readonly reward: number | null }): string => `${grade.verdict} ${number(grade.reward)}`;
  return [rollout, task, of(before), after === null ? "skipped" : of(after), flipped ? "flipped" : ""];
}
