/** What a fuzz has seen, and what it needs of its surroundings. */
import { readdirSync, readlinkSync } from "node:fs";
import type { Clock } from "../../../main/proxy/index.ts";

export interface FuzzReport {
  readonly cases: number;
  /** How replies ended, with their numbers. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** Faults beyond this number are counted only. */
const mostFaults = 50;

export interface FuzzTally {
  counted(outcome: string): void;
  fault(text: string): void;
  read(): FuzzReport;
}

export function createFuzzTally(seed: number): FuzzTally {
  const outcomes = new Map<string, number>();
  const faults: string[] = [];
  let cases = 0;
  let more = 0;
  return {
    counted(outcome) {
      cases += 1;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    },
    fault(text) {
      if (faults.length < mostFaults) faults.push(`seed ${seed}: ${text}`);
      else more += 1;
    },
    read: () => ({
      cases,
      outcomes: Object.fromEntries([...outcomes].sort(([left], [right]) => (left < right ? -1 : 1))),
      faults: more === 0 ? faults : [...faults, `and ${more} more`],
    }),
  };
}

/** Retries and budgets pass two hundred times as fast as they would. */
export const quickClock: Clock = {
  now: Date.now,
  after(ms, action) {
    const timer = setTimeout(action, ms / 200);
    return () => clearTimeout(timer);
  },
};

/** Of this process; 0 where the system does not say. */
export function openSockets(): number {
  try {
    return readdirSync("/proc/self/fd").filter((name) => linkOf(`/proc/self/fd/${name}`).startsWith("socket:")).length;
  } catch {
    return 0;
  }
}

/** A file may be closed while it is looked at. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
