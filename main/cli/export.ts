import { resolve } from "node:path";
import type { Command } from "commander";
import { type ExportReport, exportFormats } from "../api/export-views.ts";
import { WorkbenchError } from "../errors.ts";
import { note, print, printJson } from "./output.ts";
import { type CommonOptions, follow, runVerb, verb } from "./verb.ts";

interface ExportOptions extends CommonOptions {
  readonly format?: string;
  readonly out?: string;
  readonly force?: boolean;
  readonly all?: boolean;
  readonly algorithm?: string;
}

export function exportCommand(): Command {
  return verb("export", "recordings as files that other tools read", "openforge export e-1f0a --format verl-rl --out rows.parquet")
    .argument("<id>", "an experiment, a rollout or a training run")
    .option("--format <format>", exportFormats.join(", "))
    .option("--out <path>", "the file to write; a folder for harbor, and for atif and html of several rollouts")
    .option("--force", "replace what is there")
    .option("--all", "supervised rows of failures too")
    .option("--algorithm <name>", "whose advantages rows of an experiment carry (default: grpo); a training run has its own")
    .action((id: string, options: ExportOptions) =>
      runVerb(options, async ({ client, json, signal }) => {
        const { force = false, all = false, algorithm = "grpo" } = options;
        const request = { id, format: formatOf(options.format), path: pathOf(options.out), force, all, algorithm };
        const report = await follow(await client.exports.write(request, { signal }));
        for (const sentence of report.notes) note(sentence);
        if (json) printJson(report);
        else printReport(report);
        return 0;
      }),
    );
}

function printReport({ path, count, unit, bytes, leftOut }: ExportReport): void {
  print(`${path}: ${count} ${unit}, ${(bytes / 1000).toFixed(1)} kB`);
  for (const { reason, count: left } of leftOut) print(`left out: ${left} × ${reason}`);
}

function formatOf(text: string | undefined): (typeof exportFormats)[number] {
  const format = exportFormats.find((known) => known === text);
  if (format !== undefined) return format;
  const message = text === undefined ? "export wants a --format." : `There is no export format \`${text}\`.`;
  throw new WorkbenchError("usage", message, `Give --format with one of ${exportFormats.join(", ")}.`);
}

function pathOf(text: string | undefined): string {
  if (text === undefined || text === "") throw new WorkbenchError("usage", "export wants to know where to write.", "Give --out PATH.");
  return resolve(text);
}
