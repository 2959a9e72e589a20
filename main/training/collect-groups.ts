/** The rollouts of one policy step: its groups, stragglers cancelled, and other tasks tried for groups without variance. */
import { flatGroupsOf } from "./algorithm-of.ts";
import type { Collected, Collector } from "./collect.ts";
import { isUsable } from "./judge.ts";
import type { RlStage, RunSettings } from "./run-file.ts";
import { planStep } from "./step-plan.ts";
import type { RunTask } from "./task-set.ts";

export interface GroupsWish {
  readonly seed: number;
  readonly step: number;
  /** 0-based in its stage. */
  readonly place: number;
  readonly stage: RlStage;
  readonly tasks: readonly RunTask[];
  readonly harnesses: RunSettings["harnesses"];
  readonly policy: string;
}

export interface GroupsOptions {
  readonly signal: AbortSignal;
  readonly onEnded: (ended: number, of: number) => void;
}

export async function collectGroups(collector: Collector, wish: GroupsWish, { signal, onEnded }: GroupsOptions): Promise<readonly Collected[]> {
  const { stage, place, tasks, harnesses, ...rest } = wish;
  const size = stage.group + stage.collection.extra;
  const rounds = flatGroupsOf(stage) === "refill" ? 1 + stage.refills : 1;
  const collected: Collected[] = [];
  for (let round = 0, groups = stage.tasks; round < rounds && groups > 0; round += 1) {
    const wanted = planStep(tasks, harnesses, { ...rest, round, groups, size, first: place * stage.tasks });
    const enough = (ended: readonly Collected[]): boolean => sizesOf(ended, wanted.length / size).every((usable) => usable >= stage.group);
    const ended = await collector.collect(wanted, { signal, onEnded, ...(stage.collection.extra > 0 ? { enough } : {}) });
    collected.push(...ended);
    groups = flatGroups(ended);
  }
  return collected;
}

/** Usable rollouts by group; groups that have none yet count too. */
function sizesOf(collected: readonly Collected[], groups: number): readonly number[] {
  const sizes = [...grouped(collected.filter(isUsable)).values()].map((members) => members.length);
  return [...sizes, ...Array.from({ length: groups - sizes.length }, () => 0)];
}

/** Groups of several whose rewards are all equal, and those that nobody of is usable. */
function flatGroups(collected: readonly Collected[]): number {
  return [...grouped(collected).values()].filter((members) => {
    const rewards = new Set(members.filter(isUsable).map(({ record }) => record.reward));
    return rewards.size < 2 && members.length > 1;
  }).length;
}

function grouped(collected: readonly Collected[]): ReadonlyMap<string, readonly Collected[]> {
  const groups = new Map<string, Collected[]>();
  for (const one of collected) {
    const members = groups.get(one.wanted.group);
    if (members === undefined) groups.set(one.wanted.group, [one]);
    else members.push(one);
  }
  return groups;
}
