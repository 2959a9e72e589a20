/**
 * A box's file system as the service walks it, from the first process's root. A path means inside what it means to a program there:
 * each folder is opened from the one before it and no link is followed by the kernel, so that nothing an agent plants or swaps, at
 * whatever moment, leads out of the box. Links on the way are read and followed here, inside the box. Linux only.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { posix } from "node:path";
import { isAlive, type ProcessIdentity } from "../host-processes.ts";
import { sandboxLost } from "../sandbox-error.ts";

/** Opens a place without any right to its content; not among Node's constants. */
const onlyPlace = 0o10000000;
const folderFlags = onlyPlace | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** As many as the kernel follows. */
const longestChain = 40;

/** An open folder inside; `at` is a path of this machine for one entry of it. */
export class Place {
  readonly fd: number;
  constructor(fd: number) {
    this.fd = fd;
  }
  get path(): string {
    return `/proc/self/fd/${this.fd}`;
  }
  /** `name` is one path component, never `..`. */
  at(name: string): string {
    return `/proc/self/fd/${this.fd}/${name}`;
  }
  names(): readonly string[] {
    return readdirSync(this.path);
  }
  /** What is there itself, be it a link; null = nothing. */
  look(name: string): Stats | null {
    return lstatSync(this.at(name), { throwIfNoEntry: false }) ?? null;
  }
  /** A folder in this one; null when there is none of this name, or it is a link or a file. */
  folder(name: string): Place | null {
    try {
      return new Place(openSync(this.at(name), folderFlags));
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }
  close(): void {
    closeSync(this.fd);
  }
}

export interface WalkOptions {
  /** Makes a folder that is missing; its place is then looked up again. */
  readonly make?: (parent: Place, name: string) => void;
  /** Follow links, inside the box. Default true. */
  readonly links?: boolean;
}

/** Calls `use` with the folder at an absolute path inside, open; with null when there is none. */
export async function withFolder<T>(
  first: ProcessIdentity,
  path: string,
  use: (place: Place | null) => T | Promise<T>,
  options: WalkOptions = {},
): Promise<T> {
  const way: Place[] = [rootOf(first)];
  try {
    return await use(walk(way, posix.normalize(path), options));
  } finally {
    for (const place of way) place.close();
  }
}

/** What is at a path, links followed inside the box; null = nothing. */
export async function lookThrough(first: ProcessIdentity, path: string, linksLeft = longestChain): Promise<Stats | null> {
  const name = posix.basename(path);
  const found = await withFolder(first, posix.dirname(path), (place) => {
    const stats = place?.look(name) ?? null;
    return { stats, target: place !== null && stats?.isSymbolicLink() ? linkTarget(place, name) : null };
  });
  if (found.target === null || linksLeft === 0) return found.stats;
  return lookThrough(first, posix.resolve(posix.dirname(path), found.target), linksLeft - 1);
}

/** By the number of a process that has ended, another one may go by now: it must not be taken for the box. */
function rootOf(first: ProcessIdentity): Place {
  try {
    const root = new Place(openSync(`/proc/${first.pid}/root`, onlyPlace | constants.O_DIRECTORY));
    if (isAlive(first)) return root;
    root.close();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ESRCH") throw error;
  }
  throw sandboxLost("its first process ended");
}

/** Goes down `path`; `way` holds the open folders from the root on, for `..` and for closing them. */
function walk(way: Place[], path: string, { make, links = true }: WalkOptions): Place | null {
  const rest = path.split("/");
  let followed = 0;
  while (rest.length > 0) {
    const name = rest.shift() ?? "";
    const here = way.at(-1);
    if (here === undefined) return null;
    if (name === "" || name === ".") continue;
    if (name === "..") {
      if (way.length > 1) way.pop()?.close();
      continue;
    }
    let next = here.folder(name);
    if (next === null && links) {
      const target = linkTarget(here, name);
      if (target !== null) {
        followed += 1;
        if (followed > longestChain) return null;
        if (target.startsWith("/")) for (const place of way.splice(1)) place.close();
        rest.unshift(...target.split("/"));
        continue;
      }
    }
    if (next === null && make !== undefined) {
      make(here, name);
      next = here.folder(name);
    }
    if (next === null) return null;
    way.push(next);
  }
  return way.at(-1) ?? null;
}

function linkTarget(place: Place, name: string): string | null {
  try {
    return readlinkSync(place.at(name));
  } catch (error) {
    if (isAbsent(error) || (error as NodeJS.ErrnoException).code === "EINVAL") return null;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Who the files inside belong to; null = whoever the service runs as. */
export type FileOwner = { readonly uid: number; readonly gid: number } | null;

/** Makes a folder; an existing one stays as it is. */
export function makeFolder(parent: Place, name: string, owner: FileOwner, mode = 0o755): void {
  mkdirSync(parent.at(name), { mode });
  const made = parent.folder(name);
  if (made === null) return;
  try {
    // By the open folder: its name may be a link by now.
    if (owner !== null) chownSync(made.path, owner.uid, owner.gid);
    chmodSync(made.path, mode);
  } finally {
    made.close();
  }
}

/** A new plain file in place of whatever is there; a folder of that name is an error. */
export async function createFile(
  parent: Place,
  name: string,
  owner: FileOwner,
  mode: number,
  write: (fd: number) => void | Promise<void>,
): Promise<void> {
  if (parent.look(name) !== null) unlinkSync(parent.at(name));
  const fd = openSync(parent.at(name), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    await write(fd);
    if (owner !== null) fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

/** Opens a plain file for reading; null when it is none. Neither waits for a pipe's other end nor follows a link. */
export function openPlainFile(parent: Place, name: string): { readonly fd: number; readonly stats: Stats } | null {
  let fd: number;
  try {
    fd = openSync(parent.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error) || (error as NodeJS.ErrnoException).code === "ENXIO") return null;
    throw error;
  }
  const stats = fstatSync(fd);
  if (stats.isFile()) return { fd, stats };
  closeSync(fd);
  return null;
}
