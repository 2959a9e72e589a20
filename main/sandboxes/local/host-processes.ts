/** What the kernel says about processes, read from /proc of the service's own machine. */
import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Clock ticks since boot: with the pid it names one process for ever. */
  readonly startTime: string;
}

/** Null = there is no such process (any more). */
export async function processStat(pid: number): Promise<ProcessStat | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (text === null) return null;
  // The name in brackets may hold spaces and brackets itself; the numbers begin behind the last one.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent = "", , session = ""] = fields;
  if (state === "Z" || state === "X") return null;
  return { pid, parent: Number(parent), session: Number(session), startTime: fields[19] ?? "" };
}

/** Name of a process's PID namespace, e.g. `pid:[4026532181]`. */
export async function pidNamespace(pid: number): Promise<string | null> {
  return readlink(`/proc/${pid}/ns/pid`).catch(() => null);
}

/** Living processes of one PID namespace, by their numbers on this machine. */
export async function namespaceMembers(namespace: string): Promise<readonly number[]> {
  const numbers = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const members = await Promise.all(numbers.map(async (pid) => ((await pidNamespace(pid)) === namespace ? pid : null)));
  return members.filter((pid) => pid !== null);
}

/**
 * Of `members`, those that one exec started: in its session, with its mark in their environment, or below such a process.
 * A program that clears its environment, leaves the session and outlives its parent is not recognised; `killAll` gets it.
 */
export async function processesOf(members: readonly number[], session: number, mark: string): Promise<readonly number[]> {
  const stats = (await Promise.all(members.map(processStat))).filter((stat) => stat !== null);
  const marked = await Promise.all(stats.map(async (stat) => stat.session === session || (await hasInEnvironment(stat.pid, mark))));
  const found = new Set(stats.filter((_, index) => marked[index]).map((stat) => stat.pid));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const stat of stats) if (found.has(stat.parent)) found.add(stat.pid);
  }
  return [...found];
}

async function hasInEnvironment(pid: number, entry: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
  return environment.split("\0").includes(entry);
}

/** Kills what `list` names, again and again, until it names nothing. False when something still lives after `timeoutMs`. */
export async function killUntilNone(
  list: () => Promise<readonly number[]>,
  timeoutMs: number,
  also: () => Promise<void> = async () => undefined,
): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const pids = await list();
    if (pids.length === 0) return true;
    for (const pid of pids) killQuietly(pid);
    if (Date.now() > end) return false;
    await also();
    await delay(pause);
  }
}

/** A process, or with a negative number a process group; one that is gone already is fine. */
export function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
