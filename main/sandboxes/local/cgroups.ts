/**
 * Limits for a whole box by control groups, where this service may make them: version 1 (one tree a controller, root only in practice)
 * or version 2 (below the nearest folder that is delegated to this user). Where it may not, `prlimit` limits single processes instead.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { access, constants, mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

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
  outOfMemoryKills(): Promise<number>;
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
  try {
    const groups = await createCgroups(root, `probe-${randomBytes(6).toString("hex")}`, { cpus: 1, memoryMb: 64, processes: 16 });
    try {
      // Making a group is one right, moving a process into it another.
      const [program = "", ...args] = joinCgroups(groups.folders, ["true"]);
      await run(program, args);
      return true;
    } finally {
      await removeCgroups(groups.folders);
    }
  } catch {
    return false;
  }
}

/** `command`, run by a shell that first moves itself into the groups. */
export function joinCgroups(folders: readonly string[], command: readonly string[]): readonly string[] {
  if (folders.length === 0) return command;
  const script = `for group in ${folders.map((folder) => `'${folder}'`).join(" ")}; do echo 0 > "$group/cgroup.procs" || exit 125; done; exec "$@"`;
  return ["/bin/sh", "-c", script, "sh", ...command];
}

export async function createCgroups(root: CgroupRoot, name: string, limits: BoxLimits): Promise<BoxCgroups> {
  const group = `openforge-${name}`;
  const memoryBytes = String(Math.round(limits.memoryMb * oneMegabyte));
  const made: string[] = [];
  const make = async (parent: string, settings: Readonly<Record<string, string>>): Promise<void> => {
    const folder = join(parent, group);
    await mkdir(folder);
    made.push(folder);
    for (const [file, value] of Object.entries(settings)) await writeFile(join(folder, file), value);
  };
  try {
    if (root.version === 1) {
      await make(root.memory, { "memory.limit_in_bytes": memoryBytes });
      // Absent where the kernel does not account for swap.
      await writeFile(join(root.memory, group, "memory.memsw.limit_in_bytes"), memoryBytes, { flag: "r+" }).catch(ignoreAbsent);
      await make(root.pids, { "pids.max": String(limits.processes) });
      if (root.cpu !== null && limits.cpus !== null) {
        await make(root.cpu, { "cpu.cfs_period_us": String(period), "cpu.cfs_quota_us": String(Math.round(limits.cpus * period)) });
      }
    } else {
      const cpu = root.cpu && limits.cpus !== null ? { "cpu.max": `${Math.round(limits.cpus * period)} ${period}` } : {};
      await make(root.folder, { "memory.max": memoryBytes, "pids.max": String(limits.processes), ...cpu });
      await writeFile(join(root.folder, group, "memory.swap.max"), "0", { flag: "r+" }).catch(ignoreAbsent);
    }
  } catch (error) {
    await removeCgroups(made);
    throw error;
  }
  const counter = root.version === 1 ? join(root.memory, group, "memory.oom_control") : join(root.folder, group, "memory.events");
  return {
    folders: made,
    outOfMemoryKills: async () => Number(/^oom_kill (\d+)$/m.exec(await readFile(counter, "utf8").catch(() => ""))?.[1] ?? 0),
  };
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT" && error.code !== "EOPNOTSUPP") throw error;
}

/** The kernel keeps a group busy for a moment after its last process; a group that is gone already is fine. */
export async function removeCgroups(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const error = await rmdir(folder).then(
        () => null,
        (failure: NodeJS.ErrnoException) => failure,
      );
      if (error === null || error.code !== "EBUSY") break;
      await delay(10);
    }
  }
}
