import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AdamW, clipFactor, firstNonFinite, GradientSum, globalNorm, learningRate, type NamedArrays, type Schedule } from "./index.ts";

const named = (values: readonly number[]): NamedArrays => new Map([["w", Float32Array.from(values)]]);
const settings = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.1 };

describe("AdamW", () => {
  test("the first step moves each parameter by the rate against its gradient, after the decay", () => {
    const parameters = named([1, -2]);
    new AdamW(parameters, settings).update(named([3, -0.5]), 0.01);
    const [first, second] = parameters.get("w") ?? [];
    expect(first).toBeCloseTo(1 * (1 - 0.001) - 0.01, 6);
    expect(second).toBeCloseTo(-2 * (1 - 0.001) + 0.01, 6);
  });

  test("follows the recurrences in float64 to float32 rounding", () => {
    const parameters = named([0.5]);
    const optimiser = new AdamW(parameters, settings);
    let [p, m, v] = [0.5, 0, 0];
    for (let step = 1; step <= 50; step += 1) {
      const gradient = Math.fround(Math.sin(step));
      optimiser.update(named([gradient]), 0.02, 0.5);
      m = 0.9 * m + 0.1 * gradient * 0.5;
      v = 0.99 * v + 0.01 * (gradient * 0.5) ** 2;
      p = p * (1 - 0.002) - (0.02 * (m / (1 - 0.9 ** step))) / (Math.sqrt(v / (1 - 0.99 ** step)) + 1e-8);
    }
    expect(parameters.get("w")?.[0]).toBeCloseTo(p, 5);
  });

  test("a restored state continues to the bit", () => {
    const run = (steps: readonly number[], optimiser: AdamW) => {
      for (const step of steps) optimiser.update(named([Math.cos(step), step]), 0.01);
    };
    const whole = named([1, 2]);
    run([1, 2, 3, 4], new AdamW(whole, settings));
    const first = named([1, 2]);
    const before = new AdamW(first, settings);
    run([1, 2], before);
    const resumed = named([...(first.get("w") ?? [])]);
    const after = new AdamW(resumed, settings);
    after.restore(before.state);
    run([3, 4], after);
    expect(resumed).toEqual(whole);
  });

  test("names the parameter whose gradient is missing", () => {
    expect(() => new AdamW(named([1]), settings).update(new Map(), 0.1)).toThrow("gradient of w");
    expect(() => new AdamW(named([1]), settings).restore({ step: 1, first: named([1, 2]), second: named([1]) })).toThrow("state of w");
  });
});

describe("gradients", () => {
  test("the norm is that of all tensors together", () => {
    expect(globalNorm(new Map([...named([3]), ["v", Float32Array.of(4)]]))).toBe(5);
  });

  test("clipping never lengthens and never exceeds the limit", () => {
    fc.assert(
      fc.property(fc.float({ min: 0, max: 1e6, noNaN: true }), fc.float({ min: Math.fround(1e-3), max: 10, noNaN: true }), (norm, limit) => {
        const factor = clipFactor(norm, limit);
        expect(factor).toBeLessThanOrEqual(1);
        expect(norm * factor).toBeLessThanOrEqual(limit * (1 + 1e-9));
      }),
    );
  });

  test("micro-batches sum, and each step begins anew", () => {
    const sum = new GradientSum(new Map([["w", 2]]));
    sum.add(named([1, 2]));
    sum.add(named([10, 20]));
    expect(sum.take()).toEqual(named([11, 22]));
    sum.add(named([5, 6]));
    expect(sum.take()).toEqual(named([5, 6]));
    expect(sum.take()).toEqual(named([0, 0]));
    expect(() => sum.add(named([1]))).toThrow("gradient of w");
  });

  test("names a tensor that is not finite", () => {
    expect(firstNonFinite(named([1, 2]))).toBeNull();
    expect(firstNonFinite(named([1, Number.NaN]))).toBe("w");
  });
});

describe("learning rate", () => {
  const schedule: Schedule = { peak: 1, warmUp: 4, shape: "linear", steps: 12, floor: 0.1 };
  test("warms up, decays to the floor and stays there", () => {
    expect([0, 1, 3, 4].map((step) => learningRate(schedule, step))).toEqual([0.25, 0.5, 1, 1]);
    expect(learningRate(schedule, 8)).toBeCloseTo(0.55);
    expect(learningRate(schedule, 12)).toBeCloseTo(0.1);
    expect(learningRate(schedule, 100)).toBeCloseTo(0.1);
  });

  test("cosine is half way at the middle, constant stays", () => {
    expect(learningRate({ ...schedule, shape: "cosine" }, 8)).toBeCloseTo(0.55);
    expect(learningRate({ ...schedule, shape: "cosine" }, 6)).toBeGreaterThan(learningRate(schedule, 6));
    expect(learningRate({ ...schedule, shape: "constant" }, 100)).toBe(1);
  });
});
