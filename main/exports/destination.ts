/** Where an export goes: written beside its place under a passing name, and renamed when it is whole. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { WorkbenchError } from "../errors.ts";

/**
 * Calls `write` with the path to write to and puts what it wrote at `path`. A failure leaves `path` as it was. Rejects with
 * WorkbenchError when something is there and `force` is not set, or when the folder cannot be written to.
 */
export async function writeWhole<T>(
  path: string,
  force: boolean,
  write: (path: string) => Promise<T>,
): Promise<{ readonly result: T; readonly bytes: number }> {
  const part = join(dirname(path), `.${basename(path)}.${process.pid}.part`);
  try {
    await refuseToReplace(path, force);
    await makeFolders(dirname(path));
  } catch (error) {
    throw asUsable(error, path);
  }
  try {
    await rm(part, { recursive: true, force: true });
    const result = await write(part);
    const bytes = await sizeOf(part);
    await replace(part, path);
    return { result, bytes };
  } catch (error) {
    throw asUsable(error, path);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/** Even with force, of folders only those that an export has written are replaced: a mistyped path must not cost a person's files. */
async function refuseToReplace(path: string, force: boolean): Promise<void> {
  if (!(await exists(path))) return;
  if (!force) throw new WorkbenchError("usage", `${path} is there already.`, "Give another --out, or --force to replace it.");
  if ((await stat(path)).isDirectory() && !isExport(await readdir(path)))
    throw new WorkbenchError("usage", `${path} is a folder that no export has written, so it is not replaced.`, "Give another --out.");
}

/** Nothing, a job, or a file each rollout. */
function isExport(names: readonly string[]): boolean {
  const isJob = ["config.json", "lock.json", "result.json"].every((name) => names.includes(name));
  return isJob || names.every((name) => name === "images" || /^r-[0-9a-f]+\.(?:json|html)$/.test(name));
}

/** Writes pieces of text one after another, no faster than the disk takes them. */
export async function writeLines(path: string, lines: AsyncIterable<string>): Promise<void> {
  const file = createWriteStream(path);
  const broken = new Promise<never>((_resolve, reject) => {
    file.once("error", reject);
  });
  const written = async (): Promise<void> => {
    for await (const line of lines) {
      if (!file.write(line)) await once(file, "drain");
    }
    await new Promise<void>((resolve) => {
      file.end(resolve);
    });
  };
  try {
    await Promise.race([written(), broken]);
  } finally {
    file.destroy();
  }
}

/** Step by step: Node's own recursive making never ends on a file system that refuses folders (/proc). */
async function makeFolders(path: string): Promise<void> {
  if (await exists(path)) return;
  await makeFolders(dirname(path));
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT")
      throw new WorkbenchError("usage", `${path} cannot be made: no folders can be made there.`, "Give another --out.", { cause: error });
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** A file replaces a file at once; a folder is moved away first. */
async function replace(part: string, path: string): Promise<void> {
  const isFolder = (await exists(path)) && (await stat(path)).isDirectory();
  if (!isFolder && !(await stat(part)).isDirectory()) {
    await rename(part, path);
    return;
  }
  const old = `${part}.old`;
  await rm(old, { recursive: true, force: true });
  if (await exists(path)) await rename(path, old);
  try {
    await rename(part, path);
  } catch (error) {
    if (await exists(old)) await rename(old, path);
    throw error;
  }
  await rm(old, { recursive: true, force: true });
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function sizeOf(path: string): Promise<number> {
  const entry = await stat(path);
  if (!entry.isDirectory()) return entry.size;
  const names = await readdir(path);
  const sizes = await Promise.all(names.map((name) => sizeOf(join(path, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

const sentences: Readonly<Record<string, string>> = {
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  ENOTDIR: "a part of the path is a file",
  EEXIST: "a part of the path is a file",
  ENAMETOOLONG: "the name is too long",
};

/** What a person can change, in a sentence; anything else stays as it is. */
function asUsable(error: unknown, path: string): unknown {
  const sentence = sentences[codeOf(error) ?? ""];
  return sentence === undefined
    ? error
    : new WorkbenchError("usage", `${path} cannot be written: ${sentence}.`, "Give another --out.", { cause: error });
}
