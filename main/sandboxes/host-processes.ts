/** What the kernel says about processes, read from /proc of the service's own machine. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Clock ticks since boot: with the pid it names one process for ever. */
  readonly startTime: string;
}

/** Null = there is no such process (any more). */
export function processStat(pid: number): ProcessStat | null {
  const text = unlessGone(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (text === null) return null;
  // The name in brackets may hold spaces and brackets itself; the numbers begin behind the last one.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent = "", , session = ""] = fields;
  if (state === "Z" || state === "X") return null;
  return { pid, parent: Number(parent), session: Number(session), startTime: fields[19] ?? "" };
}

/** One process for ever, also when its number has gone to another. */
export type ProcessIdentity = Pick<ProcessStat, "pid" | "startTime">;

export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  return processStat(pid)?.startTime === startTime;
}

/** Name of a process's PID namespace, e.g. `pid:[4026532181]`. */
export function pidNamespace(pid: number): string | null {
  return unlessGone(() => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** A process may end while it is looked at, and some may not be looked at. */
function unlessGone(look: () => string): string | null {
  try {
    return look();
  } catch (error) {
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

/**
 * Living processes of one PID namespace and of those that were made inside it, by their numbers on this machine. `groups`: files that list
 * the processes of control groups which hold all of them; without any, the whole machine is looked through.
 */
export function namespaceMembers(namespace: string, groups: readonly string[] = []): readonly number[] {
  const numbers = groups.length === 0 ? allProcesses() : [...new Set(groups.flatMap(listed))];
  const known = new Map<number, boolean>();
  const isInside = (pid: number): boolean => {
    const before = known.get(pid);
    if (before !== undefined) return before;
    known.set(pid, false);
    // A namespace made inside has another name, but whoever lives there descends from somebody of this one.
    const parent = processStat(pid)?.parent ?? 0;
    const inside = pidNamespace(pid) === namespace || (parent > 1 && isInside(parent));
    known.set(pid, inside);
    return inside;
  };
  // The newest first: one that begins anew again and again lives hardly longer than the look at the others takes.
  return numbers.toSorted((left, right) => right - left).filter(isInside);
}

function allProcesses(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function listed(file: string): readonly number[] {
  return (unlessGone(() => readFileSync(file, "utf8")) ?? "").split("\n").filter(Boolean).map(Number);
}

/**
 * Of `members`, those that one exec started: that `group` knows, with its mark in their environment, or below such a process. A program
 * that clears its environment, leaves the group and outlives its parent is not recognised; `killAll` gets it.
 */
export function processesOf(members: readonly number[], mark: string, group: (pid: number) => boolean): readonly number[] {
  const stats = members.map(processStat).filter((stat) => stat !== null);
  const found = new Set(stats.filter(({ pid }) => group(pid) || hasInEnvironment(pid, mark)).map((stat) => stat.pid));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const stat of stats) if (found.has(stat.parent)) found.add(stat.pid);
  }
  return [...found];
}

/** Its process group, as the innermost PID namespace that it lives in numbers it. */
export function groupInside(pid: number): number | null {
  const status = unlessGone(() => readFileSync(`/proc/${pid}/status`, "utf8")) ?? "";
  const numbers = /^NSpgid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/);
  return numbers === undefined ? null : Number(numbers.at(-1));
}

function hasInEnvironment(pid: number, entry: string): boolean {
  const environment = unlessGone(() => readFileSync(`/proc/${pid}/environ`, "utf8")) ?? "";
  return environment.split("\0").includes(entry);
}

/** Kills what `list` names, again and again, until it names nothing. False when something still lives after `timeoutMs`. */
export async function killUntilNone(
  list: () => readonly number[],
  timeoutMs: number,
  also: () => Promise<void> = async () => undefined,
): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const pids = list();
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
