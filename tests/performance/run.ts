/**
 * `npm run bench -- [NAME…] [--json]`: the benchmarks of this folder, each figure beside its reference. A name stands for all that begin with it
 * and a dash: `engine` for `engine-training` and its siblings.
 */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Benchmark, BenchmarkRow } from "./measure/compare.ts";

const folder = dirname(fileURLToPath(import.meta.url));
const note = (line: string) => process.stderr.write(`${line}\n`);

/** Resolves with the exit code: 0 all ran · 1 one could not be run · 2 wrong usage. */
async function main(words: readonly string[]): Promise<number> {
  const json = words.includes("--json");
  const wanted = words.filter((word) => word !== "--json");
  const names = (await readdir(folder))
    .filter((file) => file.endsWith(".ts") && file !== "run.ts" && !file.endsWith(".test.ts"))
    .map((file) => file.slice(0, -3));
  const covers = (word: string, name: string): boolean => name === word || name.startsWith(`${word}-`);
  const unknown = wanted.filter((word) => !names.some((name) => covers(word, name)));
  if (unknown.length > 0) {
    note(`There is no benchmark ${unknown.join(", ")}; there are ${names.sort().join(", ")}.\nUsage: npm run bench -- [NAME…] [--json]`);
    return 2;
  }
  const rows: BenchmarkRow[] = [];
  let failed = 0;
  for (const name of names.sort()) {
    if (wanted.length > 0 && !wanted.some((word) => covers(word, name))) continue;
    note(`${name} …`);
    try {
      const { benchmark } = (await import(pathToFileURL(join(folder, `${name}.ts`)).href)) as { benchmark: Benchmark };
      const measured = await benchmark((line) => note(`  ${line}`));
      rows.push(...measured);
      if (!json) for (const row of measured) process.stdout.write(`${describe(row)}\n`);
    } catch (error) {
      failed++;
      note(`${name} could not be run: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  return failed > 0 ? 1 : 0;
}

function describe(row: BenchmarkRow): string {
  const range = `${figure(row.min)} to ${figure(row.max)} in ${row.repetitions}`;
  const beside =
    row.reference === null ? "no reference here" : `${row.reference.name} ${figure(row.reference.value)}, ratio ${figure(row.ratio ?? Number.NaN)}`;
  return `${row.name}: ${figure(row.value)} ${row.unit} (${range}); ${beside}; aim ${row.aim}`;
}

function figure(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}

process.exitCode = await main(process.argv.slice(2));
