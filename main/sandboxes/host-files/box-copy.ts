/**
 * Files into and out of a box by the service itself, without a process inside. What goes in is as it was, and the box user's own. What
 * comes out is plain files and folders: links, devices, pipes and what the box's user closed to himself stay behind; the size is bounded.
 */
import {
  chmodSync,
  closeSync,
  futimesSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { copyFile, realpath } from "node:fs/promises";
import { join, posix } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { WorkbenchError } from "../../errors.ts";
import type { UploadEntry } from "../contract.ts";
import type { ProcessIdentity } from "../host-processes.ts";
import { sandboxError } from "../sandbox-error.ts";
import { entryLimit, tooMuch, transferLimitBytes, transferLimitText } from "../transfer-limits.ts";
import { createFile, type FileOwner, makeFolder, openPlainFile, type Place, withFolder } from "./box-tree.ts";

/** Up to here a file is copied at once, which is many times cheaper than by a worker thread; so much is also copied between two breaks. */
const atOnceBytes = 256 * 1024;
/** A path longer than the system takes cannot be written on the other side either. */
const deepest = 200;

/** Lets others have their turn after so much work. */
class Breaks {
  #work = 0;
  async after(bytes: number): Promise<void> {
    this.#work += bytes + 2_000;
    if (this.#work < atOnceBytes) return;
    this.#work = 0;
    await nextTurn();
  }
}

/** The host file `hostPath` as the file `insidePath`, or what the host folder of that path holds into the folder of that name. */
export async function copyIn(first: ProcessIdentity, owner: FileOwner, hostPath: string, insidePath: string): Promise<void> {
  const source = await realpath(hostPath).catch(() => {
    throw new WorkbenchError("sandbox", `There is no ${hostPath} to copy into the sandbox.`, "Check the path.");
  });
  const found = lstatSync(source);
  const folder = found.isDirectory() ? insidePath : posix.dirname(insidePath);
  await intoFolder(first, owner, folder, async (place) => {
    const breaks = new Breaks();
    if (found.isDirectory()) await copyFolderIn(source, place, owner, breaks);
    else await copyEntryIn(source, found, place, posix.basename(insidePath), owner, breaks);
  });
}

export async function copyEntriesIn(first: ProcessIdentity, owner: FileOwner, entries: readonly UploadEntry[], insideFolder: string): Promise<void> {
  await intoFolder(first, owner, insideFolder, async (top) => {
    const breaks = new Breaks();
    const open = new Map<string, Place>([["", top]]);
    try {
      for (const { name, hostFile, mode } of entries) {
        const parent = open.get(posix.dirname(name).replace(/^\.$/, ""));
        if (parent === undefined) throw refusedAt(insideFolder, `the folder of ${name} is not among the files`);
        const own = posix.basename(name);
        if (hostFile === null) {
          const folder = takeFolder(parent, own, owner);
          open.set(name, folder);
          chmodSync(folder.path, mode);
        } else await copyFileIn(hostFile, statSync(hostFile), parent, own, owner, mode, breaks);
      }
    } finally {
      open.delete("");
      for (const place of open.values()) place.close();
    }
  });
}

export async function writeIn(first: ProcessIdentity, owner: FileOwner, insidePath: string, bytes: Uint8Array, mode: number): Promise<void> {
  await intoFolder(first, owner, posix.dirname(insidePath), (place) =>
    createFile(place, posix.basename(insidePath), owner, mode, (fd) => writeFileSync(fd, bytes)),
  );
}

async function intoFolder(first: ProcessIdentity, owner: FileOwner, folder: string, use: (place: Place) => void | Promise<void>): Promise<void> {
  const make = (parent: Place, name: string): void => makeFolder(parent, name, owner);
  try {
    await withFolder(
      first,
      folder,
      async (place) => {
        if (place === null) throw refusedAt(folder, "it is no folder");
        await use(place);
      },
      { make },
    );
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    throw refusedAt(folder, message.replaceAll(/\/proc\/\S+/g, "").replace(/^\w+: /, ""));
  }
}

function refusedAt(folder: string, why: string): Error {
  return sandboxError("setup-failed", `Files could not be copied to ${folder}: ${why}.`, "Use a writable folder with room.");
}

async function copyFolderIn(source: string, place: Place, owner: FileOwner, breaks: Breaks): Promise<void> {
  for (const name of readdirSync(source)) {
    const path = join(source, name);
    await copyEntryIn(path, lstatSync(path), place, name, owner, breaks);
  }
}

async function copyEntryIn(source: string, found: Stats, place: Place, name: string, owner: FileOwner, breaks: Breaks): Promise<void> {
  const mode = found.mode & 0o7777;
  if (found.isDirectory()) {
    const below = takeFolder(place, name, owner);
    try {
      await copyFolderIn(source, below, owner, breaks);
      chmodSync(below.path, mode);
    } finally {
      below.close();
    }
  } else if (found.isSymbolicLink()) {
    if (place.look(name) !== null) unlinkSync(place.at(name));
    symlinkSync(readlinkSync(source), place.at(name));
    if (owner !== null) lchownSync(place.at(name), owner.uid, owner.gid);
  } else if (found.isFile()) await copyFileIn(source, found, place, name, owner, mode, breaks);
  await breaks.after(0);
}

/** The folder of this name, made where there is none; a file or link of the name gives way. */
function takeFolder(parent: Place, name: string, owner: FileOwner): Place {
  const found = parent.look(name);
  if (found !== null && !found.isDirectory()) unlinkSync(parent.at(name));
  if (!found?.isDirectory()) makeFolder(parent, name, owner);
  const folder = parent.folder(name);
  if (folder === null) throw refusedAt(name, "it is no folder");
  return folder;
}

async function copyFileIn(source: string, found: Stats, place: Place, name: string, owner: FileOwner, mode: number, breaks: Breaks): Promise<void> {
  await createFile(place, name, owner, mode, async (fd) => {
    if (found.size > atOnceBytes) await copyFile(source, `/proc/self/fd/${fd}`);
    else writeFileSync(fd, readFileSync(source));
    futimesSync(fd, found.atime, found.mtime);
  });
  await breaks.after(Math.min(found.size, atOnceBytes));
}

/** A file, or what a folder holds, to the host path `target`; false when there is no such thing. */
export async function copyOut(first: ProcessIdentity, insidePath: string, target: string): Promise<boolean> {
  const copy: Copy = { insidePath, breaks: new Breaks(), bytes: 0, entries: 0 };
  return withFolder(first, posix.dirname(insidePath), async (place) => {
    if (place === null) return false;
    try {
      return await copyEntryOut(copy, place, posix.basename(insidePath), target, 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENAMETOOLONG") throw tooMuch(insidePath, "a path can name");
      throw error;
    }
  });
}

interface Copy {
  readonly insidePath: string;
  readonly breaks: Breaks;
  bytes: number;
  entries: number;
}

async function copyEntryOut(copy: Copy, place: Place, name: string, target: string, depth: number): Promise<boolean> {
  copy.entries += 1;
  if (copy.entries > entryLimit) throw tooMuch(copy.insidePath, `${entryLimit} files`);
  if (depth > deepest) throw tooMuch(copy.insidePath, `${deepest} folders deep`);
  const folder = place.folder(name);
  if (folder !== null) {
    try {
      await copyFolderOut(copy, folder, target, depth);
    } finally {
      folder.close();
    }
    return true;
  }
  // Looked at before it is opened: opening a pipe may wake the one at its other end.
  if (place.look(name)?.isFile() !== true) return false;
  const file = openPlainFile(place, name);
  if (file === null) return false;
  try {
    const { size, mode } = file.stats;
    copy.bytes += size;
    if (copy.bytes > transferLimitBytes) throw tooMuch(copy.insidePath, transferLimitText);
    await copy.breaks.after(Math.min(size, atOnceBytes));
    // Files belong to the service, and it can always read and remove them.
    if (size > atOnceBytes) await copyFile(`/proc/self/fd/${file.fd}`, target);
    else writeFileSync(target, readFileSync(file.fd));
    chmodSync(target, (mode & 0o755) | 0o600);
  } finally {
    closeSync(file.fd);
  }
  return true;
}

async function copyFolderOut(copy: Copy, folder: Place, target: string, depth: number): Promise<void> {
  mkdirSync(target, { recursive: true, mode: 0o700 });
  for (const name of namesIn(folder)) await copyEntryOut(copy, folder, name, join(target, name), depth + 1);
}

/** None of a folder that the box's user closed to himself, where the service is that user. */
function namesIn(folder: Place): readonly string[] {
  try {
    return readdirSync(folder.path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EACCES") return [];
    throw error;
  }
}
