/** Processor seconds of this process and what it started, by part. Linux; elsewhere there are none. */
import { readdirSync, readFileSync } from "node:fs";

/** Ticks of `/proc` a second, on every Linux that Node runs on. */
const ticks = 100;
const lookEveryMs = 250;

interface ProcessorTime {
  /** What has been used since the start, children that ended and were waited for included. */
  stop(): ReadonlyMap<string, number>;
}

interface Used {
  readonly part: string;
  readonly seconds: number;
}

/** `partOf` names the part of a process by its command line; "" = it is nobody's. Processes are looked at until they are gone: a moment at their end is missed. */
export function measureProcessorTime(partOf: (commandLine: string) => string): ProcessorTime {
  const seen = new Map<string, Used>();
  const look = (): void => {
    // One that is about to go has no command line any more.
    for (const { key, part, seconds } of descendants(partOf)) seen.set(key, { part: part === "" ? (seen.get(key)?.part ?? "") : part, seconds });
  };
  look();
  const atStart = new Map([...seen].map(([key, { seconds }]) => [key, seconds]));
  const own = process.cpuUsage();
  const timer = setInterval(look, lookEveryMs);
  return {
    stop() {
      clearInterval(timer);
      look();
      const { user, system } = process.cpuUsage(own);
      const sums = new Map([["service", (user + system) / 1e6]]);
      for (const [key, { part, seconds }] of seen) {
        if (part !== "") sums.set(part, (sums.get(part) ?? 0) + seconds - (atStart.get(key) ?? 0));
      }
      return sums;
    },
  };
}

function* descendants(partOf: (commandLine: string) => string): Generator<Used & { readonly key: string }> {
  const found = new Map<number, { readonly parent: number; readonly key: string; readonly seconds: number }>();
  for (const name of process.platform === "linux" ? readdirSync("/proc") : []) {
    if (!/^\d+$/.test(name)) continue;
    const stat = textOf(`/proc/${name}/stat`);
    // The second field is a name in brackets, which may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [, parent = 0, , , , , , , , , , user = 0, system = 0, childUser = 0, childSystem = 0] = fields.map(Number);
    if (fields.length > 20)
      found.set(Number(name), { parent, key: `${name} ${fields[19]}`, seconds: (user + system + childUser + childSystem) / ticks });
  }
  for (const [pid, { key, seconds }] of found) {
    if (!isBelow(pid, found)) continue;
    yield { key, seconds, part: partOf(textOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ")) };
  }
}

function isBelow(pid: number, found: ReadonlyMap<number, { readonly parent: number }>): boolean {
  for (let at = found.get(pid)?.parent; at !== undefined && at > 0; at = found.get(at)?.parent) if (at === process.pid) return true;
  return false;
}

/** Empty when the process has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
