/** `openforge task import`: a package from a folder, an archive or a git repository, checked before it is put in its place. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { isArchiveName, unpackArchive } from "../archives/index.ts";
import { WorkbenchError } from "../errors.ts";
import { checkTask } from "./check-task.ts";
import type { TaskCheck } from "./contract.ts";
import { isFile, isFolder, lstatOrNull } from "./package/file-system.ts";

export interface ImportTaskOptions {
  /** A folder, a `.tar.gz`, `.tgz`, `.tar` or `.zip` archive, or the address of a git repository. */
  readonly source: string;
  /** Folder that must not exist yet; left out = one below `into`, by the name of the package. */
  readonly to?: string;
  readonly into: string;
  readonly signal?: AbortSignal;
}

const programLimitMs = 10 * 60_000;
/** How far below the root a package is looked for. */
const depthLimit = 3;

/**
 * Resolves with the verdict on the package where it now is; a package with errors is not copied, and its faults name its own files.
 * Never overwrites: an existing target is a WorkbenchError, as is a source that cannot be read or holds no package, or several.
 */
export async function importTask(options: ImportTaskOptions): Promise<TaskCheck> {
  const scratch = await mkdtemp(join(tmpdir(), "openforge-import-"));
  try {
    const root = await fetched(options, scratch);
    const found = await packageIn(root, options.source);
    const verdict = await checkTask(found);
    const named = verdict.task?.name.split("/").at(-1) ?? basename(found);
    const target = resolve(options.to ?? join(options.into, named));
    if ((await lstatOrNull(target)) !== null)
      throw new WorkbenchError("usage", `${target} is there already.`, "Give another folder with --to, or remove it first.");
    if (!verdict.valid) return { ...verdict, path: options.source };
    await place(found, target);
    return await checkTask(target);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The folder that holds what the source holds. */
async function fetched({ source, signal }: ImportTaskOptions, scratch: string): Promise<string> {
  const path = resolve(source);
  if (await isFolder(path)) return path;
  const stopping = signal === undefined ? {} : { signal };
  if (await isFile(path)) {
    if (!isArchiveName(path))
      throw new WorkbenchError("usage", `${source} is no archive that can be read.`, "Give a folder, a .tar.gz or .zip archive, or a git address.");
    await unpackArchive({ archive: path, into: scratch, ...stopping });
    return scratch;
  }
  if (!/^(?:https?|ssh|git|file):\/\/|^[\w.-]+@[\w.-]+:/.test(source))
    throw new WorkbenchError("not-found", `There is no folder, archive or git address ${source}.`, "Check the path.");
  const clone = join(scratch, "repository");
  try {
    await promisify(execFile)("git", ["clone", "--quiet", "--depth", "1", "--", source, clone], {
      timeout: programLimitMs,
      env: { ...process.env, GIT_TERMINAL_PROMPT: "0" },
      ...stopping,
    });
  } catch (error) {
    stopping.signal?.throwIfAborted();
    const { code, stderr = "" } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    if (code === "ENOENT") throw new WorkbenchError("unavailable", `${source} needs the program git, which is not there.`, "Install git.");
    const why = stderr.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
    throw new WorkbenchError("task", `${source} cannot be read${why === "" ? "" : `: ${why}`}.`, "Check that it is whole and can be reached.");
  }
  return clone;
}

/** The one package at the root or below it. */
async function packageIn(root: string, source: string): Promise<string> {
  const found = await packagesBelow(root, 0);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined)
    throw new WorkbenchError("task", `${source} holds no task.toml.`, "Give the folder, archive or repository of a Harbor task package.");
  const names = found.map((path) => relative(root, path)).toSorted();
  throw new WorkbenchError(
    "task",
    `${source} holds ${found.length} task packages: ${names.slice(0, 10).join(", ")}${names.length > 10 ? " …" : ""}.`,
    "Import one at a time: unpack it, then give the folder of one.",
  );
}

async function packagesBelow(folder: string, depth: number): Promise<readonly string[]> {
  if (await isFile(join(folder, "task.toml"))) return [folder];
  if (depth === depthLimit) return [];
  const entries = await readdir(folder, { withFileTypes: true });
  const inner = entries.filter((entry) => entry.isDirectory() && entry.name !== ".git").map((entry) => join(folder, entry.name));
  return (await Promise.all(inner.map((path) => packagesBelow(path, depth + 1)))).flat();
}

/** All or nothing: copied beside the target, then renamed. */
async function place(from: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const beside = await mkdtemp(join(dirname(target), ".import-"));
  try {
    const copy = join(beside, "package");
    await cp(from, copy, { recursive: true, verbatimSymlinks: true, filter: (path) => basename(path) !== ".git" });
    await rename(copy, target);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}
