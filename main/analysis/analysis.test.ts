import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EvaluationView, TrainingRunView } from "../api/training-views.ts";
import type { ComparableRollout } from "./comparable.ts";
import { compareColumns, differenceOf } from "./comparison.ts";
import { columnOf, compareGrid } from "./grid.ts";
import { transferMatrices } from "./transfer.ts";

/** `rewards`: by task, null = infrastructure. */
function rollouts(harness: string, rewards: readonly (readonly (number | null)[])[]): readonly ComparableRollout[] {
  const column = { key: `e|${harness}|1||p`, experiment: "e", experimentName: "sweep", harness, harnessVersion: "1", policy: "p", step: null };
  return rewards.flatMap((ofTask, task) =>
    ofTask.map((reward, index) => ({
      id: `${harness}-${task}-${index}`,
      column,
      task: `task-${task}`,
      index,
      reward,
      status: reward === null ? "environment-failure" : reward === 1 ? "succeeded" : "failed",
      ended: true,
      infrastructure: reward === null,
      calls: 3,
      promptTokens: 10,
      completionTokens: 5,
      behaviour: { calls: 3 },
    })),
  );
}
const side = (all: readonly ComparableRollout[]) => {
  const column = columnOf(all);
  if (column === null) throw new Error("no rollouts");
  return { column, rollouts: all };
};
const six = <T>(value: T): readonly T[] => Array.from({ length: 6 }, () => value);

describe("comparing two columns", () => {
  it("says which is better when the paired interval leaves 0 out, and lists who succeeded where", () => {
    const comparison = compareColumns(side(rollouts("a", six([0, 0, 1, null]))), side(rollouts("b", six([1, 1, 1, 1]))));
    expect(comparison.verdict).toBe("better");
    expect(comparison.gain).toMatchObject({ tasks: 6, better: 6, worse: 0, equal: 0 });
    const kinds = comparison.pairs.map(({ kind }) => kind);
    expect(["only-a", "only-b", "both", "neither", "not-comparable"].map((kind) => kinds.filter((each) => each === kind).length)).toEqual([
      0, 12, 6, 0, 6,
    ]);
    expect(comparison.tasks[0]).toMatchObject({ less: 0, same: 1, more: 2, a: { n: 3 }, b: { n: 4 } });
  });

  it("refuses to rank on few tasks, and names the tasks that only one side has", () => {
    const comparison = compareColumns(side(rollouts("a", [[0], [0]])), side(rollouts("b", [[1], [1], [1]])));
    expect(comparison.verdict).toBe("too-few");
    expect(comparison.reason).toContain("2 tasks");
    expect(comparison.leftOut).toEqual(["task-2"]);
  });

  it("never turns a missing reward into a 0", () => {
    const comparison = compareColumns(side(rollouts("a", six([null]))), side(rollouts("b", six([1]))));
    expect([comparison.before.mean, comparison.gain.mean, comparison.verdict]).toEqual([null, null, "too-few"]);
  });

  it("puts the difference between its ends, wider than either side alone", () => {
    const estimate = fc.tuple(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    );
    fc.assert(
      fc.property(estimate, estimate, (left, right) => {
        const [a, b] = [left, right].map((ends) => {
          const [low = 0, mean = 0, high = 0] = [...ends].sort((x, y) => x - y);
          return { n: 9, low, mean, high };
        });
        if (a === undefined || b === undefined) return;
        const { low, mean, high } = differenceOf(a, b);
        expect(low ?? 1).toBeLessThanOrEqual((mean ?? 0) + 1e-12);
        expect(high ?? -1).toBeGreaterThanOrEqual((mean ?? 0) - 1e-12);
        expect((high ?? 0) - (low ?? 0)).toBeGreaterThanOrEqual(Math.max(b.high - b.low, 0) / Math.SQRT2 - 1e-9);
      }),
    );
  });
});

describe("the grid", () => {
  it("counts infrastructure apart and orders only what differs", () => {
    const grid = compareGrid([...rollouts("good", six([1, 1, 1, null])), ...rollouts("bad", six([0, 0, 0, 0])), ...rollouts("new", [[1]])]);
    expect(grid.cells.find((cell) => cell.column.includes("good"))).toMatchObject({ n: 3, mean: 1, infrastructure: 1 });
    expect(grid.order).toBe("Ranks: good, then bad. 1 with fewer than 5 tasks has no rank.");
    expect(compareGrid(rollouts("new", [[1]])).order).toBe("");
    expect(compareGrid([...rollouts("x", six([1, 0])), ...rollouts("y", six([0, 1]))]).order).toBe("Ranks: no order between x and y.");
  });
});

describe("transfer", () => {
  const evaluation = (step: number, harnesses: Record<string, number>): EvaluationView =>
    ({
      step,
      harnesses: Object.fromEntries(Object.entries(harnesses).map(([name, mean]) => [name, { n: 40, mean, low: mean - 0.1, high: mean + 0.1 }])),
    }) as EvaluationView;
  const run = (id: string, harnesses: string[], evaluations: EvaluationView[]) =>
    ({ id, base: "tiny", harnesses, evaluations }) as unknown as TrainingRunView;

  it("has a row for the policy as it came and one for each mix, seeds together", () => {
    const [matrix] = transferMatrices([
      run("t1", ["react"], [evaluation(0, { react: 0.4, pi: 0.3 }), evaluation(80, { react: 0.8, pi: 0.5 })]),
      run("t2", ["react"], [evaluation(0, { react: 0.4, pi: 0.3 }), evaluation(80, { react: 0.9, pi: 0.6 })]),
      run("t3", ["react", "pi"], [evaluation(80, { react: 0.7, pi: 0.7 })]),
    ]);
    expect(matrix?.harnesses).toEqual(["pi", "react"]);
    expect(matrix?.rows.map((row) => row.trained)).toEqual([[], ["react"], ["pi", "react"]]);
    expect(matrix?.rows[1]?.cells[1]).toMatchObject({ seeds: 2, n: 80 });
    expect(matrix?.rows[1]?.cells[1]?.mean).toBeCloseTo(0.85);
    expect(matrix?.rows[2]?.cells[0]).toMatchObject({ seeds: 1, low: 0.6, high: 0.7 + 0.1 });
    expect(transferMatrices([run("t4", ["react"], [])])).toEqual([]);
  });
});
