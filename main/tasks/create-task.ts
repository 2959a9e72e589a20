/** `openforge task new`: a package to start from. */
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { WorkbenchError } from "../errors.ts";
import { templateFiles } from "./task-template.ts";

export interface CreateTaskOptions {
  /** `org/name`; default `local/<folder>`. */
  readonly name?: string | undefined;
  /** Default `files`. */
  readonly family?: string | undefined;
}

/**
 * Writes a complete package into a folder that does not exist yet or is empty; resolves with its absolute path. What is there already
 * is never touched (WorkbenchError, exit code 2).
 */
export async function createTask(path: string, options: CreateTaskOptions = {}): Promise<string> {
  const folder = resolve(path);
  const name = options.name ?? `local/${nameOf(basename(folder))}`;
  if (!/^[a-zA-Z0-9][a-zA-Z0-9._-]*\/[a-zA-Z0-9][a-zA-Z0-9._-]*$/.test(name) || name.includes("..")) {
    throw new WorkbenchError(
      "usage",
      `${JSON.stringify(name)} is no task name.`,
      "Give it as org/name in letters, digits, dots, hyphens and underscores.",
    );
  }
  await requireEmpty(folder);
  for (const file of templateFiles(name, options.family ?? "files")) {
    const target = join(folder, file.path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, file.text, { flag: "wx" });
    if (file.executable) await chmod(target, 0o755);
  }
  return folder;
}

/** A folder's name with what a task name cannot hold replaced. */
function nameOf(folderName: string): string {
  const plain = folderName
    .replace(/[^a-zA-Z0-9._-]+/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^[^a-zA-Z0-9]+/, "");
  return plain === "" ? "task" : plain;
}

async function requireEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    if (error.code === "ENOTDIR") return null;
    throw error;
  });
  if (entries !== null && entries.length === 0) return;
  const what = entries === null ? "is a file or lies below one" : "is not empty";
  throw new WorkbenchError("usage", `${folder} ${what}.`, "Give the path of a new folder.");
}
