/** What one local sandbox has on disk: its writable folders and a record by which a later service finds and ends it. */
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { BoxIdentity } from "./identity.ts";

const recordSchema = z.object({
  ownerId: z.string(),
  rolloutId: z.string(),
  /** First process of the box and its start time; null while it has not started. */
  init: z.object({ pid: z.number().int().positive(), startTime: z.string() }).nullable(),
  cgroups: z.array(z.string()),
});
export type BoxRecord = z.infer<typeof recordSchema>;

/** Writable folders: name on disk → path inside. */
export const writableFolders = {
  app: "/app",
  logs: "/logs",
  tests: "/tests",
  solution: "/solution",
  runtime: "/runtime",
  home: "/home/agent",
  tmp: "/tmp",
  vartmp: "/var/tmp",
} as const;

const folders = [...Object.keys(writableFolders), "logs/agent", "logs/verifier", "logs/artifacts"];

/** `withWork`: a further folder, for a working folder that is in none of the standing ones. Made one after the other: a disk is no faster for many hands. */
export function createBoxFolder(parent: string, name: string, record: BoxRecord, identity: BoxIdentity, withWork: boolean): string {
  const folder = join(parent, name);
  mkdirSync(folder, { mode: 0o700 });
  writeBoxRecord(folder, record);
  for (const path of withWork ? [...folders, "work"] : folders) {
    const made = join(folder, path);
    mkdirSync(made);
    // Exactly, whatever the service's umask.
    chmodSync(made, 0o755);
    if (identity.lent) chownSync(made, identity.uid, identity.gid);
  }
  if (identity.lent) chownSync(folder, identity.uid, identity.gid);
  return folder;
}

/** Makes the folder that boxes come and go in. */
export function makeBoxParent(parent: string): void {
  mkdirSync(parent, { recursive: true });
  chmodSync(parent, 0o711);
}

export function boxName(): string {
  return randomBytes(6).toString("hex");
}

export function writeBoxRecord(folder: string, record: BoxRecord): void {
  const beside = join(folder, "box.json.new");
  writeFileSync(beside, JSON.stringify(record), { mode: 0o600 });
  renameSync(beside, join(folder, "box.json"));
}

/** Every box folder; the record is null where the service died before it was whole. */
export function boxFolders(parent: string): readonly { readonly folder: string; readonly record: BoxRecord | null }[] {
  return namesIn(parent).map((name) => {
    const folder = join(parent, name);
    return { folder, record: readRecord(join(folder, "box.json")) };
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readRecord(path: string): BoxRecord | null {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return null;
  }
}
