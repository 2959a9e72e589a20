/** Removes from a folder every file that no pattern names: an install keeps only what runs. */
import { lstat, readdir, rm, rmdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/** `*` stands for any part of a name, `**` for any depth. Paths are relative to the folder, with `/`. */
export function matchesPattern(path: string, pattern: string): boolean {
  const source = pattern
    .split(/(\*\*\/?|\*)/)
    .map((part) => (part.startsWith("**") ? ".*" : part === "*" ? "[^/]*" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")))
    .join("");
  return new RegExp(`^${source}$`).test(path);
}

/** Keeps the files that match one of the patterns; empty folders go too. */
export async function keepOnly(folder: string, patterns: readonly string[]): Promise<void> {
  await prune(folder, folder, patterns);
}

async function prune(root: string, folder: string, patterns: readonly string[]): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const inside = relative(root, path).split(sep).join("/");
    if ((await lstat(path)).isDirectory()) {
      await prune(root, path, patterns);
      if ((await readdir(path)).length === 0) await rmdir(path);
    } else if (!patterns.some((pattern) => matchesPattern(inside, pattern))) {
      await rm(path);
    }
  }
}
