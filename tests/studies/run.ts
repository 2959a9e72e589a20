/**
 * `npm run study -- [NAME…] [--short] [--only=PART,…] [--data=FOLDER] [--json]`: the studies of this folder. The full form
 * writes docs/measurements/NAME.md, the short form only shows that the study works, and so does one of named parts. With a data folder a
 * study that was broken off goes on with the training runs that ended.
 */
import { execFileSync } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { markdownOf, type Study, type StudyResult } from "./form/study.ts";

const folder = dirname(fileURLToPath(import.meta.url));
const measurements = join(folder, "../../docs/measurements");
const note = (line: string) => process.stderr.write(`${line}\n`);

/** Resolves with the exit code: 0 all held · 1 one did not hold or could not be run · 2 wrong usage. */
async function main(words: readonly string[]): Promise<number> {
  const short = words.includes("--short");
  const json = words.includes("--json");
  const flagValue = (flag: string): string | null => words.find((word) => word.startsWith(flag))?.slice(flag.length) ?? null;
  const only = flagValue("--only=")?.split(",") ?? null;
  const data = flagValue("--data=");
  const wanted = words.filter((word) => !word.startsWith("--"));
  const files = await readdir(folder, { withFileTypes: true });
  const names = files.filter((file) => file.isFile() && file.name.endsWith(".ts") && file.name !== "run.ts").map(({ name }) => name.slice(0, -3));
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0 || wanted.length === 0) {
    note(`${unknown.length > 0 ? `There is no study ${unknown.join(", ")}; there` : "There"} are ${names.sort().join(", ")}.`);
    note("Usage: npm run study -- NAME… [--short] [--only=PART,…] [--data=FOLDER] [--json]");
    return 2;
  }
  const results: Record<string, StudyResult> = {};
  let failed = 0;
  for (const name of wanted) {
    note(`${name}${short ? " (short form)" : ""} …`);
    const begun = Date.now();
    try {
      const { study } = (await import(pathToFileURL(join(folder, `${name}.ts`)).href)) as { study: Study };
      const result = await study({ short, only, data, report: (line) => note(`  ${line}`) });
      results[name] = result;
      const text = markdownOf(result, conditions((Date.now() - begun) / 1000));
      if (!json) process.stdout.write(`${text}\n`);
      if (!short && only === null) await writeFile(join(measurements, `${name}.md`), text);
      if (result.promised.some(({ holds }) => !holds)) failed++;
    } catch (error) {
      failed++;
      note(`${name} could not be run: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  return failed > 0 ? 1 : 0;
}

function conditions(seconds: number): readonly string[] {
  const date = new Date().toISOString().slice(0, 10);
  const memory = Math.round(totalmem() / 2 ** 30);
  return [
    `Commit ${commit()}, ${date}.`,
    `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${memory} GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}; ${Math.round(seconds)} s in all.`,
  ];
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "unknown (no git)";
  }
}

process.exitCode = await main(process.argv.slice(2));
