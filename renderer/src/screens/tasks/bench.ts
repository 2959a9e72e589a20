/** The checks of a task: what each must score, and what was found, in words. Pure. */
import type { LongWork } from "../../service/long-work.ts";
import type { TaskRunView } from "../../service/views.ts";
import { reward } from "../../words/numbers.ts";
import type { Tone } from "../../words/outcomes.ts";

export interface CheatResults {
  readonly results: readonly { readonly name: string; readonly reward: number | null; readonly status: string; readonly cause: string | null }[];
}

export interface Verdict {
  readonly tone: Tone;
  readonly word: string;
}

const unfinished: Partial<Record<LongWork<unknown>["status"], Verdict>> = {
  running: { tone: "running", word: "running" },
  failed: { tone: "infra", word: "could not run" },
  stopped: { tone: "neutral", word: "stopped" },
};

export function runVerdict(work: LongWork<TaskRunView>): Verdict | null {
  if (work.result === null) return unfinished[work.status] ?? null;
  if (work.result.reward === null) return { tone: "infra", word: work.result.status };
  return { tone: work.result.ok ? "success" : "failed", word: reward(work.result.reward) };
}

/** A cheat holds when it scores 0; one without a reward could not be judged. */
export const cheatHolds = (cheat: CheatResults["results"][number]): boolean | null => (cheat.reward === null ? null : cheat.reward === 0);

export function cheatVerdict(work: LongWork<CheatResults>): Verdict | null {
  if (work.result === null) return unfinished[work.status] ?? null;
  const { results } = work.result;
  const scored = results.filter((cheat) => cheatHolds(cheat) === false).length;
  if (scored > 0) return { tone: "failed", word: `${scored} scored` };
  const unjudged = results.filter((cheat) => cheatHolds(cheat) === null).length;
  if (unjudged > 0) return { tone: "infra", word: `${unjudged} without reward` };
  return { tone: "success", word: results.length === 0 ? "no cheats" : "all 0.00" };
}
