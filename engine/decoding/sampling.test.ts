import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../statistics/index.ts";
import { plainSampling, type SamplingSettings, TokenSampler } from "./index.ts";

const logits = Float32Array.of(1, 3, 2, 0, 3.5);
const sampler = new TokenSampler(5);

/** Probabilities by definition: every step on the whole list. */
function reference(values: Float32Array, { temperature, topK, topP, minP }: SamplingSettings): number[] {
  const weights = Array.from(values, (value) => Math.exp(value / temperature));
  const order = weights.map((_weight, id) => id).toSorted((left, right) => (weights[right] ?? 0) - (weights[left] ?? 0) || left - right);
  let kept = topK > 0 ? order.slice(0, topK) : order;
  const weigh = (ids: readonly number[]) => ids.reduce((sum, id) => sum + (weights[id] ?? 0), 0);
  if (topP < 1) {
    const all = weigh(kept);
    const enough = kept.findIndex((_id, index) => weigh(kept.slice(0, index + 1)) >= topP * all);
    if (enough >= 0) kept = kept.slice(0, enough + 1);
  }
  const most = weights[kept[0] ?? 0] ?? 0;
  kept = kept.filter((id) => (weights[id] ?? 0) >= minP * most);
  const total = weigh(kept);
  return weights.map((weight, id) => (kept.includes(id) ? weight / total : 0));
}

describe("sampling", () => {
  test("temperature 0 takes the likeliest, its log-probability that of temperature 1", () => {
    const { id, logprob } = sampler.sample(logits, { ...plainSampling, temperature: 0 }, () => Number.NaN);
    expect(id).toBe(4);
    expect(logprob).toBeCloseTo(Math.log(reference(logits, plainSampling)[4] ?? 0), 12);
    expect(new TokenSampler(2).sample(Float32Array.of(1, 1), { ...plainSampling, temperature: 0 }, () => 0).id).toBe(0);
  });

  test("log-probabilities are those of the truncated distribution, and only its tokens come", () => {
    fc.assert(
      fc.property(
        // Equal or clearly apart, so that rounding does not decide about the order.
        fc.array(
          fc.integer({ min: -64, max: 64 }).map((eighths) => eighths / 8),
          { minLength: 5, maxLength: 5 },
        ),
        fc.record({
          temperature: fc.constantFrom(0.5, 1, 2),
          topK: fc.constantFrom(0, 1, 2, 4, 9),
          topP: fc.constantFrom(1, 0.87, 0.53, 0.11),
          minP: fc.constantFrom(0, 0.05, 0.6),
        }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (values, settings, share) => {
          const given = Float32Array.from(values);
          const probabilities = reference(given, settings);
          const { id, logprob } = sampler.sample(given, settings, () => share);
          expect(probabilities[id]).toBeGreaterThan(0);
          expect(Math.exp(logprob)).toBeCloseTo(probabilities[id] ?? 0, 9);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("frequencies follow the probabilities", () => {
    const settings = { temperature: 0.8, topK: 4, topP: 0.99, minP: 0.01 };
    const random = seededRandom(1);
    const counts = [0, 0, 0, 0, 0];
    const draws = 20_000;
    for (let draw = 0; draw < draws; draw += 1) {
      const { id } = sampler.sample(logits, settings, random);
      counts[id] = (counts[id] ?? 0) + 1;
    }
    const probabilities = reference(logits, settings);
    counts.forEach((count, id) => {
      expect(Math.abs(count / draws - (probabilities[id] ?? 0))).toBeLessThan(0.012);
    });
  });

  test("a token of no probability never comes", () => {
    const far = Float32Array.of(-1e30, 0, -1e30, -1e30, -1e30);
    for (const share of [0, 0.5, 0.999999]) expect(sampler.sample(far, plainSampling, () => share)).toEqual({ id: 1, logprob: 0 });
  });
});
