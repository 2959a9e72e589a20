/** Refuses bodies and calls while a reserve of the disk is still free, so that outcomes, events and the database itself can be written. */
import { statfsSync } from "node:fs";
import { WorkbenchError } from "../errors.ts";

export interface DiskGuard {
  /** Throws when writing `bytes` more would touch the reserve. */
  allow(bytes: number): void;
}

/** Between two looks at the disk at most this much is written, and at most this time passes. */
const lookAfterBytes = 8 * 1024 * 1024;
const lookAfterMs = 1000;

export function createDiskGuard(folder: string, reserveBytes: number): DiskGuard {
  let unseen = Number.POSITIVE_INFINITY;
  let lookedAt = 0;
  let free = 0;
  return {
    allow(bytes) {
      unseen += bytes;
      const now = Date.now();
      if (unseen >= lookAfterBytes || now - lookedAt >= lookAfterMs || now < lookedAt || free - unseen < reserveBytes) {
        const disk = statfsSync(folder);
        free = disk.bavail * disk.bsize;
        unseen = bytes;
        lookedAt = now;
      }
      if (free - unseen < reserveBytes) throw diskFull(folder, free);
    },
  };
}

/** The sentence for a disk that is full or nearly so. */
export function diskFull(folder: string, freeBytes: number | null, cause?: unknown): WorkbenchError {
  const left = freeBytes === null ? "is full" : `has only ${Math.floor(freeBytes / 1e6)} MB left`;
  return new WorkbenchError(
    "store",
    `The disk of the data folder ${folder} ${left}; nothing more is recorded.`,
    "Free some space (delete experiments you no longer need), or move to a larger disk with --data.",
    { cause },
  );
}
