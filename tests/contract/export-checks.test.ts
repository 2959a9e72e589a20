/** What we export, judged by those it is for: Harbor's own models, and the columns that verl's and TRL's loaders read. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CheckedFile, checkFiles } from "../exports/check-file.ts";
import { type ExportedFiles, exportedFiles } from "../exports/exported-files.ts";
import { pythonEnvironment } from "../exports/python-environment.ts";

const harbor = await pythonEnvironment("harbor");
const parquet = await pythonEnvironment("parquet");

let files: ExportedFiles;
beforeAll(() => {
  files = exportedFiles();
});
afterAll(() => files.dispose());

function faults(checked: readonly CheckedFile[]): readonly string[] {
  return checked.filter(({ ok }) => !ok).map(({ kind, path, errors }) => `${kind} ${path}: ${JSON.stringify(errors)}`);
}

describe.skipIf(harbor.python === null)(`Harbor's models${harbor.python === null ? ` (${harbor.reason})` : ""}`, () => {
  test("accept every trajectory, and no key of it is unknown to them", async () => {
    const { path, count } = await files.write("atif", "trajectories");
    const checked = await checkFiles(harbor.python ?? "", "harbor-check", [
      "--strict",
      "trajectory",
      ...readdirSync(path).map((name) => join(path, name)),
    ]);
    expect(faults(checked)).toEqual([]);
    expect(checked).toHaveLength(count);
  });

  test("read the job folder, and the job's statistics follow from its trials", async () => {
    const { path, count } = await files.write("harbor", "2026-01-01__00-00-00");
    const checked = await checkFiles(harbor.python ?? "", "harbor-check", ["--strict", "job", path]);
    expect(faults(checked)).toEqual([]);
    expect(checked.filter(({ kind }) => kind === "trial")).toHaveLength(count);
  });
});

describe.skipIf(parquet.python === null)(`rows for trainers${parquet.python === null ? ` (${parquet.reason})` : ""}`, () => {
  test.each([
    ["trl-sft", "trl", "rows.jsonl"],
    ["verl-sft", "verl-sft", "sft.parquet"],
    ["verl-rl", "verl-rl", "rl.parquet"],
  ] as const)("%s has the columns its loader reads", async (format, kind, name) => {
    const { path, count } = await files.write(format, name);
    expect(count).toBeGreaterThan(3);
    expect(faults(await checkFiles(parquet.python ?? "", "rows-check", [kind, "--no-loader", path]))).toEqual([]);
  });
});
