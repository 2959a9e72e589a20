import type { LeftOut } from "./contract.ts";

/** Counts what is not exported, by reason. */
export interface LeftOutCount {
  add(reason: string, count?: number): void;
  list(): LeftOut[];
}

export function countLeftOut(): LeftOutCount {
  const counts = new Map<string, number>();
  return {
    add: (reason, count = 1) => void counts.set(reason, (counts.get(reason) ?? 0) + count),
    list: () => [...counts].map(([reason, count]) => ({ reason, count })),
  };
}
