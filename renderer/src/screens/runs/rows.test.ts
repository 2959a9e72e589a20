import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFilter } from "../../filter/parse.ts";
import type { CallView, ExperimentView, RolloutView } from "../../service/views.ts";
import { outcomeParts } from "./cells.tsx";
import { activeIndex, buildRows, levelOf, parentIndex, sortColumns, sortRollouts } from "./rows.ts";

const experiment = (id: string, createdAt: number) => ({ id, name: id, createdAt, total: 2 }) as ExperimentView;
const rollout = (id: string, change: Partial<RolloutView> = {}) =>
  ({
    id,
    task: "t",
    harness: "h",
    policy: "p",
    status: "failed",
    cause: null,
    detail: null,
    phase: "ended",
    reward: 0,
    promptTokens: 1,
    completionTokens: 1,
    calls: 1,
    chains: 1,
    seconds: 1,
    createdAt: 0,
    ...change,
  }) as RolloutView;
const call = (id: string) => ({ id, index: 0 }) as CallView;
const started = { column: "started", descending: true } as const;

describe("rows of Runs", () => {
  const sources = {
    experiments: [experiment("old", 1), experiment("new", 2)],
    rolloutsOf: (id: string) => (id === "new" ? [rollout("a"), rollout("b", { reward: null, status: "cancelled" })] : undefined),
    callsOf: () => [call("c")],
    terms: [],
    sorting: started,
  };

  it("are the newest experiment first, children below what is open", () => {
    const rows = buildRows({ ...sources, expanded: new Set(["e/new", "r/a", "e/old"]) });
    expect(rows.map((row) => row.key)).toEqual(["e/new", "r/a", "c/a/c", "r/b", "e/old", "e/old/reading"]);
    expect(rows.map(levelOf)).toEqual([1, 2, 3, 2, 1, 2]);
    expect([2, 1, 0].map((index) => parentIndex(rows, index))).toEqual([1, 0, -1]);
  });

  it("keep the active row where a person left it", () => {
    const rows = buildRows({ ...sources, expanded: new Set(["e/new", "r/a"]) });
    expect(["r/a", "c/a", "c/a/gone", "e/new/reading", "r/none", null].map((key) => activeIndex(rows, key))).toEqual([1, 2, 1, 0, -1, -1]);
  });

  it("open by themselves under a filter, and hide what has no match", () => {
    const { terms } = parseFilter("outcome:failed");
    const rows = buildRows({ ...sources, terms, expanded: new Set() });
    expect(rows.map((row) => row.key)).toEqual(["e/new", "r/a", "e/old", "e/old/reading"]);
    expect(buildRows({ ...sources, terms: parseFilter("outcome:nothing").terms, expanded: new Set() }).map((row) => row.key)).toEqual([
      "e/old",
      "e/old/reading",
    ]);
    expect(buildRows({ ...sources, terms, expanded: new Set(["f/new", "f/old"]) }).map((row) => row.key)).toEqual(["e/new", "e/old"]);
  });

  it("sort with missing values last, and never depend on the order they came in", () => {
    const rollouts = fc.uniqueArray(
      fc.record({
        id: fc.stringMatching(/^[0-9a-f]{1,4}$/),
        reward: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
        createdAt: fc.nat(5),
      }),
      { selector: (each) => each.id },
    );
    fc.assert(
      fc.property(rollouts, fc.constantFrom(...sortColumns), fc.boolean(), (list, column, descending) => {
        const views = list.map(({ id, ...change }) => rollout(id, change));
        const sorted = sortRollouts(views, { column, descending }).map((each) => each.id);
        expect(sortRollouts([...views].reverse(), { column, descending }).map((each) => each.id)).toEqual(sorted);
        if (column === "reward") {
          const rewards = sorted.map((id) => list.find((each) => each.id === id)?.reward ?? null);
          expect(rewards.slice(rewards.indexOf(null) === -1 ? rewards.length : rewards.indexOf(null)).every((reward) => reward === null)).toBe(true);
        }
      }),
    );
  });
});

describe("the bar of outcomes", () => {
  it("counts every ended rollout once", () => {
    const outcomes = {
      succeeded: 3,
      failed: 2,
      "interrupted-for-safety": 1,
      "agent-timeout": 1,
      "harness-failure": 2,
      "network-failure": 1,
      cancelled: 1,
      running: 4,
      queued: 9,
    };
    expect(outcomeParts(outcomes).map((part) => [part.name, part.n])).toEqual([
      ["succeeded", 3],
      ["failed", 3],
      ["out of time", 1],
      ["infrastructure", 3],
      ["cancelled", 1],
    ]);
  });
});
