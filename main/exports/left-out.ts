import type { LeftOut } from "./contract.ts";

/** What is not exported, and why. */
export interface LeftOutList {
  /** `what` counts once, for the first reason given. */
  add(what: string, reason: string): void;
  /** Counts by reason. */
  list(): LeftOut[];
}

/** `only`: what else is left out does not matter; null = all of it does. */
export function leftOutList(only: string | null = null): LeftOutList {
  const reasons = new Map<string, string>();
  return {
    add(what, reason) {
      if ((only === null || only === what) && !reasons.has(what)) reasons.set(what, reason);
    },
    list() {
      const counts = new Map<string, number>();
      for (const reason of reasons.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
      return [...counts].map(([reason, count]) => ({ reason, count }));
    },
  };
}
