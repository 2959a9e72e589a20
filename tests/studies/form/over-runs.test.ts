import { expect, test } from "vitest";
import { meanOverRuns } from "./over-runs.ts";

test("an interval over runs is Student's", () => {
  // s² = 14/3, so 3 ± 3.182·√(14/12).
  const { mean, low, high } = meanOverRuns([1, 2, 3, 6]);
  expect(mean).toBe(3);
  expect(low).toBeCloseTo(-0.437, 2);
  expect(high).toBeCloseTo(6.437, 2);
  expect(meanOverRuns([4])).toEqual({ mean: 4, low: null, high: null });
  expect(meanOverRuns([]).mean).toBeNull();
});
