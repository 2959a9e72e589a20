import { describe, expect, it } from "vitest";
import type { LongWork } from "../../service/long-work.ts";
import type { TaskRunView } from "../../service/views.ts";
import { type CheatResults, cheatVerdict, runVerdict } from "./bench.ts";

const done = <R>(result: R): LongWork<R> => ({ status: "done", lines: [], result, failure: null });
const run = (change: Partial<TaskRunView>): TaskRunView => ({
  reward: 1,
  rewards: null,
  status: "succeeded",
  cause: null,
  seconds: 1,
  ok: true,
  detail: null,
  ...change,
});
const cheat = (reward: number | null) => ({ name: "c", reward, status: "failed", cause: null });

describe("the checks of a task", () => {
  it("judge a run by what was expected, and a missing reward by nothing", () => {
    expect(runVerdict(done(run({})))).toEqual({ tone: "success", word: "1.00" });
    expect(runVerdict(done(run({ reward: 0, ok: true })))).toEqual({ tone: "success", word: "0.00" });
    expect(runVerdict(done(run({ reward: 0.5, ok: false })))).toEqual({ tone: "failed", word: "0.50" });
    expect(runVerdict(done(run({ reward: null, status: "verifier-failure", ok: false })))).toEqual({ tone: "infra", word: "verifier-failure" });
    expect(runVerdict({ status: "idle", lines: [], result: null, failure: null })).toBeNull();
  });

  it("count the cheats that scored", () => {
    const verdict = (...rewards: (number | null)[]) => cheatVerdict(done<CheatResults>({ results: rewards.map(cheat) }));
    expect(verdict(0, 0, 1)).toEqual({ tone: "failed", word: "1 scored" });
    expect(verdict(0, null)).toEqual({ tone: "infra", word: "1 without reward" });
    expect(verdict(0, 0)).toEqual({ tone: "success", word: "all 0.00" });
  });
});
