import fc from "fast-check";
import { expect, test } from "vitest";
import { busySeconds } from "./busy-time.ts";

const window = { from: 1000, to: 11_000 };
const spans = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 12_000 }), fc.integer({ min: 0, max: 4000 })).map(([from, length]) => ({ from, to: from + length })),
);

test("parts overlap; idle is what nobody was at", () => {
  const seconds = busySeconds(window, {
    sampling: [
      { from: 0, to: 3000 },
      { from: 2000, to: 4000 },
    ],
    sandbox: [{ from: 3500, to: 5000 }],
    training: [{ from: 10_000, to: 20_000 }],
    evaluation: [],
  });
  expect(seconds).toEqual({ total: 10, sampling: 3, sandbox: 1.5, training: 1, evaluation: 0, idle: 5, engine: 4 });
});

test("as counted millisecond by millisecond", () => {
  const within = (list: readonly { from: number; to: number }[], at: number): boolean => list.some(({ from, to }) => at >= from && at < to);
  fc.assert(
    fc.property(spans, spans, spans, (sampling, sandbox, training) => {
      const seconds = busySeconds(window, { sampling, sandbox, training, evaluation: [] });
      let [sampled, idle, engine] = [0, 0, 0];
      for (let at = window.from; at < window.to; at += 1) {
        if (within(sampling, at)) sampled += 1;
        if ([sampling, training].some((list) => within(list, at))) engine += 1;
        if (![sampling, sandbox, training].some((list) => within(list, at))) idle += 1;
      }
      expect(seconds.sampling).toBeCloseTo(sampled / 1000, 9);
      expect(seconds.idle).toBeCloseTo(idle / 1000, 9);
      expect(seconds.engine).toBeCloseTo(engine / 1000, 9);
    }),
    { numRuns: 20 },
  );
});
