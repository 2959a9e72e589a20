/**
 * What ended boxes left on disk, removed many at a time by one program of the system: removing folders can wait long for a busy disk, and
 * the service must not wait with it. An agent may have made a tree hard to remove; such programs step down folder by folder and know no
 * path that is too long.
 */
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sandboxError } from "../sandbox-error.ts";

/** Others that end meanwhile go with it. */
const gatherMs = 200;
const remove = 'rm -rf -- "$@" 2>/dev/null || { chmod -R --quiet u+rwX -- "$@"; rm -rf -- "$@"; }';

export interface Trash {
  /** Takes a folder out of sight at once; it is gone a moment later. */
  take(folder: string): void;
  /** Resolves when nothing is left, also of what an earlier service left. */
  empty(): Promise<void>;
}

/** `folder` lies on the same disk as what is taken. `run` runs a program to its end. */
export function openTrash(folder: string, run: (command: readonly string[]) => Promise<void>): Trash {
  let sweeping: Promise<void> | null = null;
  const sweep = async (): Promise<void> => {
    await delay(gatherMs, undefined, { ref: false });
    const names = namesIn(folder);
    if (names.length > 0) await run(["/bin/sh", "-c", remove, "sh", ...names.map((name) => join(folder, name))]);
  };
  const sweepOnce = (): Promise<void> => {
    sweeping ??= sweep().finally(() => {
      sweeping = null;
    });
    return sweeping;
  };
  return {
    take: (taken) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      renameSync(taken, join(folder, basename(taken)));
      sweepOnce().then(
        // What came too late for this one.
        () => (namesIn(folder).length > 0 ? sweepOnce() : undefined),
        // What cannot be removed now stays in the trash, for `empty` to say so.
        () => undefined,
      );
    },
    empty: async () => {
      for (let attempt = 0; attempt < 3 && namesIn(folder).length > 0; attempt += 1) await sweepOnce();
      const left = namesIn(folder);
      if (left.length > 0) throw sandboxError("setup-failed", `${join(folder, left[0] ?? "")} cannot be removed.`, "Remove it by hand.");
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
