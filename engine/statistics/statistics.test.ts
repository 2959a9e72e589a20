import { describe, expect, test } from "vitest";
import { bootstrapInterval, type ClusteredValue, meanWithInterval, wilsonInterval } from "./interval.ts";
import { deriveSeed, seededRandom } from "./random.ts";

/** `count` tasks with `k` rollouts each; value from task and rollout. */
function sample(count: number, k: number, value: (task: number, rollout: number) => number): ClusteredValue[] {
  return Array.from({ length: count * k }, (_, at) => ({ cluster: `t${Math.floor(at / k)}`, value: value(Math.floor(at / k), at % k) }));
}

describe("wilsonInterval", () => {
  // 81 of 263 is the example of Newcombe (1998); the others are from tables.
  test.each([
    [0, 10, 0, 0.2775327998628892],
    [1, 10, 0.01787620777012163, 0.4041500267952389],
    [5, 10, 0.236593090512564, 0.763406909487436],
    [10, 10, 0.7224672001371107, 1],
    [81, 263, 0.25531155962646, 0.366178047612],
  ])("%i of %i", (successes, n, low, high) => {
    const interval = wilsonInterval(successes / n, n);
    expect(interval.low).toBeCloseTo(low, 3);
    expect(interval.high).toBeCloseTo(high, 3);
  });
});

describe("meanWithInterval", () => {
  test("no value has no mean", () => {
    expect(meanWithInterval([])).toEqual({ n: 0, mean: null, low: null, high: null });
  });
  test("one rollout a task: Wilson", () => {
    const six = meanWithInterval(sample(6, 1, () => 1));
    expect(six).toMatchObject({ n: 6, mean: 1, high: 1 });
    expect(six.low).toBeCloseTo(0.6097, 3);
  });
  test("rollouts of one task are not independent tasks", () => {
    const related = meanWithInterval(sample(8, 8, (task) => task % 2));
    const independent = meanWithInterval(sample(64, 1, (task) => task % 2));
    expect((related.high ?? 0) - (related.low ?? 0)).toBeGreaterThan(2 * ((independent.high ?? 0) - (independent.low ?? 0)));
  });
  test("when all agree the interval is that of so many tasks", () => {
    expect(meanWithInterval(sample(4, 5, () => 1))).toEqual({ n: 20, mean: 1, ...wilsonInterval(1, 4) });
    expect(meanWithInterval(sample(1, 8, () => 1))).toEqual({ n: 8, mean: 1, ...wilsonInterval(1, 8) });
  });
  test("partial rewards: resampling, equal for equal seeds", () => {
    const values = sample(10, 2, (task, rollout) => (task + rollout) / 11);
    const interval = meanWithInterval(values, 3);
    expect(interval).toEqual(meanWithInterval(values, 3));
    expect(interval.low).toBeLessThan(interval.mean ?? 0);
    expect(interval.high).toBeGreaterThan(interval.mean ?? 0);
  });
  test("the bootstrap interval holds the truth about as often as it says", () => {
    const random = seededRandom(5);
    let held = 0;
    const rounds = 200;
    for (let round = 0; round < rounds; round++) {
      const values = sample(30, 2, () => random());
      const { low, high } = bootstrapInterval(values, random);
      if (low <= 0.5 && 0.5 <= high) held += 1;
    }
    expect(held / rounds).toBeGreaterThan(0.88);
  });
});

describe("seeds", () => {
  test("differ for different parts, fit 31 bits, and repeat", () => {
    const seeds = new Set(Array.from({ length: 1000 }, (_, at) => deriveSeed(0, "task", at)));
    expect(seeds.size).toBe(1000);
    for (const seed of seeds) expect(seed).toBeLessThan(2 ** 31);
    expect(deriveSeed(1, "a")).toBe(deriveSeed(1, "a"));
    expect(deriveSeed(1, "ab", "c")).not.toBe(deriveSeed(1, "a", "bc"));
  });
  test("random numbers are spread over [0, 1)", () => {
    const random = seededRandom(7);
    const drawn = Array.from({ length: 10_000 }, random);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
    expect(drawn.reduce((sum, value) => sum + value, 0) / drawn.length).toBeCloseTo(0.5, 1);
  });
});
