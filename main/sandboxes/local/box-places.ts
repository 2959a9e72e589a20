/**
 * Where boxes lie: on the service's disk, or in memory (`/dev/shm`) where their task needs little room. Making and removing the folders of a
 * box takes a disk longer than most of what is done in them. In memory they count against the box's own limit of memory.
 */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { makeBoxParent } from "./box-folder.ts";
import { openTrash, type Trash } from "./trash.ts";

/** A box whose task asks for no more room than this lies in memory. */
const inMemoryMb = 64;
/** So much must be free there. */
const spareBytes = 1024 ** 3;
const sharedMemory = "/dev/shm";
const trashName = "local-trash";

export interface BoxPlace {
  /** Holds one folder a box. */
  readonly boxes: string;
  readonly trash: Trash;
  readonly inMemory: boolean;
}

interface BoxPlaces {
  /** `storageMb`: what the task asks for; null = it does not say. */
  of(storageMb: number | null): BoxPlace;
  /** Those where boxes may lie, an earlier service's too. */
  readonly all: readonly BoxPlace[];
}

/** `run` runs a program to its end. */
export function boxPlaces(stateFolder: string, run: (command: readonly string[]) => Promise<void>): BoxPlaces {
  const placeIn = (parent: string, inMemory: boolean): BoxPlace => ({
    boxes: join(parent, "local"),
    trash: openTrash(join(parent, trashName), run),
    inMemory,
  });
  const disk = placeIn(stateFolder, false);
  const name = `openforge-${createHash("sha256").update(stateFolder).digest("hex").slice(0, 16)}`;
  const own = join(sharedMemory, name);
  const memory = placeIn(own, true);
  let made: boolean | null = null;
  const isMade = (): boolean => {
    made ??= takesPrograms() && makeOwn(own, memory.boxes);
    return made;
  };
  return {
    of: (storageMb) => (storageMb !== null && storageMb <= inMemoryMb && isMade() && hasRoom() ? memory : disk),
    get all() {
      return existsSync(own) && isMade() ? [disk, memory] : [disk];
    },
  };
}

/** Everybody may write in `/dev/shm`: a folder that is not ours is not used. Without a box it goes when the service ends. */
function makeOwn(own: string, boxes: string): boolean {
  try {
    if (!existsSync(own)) mkdirSync(own, { mode: 0o711 });
    const found = lstatSync(own);
    if (!found.isDirectory() || found.uid !== process.geteuid?.()) return false;
    makeBoxParent(own);
    makeBoxParent(boxes);
    process.once("exit", () => {
      orLeave(() => rmSync(join(own, trashName), { recursive: true, force: true }));
      for (const folder of [boxes, own]) orLeave(() => rmdirSync(folder));
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return false;
  }
}

/** What cannot be removed now is left to the next service on this data folder. */
function orLeave(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
  }
}

/** Mounted, in memory, and not so that no program may be run there. */
function takesPrograms(): boolean {
  const mounts = process.platform === "linux" ? readFileSync("/proc/self/mounts", "utf8").split("\n") : [];
  const [, , kind, options = ""] = mounts.map((line) => line.split(" ")).findLast(([, place]) => place === sharedMemory) ?? [];
  return kind === "tmpfs" && !options.split(",").includes("noexec");
}

function hasRoom(): boolean {
  const { bavail, bsize } = statfsSync(sharedMemory);
  return bavail * bsize >= spareBytes;
}
