import fc from "fast-check";
import { expect, it } from "vitest";
import { costOf } from "./spending.ts";

const prices = { input: 2, output: 10, cachedInput: 0.5 };

it("counts cached tokens as a part of the prompt, at their own price or at that of the input", () => {
  const usage = { promptTokens: 1_000_000, completionTokens: 100_000, cachedTokens: 400_000 };
  expect(costOf(usage, prices)).toBeCloseTo(1.2 + 0.2 + 1, 9);
  expect(costOf(usage, { input: 2, output: 10 })).toBeCloseTo(3, 9);
});

it("is never negative, and adds up, whatever a server says it had cached", () => {
  const count = fc.integer({ min: 0, max: 10_000_000 });
  const usage = fc.record({ promptTokens: count, completionTokens: count, cachedTokens: count });
  fc.assert(
    fc.property(usage, (used) => {
      const cost = costOf(used, prices);
      expect(cost).toBeGreaterThanOrEqual(0);
      expect(cost).toBeLessThanOrEqual((used.promptTokens * prices.input + used.completionTokens * prices.output) / 1e6 + 1e-9);
    }),
  );
});
