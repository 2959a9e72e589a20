import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ClusteredValue, comparePaired, meanOverTasks, passOverTasks, taskResults, wilsonInterval } from "./index.ts";

const values = (task: string, ...given: readonly number[]): ClusteredValue[] => given.map((value) => ({ cluster: task, value }));

describe("meanOverTasks", () => {
  test("a task with many rollouts weighs no more than one with few", () => {
    expect(meanOverTasks([...values("a", 1, 1, 1, 1, 1, 1), ...values("b", 0)])).toMatchObject({ n: 7, tasks: 2, mean: 0.5 });
  });
  test("one task has a mean and no interval; none has neither", () => {
    expect(meanOverTasks(values("a", 1, 0))).toEqual({ n: 2, tasks: 1, mean: 0.5, low: null, high: null });
    expect(meanOverTasks([])).toEqual({ n: 0, tasks: 0, mean: null, low: null, high: null });
  });
  test("where all tasks agree the interval is that of so many tasks", () => {
    expect(meanOverTasks([...values("a", 1), ...values("b", 1), ...values("c", 1)])).toMatchObject({ mean: 1, ...wilsonInterval(1, 3) });
  });
});

describe("passOverTasks", () => {
  const results = taskResults([...values("a", 1, 0, 0, 0), ...values("b", 1, 1, 0.5, 0), ...values("c", 1)]);

  test("counts a reward below 1 as no success", () => {
    expect(results).toEqual([
      { task: "a", n: 4, successes: 1 },
      { task: "b", n: 4, successes: 2 },
      { task: "c", n: 1, successes: 1 },
    ]);
  });
  test("pass@1 is the mean success of tasks, whichever way it is asked for", () => {
    expect(passOverTasks(results, 1, "any").mean).toBeCloseTo((0.25 + 0.5 + 1) / 3, 12);
    expect(passOverTasks(results, 1, "all").mean).toBeCloseTo((0.25 + 0.5 + 1) / 3, 12);
  });
  test("leaves out tasks with fewer than k rollouts and says how many", () => {
    // a: 1 − C(3,2)/C(4,2) = 1/2; b: 1 − C(2,2)/C(4,2) = 5/6.
    expect(passOverTasks(results, 2, "any")).toMatchObject({ k: 2, tasks: 2, leftOut: 1, n: 8 });
    expect(passOverTasks(results, 2, "any").mean).toBeCloseTo((1 / 2 + 5 / 6) / 2, 12);
    expect(passOverTasks(results, 2, "all").mean).toBeCloseTo((0 + 1 / 6) / 2, 12);
    expect(passOverTasks(results, 5, "any")).toMatchObject({ mean: null, tasks: 0, leftOut: 3 });
  });
  test("wants a whole k", () => {
    expect(() => passOverTasks(results, 0, "any")).toThrow(RangeError);
    expect(() => passOverTasks(results, 1.5, "all")).toThrow(RangeError);
  });
});

describe("comparePaired", () => {
  test("compares each task with itself", () => {
    const before = [...values("a", 0, 0), ...values("b", 0, 1), ...values("c", 1, 1), ...values("gone", 1)];
    const after = [...values("a", 1, 0), ...values("b", 1, 1), ...values("c", 1, 0), ...values("new", 0)];
    const compared = comparePaired(before, after);
    expect(compared).toMatchObject({ before: { mean: 0.5, n: 6, tasks: 3 }, signs: { better: 2, worse: 1, equal: 0 }, leftOut: 2, signTest: 1 });
    expect(compared.gain.mean).toBeCloseTo(1 / 6, 12);
    expect(compared.differences).toContainEqual({ task: "b", before: 0.5, after: 1 });
  });
  test("is surer than two separate means where tasks differ in difficulty", () => {
    const easy = (task: number) => task / 20;
    const tasks = Array.from({ length: 20 }, (_, task) => task);
    const before = tasks.flatMap((task) => values(`t${task}`, easy(task)));
    const after = tasks.flatMap((task) => values(`t${task}`, easy(task) + 0.1 + 0.05 * (task % 2)));
    const { gain } = comparePaired(before, after);
    expect(gain.low).toBeGreaterThan(0.1);
    expect(gain.high).toBeLessThan(0.15);
  });
  test("the sign test knows the binomial", () => {
    const tasks = Array.from({ length: 10 }, (_, task) => `t${task}`);
    const compared = comparePaired(
      tasks.flatMap((task) => values(task, 0)),
      tasks.flatMap((task, at) => values(task, at < 9 ? 1 : -1)),
    );
    expect(compared.signTest).toBeCloseTo((2 * (1 + 10)) / 1024, 12);
  });
  test("one shared task has a difference and no interval; none has neither", () => {
    expect(comparePaired(values("a", 0), values("a", 1)).gain).toEqual({ mean: 1, low: null, high: null, paired: true });
    expect(comparePaired(values("a", 0), values("b", 1)).gain).toEqual({ mean: null, low: null, high: null, paired: true });
  });

  const sample = fc.array(
    fc.record({ cluster: fc.constantFrom("a", "b", "c", "d", "e"), value: fc.integer({ min: 0, max: 4 }).map((fifth) => fifth / 4) }),
    {
      minLength: 1,
      maxLength: 30,
    },
  );
  test("turned round it says the opposite", () => {
    fc.assert(
      fc.property(sample, sample, (left, right) => {
        const there = comparePaired(left, right);
        const back = comparePaired(right, left);
        expect(back.signs).toEqual({ better: there.signs.worse, worse: there.signs.better, equal: there.signs.equal });
        expect(back.gain.mean ?? 0).toBeCloseTo(-(there.gain.mean ?? 0), 10);
        expect(back.signTest).toBeCloseTo(there.signTest, 12);
      }),
      { numRuns: 50 },
    );
  });
  test("the gain is the difference of the two means and lies in its interval", () => {
    fc.assert(
      fc.property(sample, sample, (left, right) => {
        const { before, after, gain } = comparePaired(left, right);
        if (gain.mean === null) return;
        expect(gain.mean).toBeCloseTo((after.mean ?? Number.NaN) - (before.mean ?? Number.NaN), 10);
        if (gain.low === null || gain.high === null) return;
        expect(gain.low).toBeLessThanOrEqual(gain.mean + 1e-9);
        expect(gain.high).toBeGreaterThanOrEqual(gain.mean - 1e-9);
      }),
      { numRuns: 50 },
    );
  });
});
