/** A box's files for the verifier: places made fresh and files read by the service itself. */
import { chmodSync, closeSync, readdirSync, readSync, renameSync, rmdirSync, type Stats, unlinkSync } from "node:fs";
import { posix } from "node:path";
import type { DirectFiles, PlainFile } from "../contract.ts";
import type { ProcessIdentity } from "../host-processes.ts";
import { type FileOwner, makeFolder, openPlainFile, type Place, withFolder } from "./box-tree.ts";

export function directFiles(firstProcess: () => Promise<ProcessIdentity>, owner: FileOwner, programs: DirectFiles["programs"]): DirectFiles {
  return {
    programs,
    freshFolder: async (path, mode) => {
      const parent = posix.dirname(path);
      return withFolder(
        await firstProcess(),
        parent,
        (place) => (place === null ? `${parent} is no folder any more` : freshFolder(place, path, owner, mode)),
        { links: false },
      );
    },
    emptyFolder: async (path) =>
      withFolder(await firstProcess(), path, (place) => (place === null || emptied(place) ? null : `${path} cannot be emptied`), { links: false }),
    readPlain: async (path, limitBytes) =>
      withFolder(
        await firstProcess(),
        posix.dirname(path),
        (place): PlainFile => (place === null ? { state: "missing" } : readPlain(place, posix.basename(path), limitBytes)),
        { links: false },
      ),
    measure: async (path, entryLimit) =>
      withFolder(
        await firstProcess(),
        path,
        (place) => {
          const sum = { bytes: 0, entries: 0 };
          if (place !== null) measure(place, entryLimit, sum);
          return sum;
        },
        { links: false },
      ),
  };
}

function freshFolder(parent: Place, path: string, owner: FileOwner, mode: number): string | null {
  const name = posix.basename(path);
  const found = parent.look(name);
  if (found !== null && !found.isDirectory()) unlinkSync(parent.at(name));
  if (found?.isDirectory() && !quietly(() => renameSync(parent.at(name), parent.at(`${name}.left-${Date.now()}`)))) {
    // A mount point: it is emptied where it is.
    const folder = parent.folder(name);
    const done = folder !== null && emptied(folder);
    folder?.close();
    if (!done) return `${path} cannot be emptied`;
  }
  if (parent.look(name) === null && !quietly(() => makeFolder(parent, name, owner, mode))) return `${path} cannot be made`;
  const made = parent.folder(name);
  if (made === null) return `${path} cannot be made an empty folder`;
  try {
    chmodSync(made.path, mode);
    return readdirSync(made.path).length === 0 ? null : `${path} cannot be made an empty folder`;
  } finally {
    made.close();
  }
}

/**
 * Removes everything below. What a folder holds is moved up before the folder is removed, so that no depth is too
 * deep for a path.
 */
function emptied(top: Place): boolean {
  let moved = 0;
  try {
    for (;;) {
      const names = readdirSync(top.path);
      if (names.length === 0) return true;
      for (const name of names) {
        if (top.look(name)?.isDirectory() !== true) unlinkSync(top.at(name));
        else if (!quietly(() => rmdirSync(top.at(name)))) {
          const below = top.folder(name);
          if (below === null) return false;
          chmodSync(below.path, 0o700);
          for (const child of readdirSync(below.path)) {
            moved += 1;
            renameSync(below.at(child), top.at(`.left-${Date.now()}-${moved}`));
          }
          below.close();
          rmdirSync(top.at(name));
        }
      }
    }
  } catch {
    return false;
  }
}

function quietly(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

function readPlain(parent: Place, name: string, limit: number): PlainFile {
  const found = parent.look(name);
  if (found === null) return { state: "missing" };
  const refusal = refusalOf(found, limit);
  if (refusal !== null) return { state: "unreadable", reason: refusal };
  const file = openPlainFile(parent, name);
  if (file === null) return { state: "unreadable", reason: "closed to its reader" };
  try {
    const bytes = Buffer.alloc(limit + 1);
    const length = readSync(file.fd, bytes, 0, bytes.length, 0);
    return length > limit ? { state: "unreadable", reason: "still growing" } : { state: "file", bytes: bytes.subarray(0, length) };
  } finally {
    closeSync(file.fd);
  }
}

function refusalOf(found: Stats, limit: number): string | null {
  if (found.isSymbolicLink()) return "a link, not a plain file";
  if (!found.isFile()) return "no plain file";
  return found.size > limit ? `larger than ${limit / 1024} KiB` : null;
}

function measure(folder: Place, entryLimit: number, sum: { bytes: number; entries: number }): void {
  for (const name of readdirSync(folder.path)) {
    sum.entries += 1;
    if (sum.entries > entryLimit) return;
    const below = folder.folder(name);
    if (below === null) {
      sum.bytes += folder.look(name)?.size ?? 0;
      continue;
    }
    try {
      measure(below, entryLimit, sum);
    } finally {
      below.close();
    }
  }
}
