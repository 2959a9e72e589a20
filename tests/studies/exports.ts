/** Do those whom an export is for read it? Harbor's own models, TRL's and verl's own loaders, and our own imports. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { importFrom } from "../../main/imports/index.ts";
import { openStore } from "../../main/store/index.ts";
import { type CheckedFile, checkFiles } from "../exports/check-file.ts";
import { type ExportedFiles, exportedFiles } from "../exports/exported-files.ts";
import { type Environment, pythonEnvironment } from "../exports/python-environment.ts";
import type { StudyOptions, StudyResult } from "./form/study.ts";

interface Verdict {
  readonly format: string;
  readonly reader: string;
  readonly files: number;
  readonly faults: readonly string[];
}

export async function study({ short, report }: StudyOptions): Promise<StudyResult> {
  const harbor = await pythonEnvironment("harbor", report);
  const trainers = await pythonEnvironment(short ? "parquet" : "trainers", report);
  const files = exportedFiles();
  try {
    const verdicts = [
      ...(await harborVerdicts(files, harbor, report)),
      ...(await rowVerdicts(files, trainers, short, report)),
      ...(await roundTrips(files, report)),
    ];
    const missing = [harbor, trainers].flatMap(({ python, reason }) => (python === null ? [reason] : []));
    return {
      title: "Exports in the hands of their readers",
      method: [
        "Recorded rollouts of every kind (successes, failures, a compaction, a token without a log-probability, an agent out of time, an infrastructure failure, a policy without token ids) are exported in every format that others read.",
        "Harbor 0.26.0's own models read trajectories and the job folder (`--strict`: a key that Harbor would drop is a fault); `datasets` with TRL 1.16.0 and verl 0.9.1's `MultiTurnSFTDataset` and `RLHFDataset` read the rows; our own imports read back what they can.",
      ],
      tables: [
        {
          title: "Verdicts",
          columns: ["format", "reader", "files", "faults"],
          rows: verdicts.map(({ format, reader, files: count, faults }) => [
            format,
            reader,
            String(count),
            faults.length === 0 ? "none" : faults.join("; "),
          ]),
        },
      ],
      promised: verdicts.map(({ format, reader, faults }) => ({ statement: `${reader} reads ${format}.`, holds: faults.length === 0 })),
      found: missing.map((reason) => `Not checked here: ${reason}.`),
    };
  } finally {
    files.dispose();
  }
}

async function harborVerdicts(files: ExportedFiles, { python }: Environment, report: (line: string) => void): Promise<readonly Verdict[]> {
  if (python === null) return [];
  report("Harbor's models");
  const trajectories = (await files.write("atif", "trajectories")).path;
  const documents = readdirSync(trajectories).map((name) => join(trajectories, name));
  const job = (await files.write("harbor", "2026-01-01__00-00-00")).path;
  return [
    verdict("atif", "Harbor 0.26.0", await checkFiles(python, "harbor-check", ["--strict", "trajectory", ...documents])),
    verdict("harbor", "Harbor 0.26.0", await checkFiles(python, "harbor-check", ["--strict", "job", job])),
  ];
}

async function rowVerdicts(
  files: ExportedFiles,
  { python }: Environment,
  short: boolean,
  report: (line: string) => void,
): Promise<readonly Verdict[]> {
  if (python === null) return [];
  const verdicts: Verdict[] = [];
  for (const [format, kind, name] of [
    ["trl-sft", "trl", "rows.jsonl"],
    ["verl-sft", "verl-sft", "sft.parquet"],
    ["verl-rl", "verl-rl", "rl.parquet"],
  ] as const) {
    report(`loader of ${format}`);
    const { path } = await files.write(format, name);
    const checked = await checkFiles(python, "rows-check", [kind, ...(short ? ["--no-loader"] : []), path]);
    const loaded = short || checked.every(({ checked_with }) => checked_with.includes("trl") || checked_with.includes("verl"));
    const made = verdict(format, [...new Set(checked.flatMap(({ checked_with }) => checked_with))].join(" + "), checked);
    verdicts.push(loaded ? made : { ...made, faults: [...made.faults, "the real loader did not run"] });
  }
  return verdicts;
}

/** What we import of our own exports keeps rewards, calls and tokens. */
async function roundTrips(files: ExportedFiles, report: (line: string) => void): Promise<readonly Verdict[]> {
  report("our own imports");
  const original = files.store.rolloutsOf(files.experimentId);
  const totals = (rollouts: typeof original) => {
    const sum = (read: (rollout: (typeof original)[number]) => number) => rollouts.reduce((total, rollout) => total + read(rollout), 0);
    return JSON.stringify([
      rollouts.length,
      sum(({ calls }) => calls),
      sum(({ completionTokens }) => completionTokens),
      sum(({ reward }) => reward ?? 0),
    ]);
  };
  const verdicts: Verdict[] = [];
  for (const format of ["atif", "harbor"] as const) {
    const { path } = await files.write(format, `again-${format}`);
    const store = openStore(join(files.folder, `store-${format}`));
    try {
      const { experiment } = await importFrom(store, path, () => undefined, new AbortController().signal);
      const back = totals(store.rolloutsOf(experiment));
      verdicts.push({ format, reader: "our import", files: 1, faults: back === totals(original) ? [] : [`${back} instead of ${totals(original)}`] });
    } finally {
      store.close();
    }
  }
  return verdicts;
}

function verdict(format: string, reader: string, checked: readonly CheckedFile[]): Verdict {
  const faults = checked.filter(({ ok }) => !ok).map(({ kind, errors }) => `${kind}: ${JSON.stringify(errors)}`);
  return { format, reader, files: checked.length, faults };
}
