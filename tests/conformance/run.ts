/** `npm run conformance -- DIR [PART…]`: reference cases of any folder with the layout of `tests/fixtures`. */
import { readdir, stat } from "node:fs/promises";
import { conformanceParts, runPart } from "./parts.ts";

const usage = "Usage: npm run conformance -- DIR [PART…], for example: npm run conformance -- tests/fixtures tokenizers";

/** Resolves with the exit code: 0 all passed · 1 something failed · 2 nothing to check. */
async function main(directory: string | undefined, wanted: readonly string[]): Promise<number> {
  const known = Object.keys(conformanceParts);
  const unknown = wanted.filter((part) => !known.includes(part));
  const folder = directory === undefined ? null : await stat(directory).catch(() => null);
  if (directory === undefined || folder === null || !folder.isDirectory()) {
    return refuse(directory === undefined ? "Name the folder that holds the cases." : `${directory} is not a folder.`);
  }
  if (unknown.length > 0) return refuse(`There is no part ${unknown.join(", ")}; the parts are ${known.join(", ")}.`);
  let passed = 0;
  let failed = 0;
  for (const [part, check] of Object.entries(conformanceParts)) {
    if (wanted.length > 0 && !wanted.includes(part)) continue;
    const result = await runPart(part, check, directory);
    if (!result.present && wanted.length > 0) process.stdout.write(`${part}: ${directory} has no such folder\n`);
    for (const failure of result.failures) process.stdout.write(`${failure}\n`);
    for (const skipped of result.skipped) process.stdout.write(`skipped ${skipped}\n`);
    if (result.present) process.stdout.write(`${part}: ${result.passed} passed, ${result.failures.length} failed\n`);
    passed += result.passed;
    failed += result.failures.length;
  }
  if (wanted.length === 0) await nameUnchecked(directory, known);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed > 0 ? 1 : 0;
}

/** Folders that look like parts and that this build has no check for: said, so that nobody takes them for passed. */
async function nameUnchecked(directory: string, known: readonly string[]): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory() && !known.includes(entry.name)) process.stdout.write(`${entry.name}: not checked, this build has no check for it\n`);
  }
}

function refuse(problem: string): number {
  process.stderr.write(`${problem}\n${usage}\n`);
  return 2;
}

process.exitCode = await main(process.argv[2], process.argv.slice(3));
