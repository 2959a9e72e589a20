/**
 * Limits for a whole box by control groups, where this service may make them: version 1 (one tree a controller, root only in practice)
 * or version 2 (below the nearest folder that is delegated to this user). Where it may not, `prlimit` limits single processes instead.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { access, constants, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { SystemTools } from "./system-tools.ts";

const run = promisify(execFile);

export interface BoxLimits {
  readonly cpus: number | null;
  readonly memoryMb: number;
  readonly processes: number;
}

/** Where groups can be made: one folder per controller in version 1, one folder for all in version 2. */
export type CgroupRoot =
  | { readonly version: 1; readonly memory: string; readonly pids: string; readonly cpu: string | null }
  | { readonly version: 2; readonly folder: string; readonly cpu: boolean };

export interface BoxCgroups {
  readonly folders: readonly string[];
  /** Times the kernel killed something in this box for want of memory. */
  outOfMemoryKills(): number;
}

const oneMegabyte = 1024 ** 2;
const period = 100_000;

/** Looks for a place and proves it by making and removing a group there; null = only prlimit. */
export async function findCgroupRoot(): Promise<CgroupRoot | null> {
  const own = parseOwnGroups(await readFile("/proc/self/cgroup", "utf8").catch(() => ""));
  for (const root of [await versionOne(own), await versionTwo(own)]) {
    if (root !== null && (await worksReally(root))) return root;
  }
  return null;
}

function parseOwnGroups(text: string): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    for (const controller of controllers.split(",")) groups.set(controller, path);
  }
  return groups;
}

async function versionOne(own: ReadonlyMap<string, string>): Promise<CgroupRoot | null> {
  const [memory, pids, cpu] = await Promise.all(
    ["memory", "pids", "cpu"].map(async (controller) => {
      const path = own.get(controller);
      if (path === undefined) return null;
      const places = [join("/sys/fs/cgroup", controller, path), join("/sys/fs/cgroup", controller)];
      return (await firstWritable(places)) ?? null;
    }),
  );
  if (!memory || !pids) return null;
  return { version: 1, memory, pids, cpu: cpu ?? null };
}

async function versionTwo(own: ReadonlyMap<string, string>): Promise<CgroupRoot | null> {
  const path = own.get("");
  if (path === undefined) return null;
  // A group that holds processes cannot hand controllers down; its ancestors can.
  for (let folder = dirname(join("/sys/fs/cgroup", path)); folder.startsWith("/sys/fs/cgroup"); folder = dirname(folder)) {
    const handedDown = (await readFile(join(folder, "cgroup.subtree_control"), "utf8").catch(() => "")).split(/\s+/);
    if (!handedDown.includes("memory") || !handedDown.includes("pids")) continue;
    if ((await firstWritable([folder])) !== undefined) return { version: 2, folder, cpu: handedDown.includes("cpu") };
  }
  return null;
}

async function firstWritable(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const files = [folder, join(folder, "cgroup.procs")];
    if (
      (
        await Promise.all(
          files.map((file) =>
            access(file, constants.W_OK).then(
              () => true,
              () => false,
            ),
          ),
        )
      ).every(Boolean)
    )
      return folder;
  }
  return undefined;
}

async function worksReally(root: CgroupRoot): Promise<boolean> {
  const name = `probe-${randomBytes(6).toString("hex")}`;
  try {
    const groups = createCgroups(root, name, { cpus: 1, memoryMb: 64, processes: 16 });
    // Making a group is one right, moving a process into it another.
    const [program = "", ...args] = joinCgroups({ sh: "/bin/sh" }, groups.folders, ["true"]);
    await run(program, args);
    return true;
  } catch {
    return false;
  } finally {
    await removeCgroups(cgroupFolders(root, name, true));
  }
}

/** `command`, run by a shell that first moves itself into the groups and allows no core dumps. */
export function joinCgroups(tools: Pick<SystemTools, "sh">, folders: readonly string[], command: readonly string[]): readonly string[] {
  const groups =
    folders.length === 0
      ? ""
      : `for group in ${folders.map((folder) => `'${folder}'`).join(" ")}; do echo 0 > "$group/cgroup.procs" || exit 125; done; `;
  return [tools.sh, "-c", `${groups}ulimit -c 0; exec "$@"`, "sh", ...command];
}

/** Folders of a box's groups, by which a later service finds them. */
export function cgroupFolders(root: CgroupRoot, name: string, cpu: boolean): readonly string[] {
  const parents = root.version === 2 ? [root.folder] : [root.memory, root.pids, ...(cpu && root.cpu !== null ? [root.cpu] : [])];
  return parents.map((parent) => join(parent, `openforge-${name}`));
}

/** Whoever gives it up, also after an error, removes the groups by `cgroupFolders`. */
export function createCgroups(root: CgroupRoot, name: string, limits: BoxLimits): BoxCgroups {
  const folders = cgroupFolders(root, name, limits.cpus !== null);
  for (const folder of folders) mkdirSync(folder);
  const [memory = "", pids = memory, cpu] = folders;
  const memoryBytes = String(Math.round(limits.memoryMb * oneMegabyte));
  const quota = limits.cpus === null ? null : String(Math.round(limits.cpus * period));
  const set = (folder: string, file: string, value: string): void => writeFileSync(join(folder, file), value);
  if (root.version === 1) {
    set(memory, "memory.limit_in_bytes", memoryBytes);
    setIfThere(join(memory, "memory.memsw.limit_in_bytes"), memoryBytes);
    set(pids, "pids.max", String(limits.processes));
    if (cpu !== undefined && quota !== null) {
      set(cpu, "cpu.cfs_period_us", String(period));
      set(cpu, "cpu.cfs_quota_us", quota);
    }
  } else {
    set(memory, "memory.max", memoryBytes);
    setIfThere(join(memory, "memory.swap.max"), "0");
    set(memory, "pids.max", String(limits.processes));
    if (root.cpu && quota !== null) set(memory, "cpu.max", `${quota} ${period}`);
  }
  const counter = join(memory, root.version === 1 ? "memory.oom_control" : "memory.events");
  return { folders, outOfMemoryKills: () => Number(/^oom_kill (\d+)$/m.exec(readFileSync(counter, "utf8"))?.[1] ?? 0) };
}

/** The kernel may not account for swap. */
function setIfThere(file: string, value: string): void {
  try {
    writeFileSync(file, value, { flag: "r+" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "EOPNOTSUPP") throw error;
  }
}

/** The kernel keeps a group busy for a moment after its last process; a group that is gone already is fine. */
export async function removeCgroups(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    for (let pause = 1, left = 1_000; left > 0; left -= pause, pause = Math.min(pause * 2, 20)) {
      if (!isBusy(folder)) break;
      await delay(pause);
    }
  }
}

function isBusy(folder: string): boolean {
  try {
    rmdirSync(folder);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EBUSY";
  }
  return false;
}
