/** What one local sandbox has on disk: its writable folders and a record by which a later service finds and ends it. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
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

/** Minimal account and name-service files; `agent` is the one user. The resolver points at nothing, so that look-ups fail at once. */
export const accountFiles: Readonly<Record<string, string>> = {
  passwd: "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n",
  group: "root:x:0:\nagent:x:1000:\n",
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
  hostname: "sandbox\n",
  "resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

export async function createBoxFolder(parent: string, record: BoxRecord, identity: BoxIdentity): Promise<string> {
  const folder = join(parent, randomBytes(6).toString("hex"));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeBoxRecord(folder, record);
  const made = [...Object.keys(writableFolders), "etc", "work"];
  await Promise.all(made.map((name) => mkdir(join(folder, name), { mode: 0o755 })));
  await Promise.all(["agent", "verifier", "artifacts"].map((name) => mkdir(join(folder, "logs", name), { mode: 0o755 })));
  await Promise.all(Object.entries(accountFiles).map(([name, text]) => writeFile(join(folder, "etc", name), text, { mode: 0o644 })));
  if (identity.lent) {
    const given = ["", ...made.filter((name) => name !== "etc"), "logs/agent", "logs/verifier", "logs/artifacts"];
    await Promise.all(given.map((name) => chown(join(folder, name), identity.uid, identity.gid)));
  }
  return folder;
}

export async function writeBoxRecord(folder: string, record: BoxRecord): Promise<void> {
  const beside = join(folder, "box.json.new");
  await writeFile(beside, JSON.stringify(record), { mode: 0o600 });
  await rename(beside, join(folder, "box.json"));
}

/** Every box folder; the record is null where the service died before it was whole. */
export async function boxFolders(parent: string): Promise<readonly { readonly folder: string; readonly record: BoxRecord | null }[]> {
  const names = await readdir(parent).catch(() => []);
  return Promise.all(
    names.map(async (name) => {
      const folder = join(parent, name);
      return { folder, record: await readRecord(join(folder, "box.json")) };
    }),
  );
}

async function readRecord(path: string): Promise<BoxRecord | null> {
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/**
 * Removes a tree that an agent may have made hard to remove: folders without permissions are opened first, links never followed. The
 * system's own programs do what is left, since they step down folder by folder and know no path that is too long.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await promisify(execFile)("chmod", ["-R", "--quiet", "u+rwX", "--", path]).catch(() => undefined);
    await promisify(execFile)("rm", ["-rf", "--", path]);
  }
}
