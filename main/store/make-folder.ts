import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { WorkbenchError } from "../errors.ts";

/**
 * Makes a folder that only this user can enter, and those above it. Step by step: Node's own recursive making never ends on a file
 * system that refuses folders (/proc) and hides a read-only one behind ENOENT.
 */
export function makeFolder(path: string): void {
  try {
    for (const folder of missingFolders(resolve(path))) makeOne(folder);
  } catch (cause) {
    throw new WorkbenchError(
      "store",
      `The data folder ${path} cannot be made: ${reasonOf(cause)}.`,
      "Choose a folder that you may write to with --data.",
      {
        exitCode: 2,
        cause,
      },
    );
  }
}

/** The topmost first. */
function missingFolders(path: string): readonly string[] {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const found = statSync(at, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) return missing;
    if (found !== undefined) throw new Error(`${at} is a file`);
    missing.unshift(at);
  }
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const already = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (!already) throw error;
  }
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  switch (code) {
    case "EACCES":
    case "EPERM":
      return "you may not write there";
    case "EROFS":
      return "the file system is read-only";
    case "ENOSPC":
      return "the disk is full";
    case "ENOTDIR":
      return "a part of the path is a file";
    case "ENAMETOOLONG":
      return "the path is too long";
    case "ENOENT":
      return "no folders can be made there";
    default:
      return cause instanceof Error ? cause.message : String(cause);
  }
}
