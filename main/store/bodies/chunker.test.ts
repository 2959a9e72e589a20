import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkEnd, chunkSizes } from "./chunker.ts";

function cut(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  for (let at = 0; at < bytes.length; at = ends.at(-1) ?? bytes.length) ends.push(chunkEnd(bytes, at));
  return ends;
}

/** Repeatable bytes without a period. */
function noise(length: number, seed: number): Uint8Array {
  let state = seed | 1;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) | 0;
    return (state >>> 16) & 255;
  });
}

describe("chunkEnd", () => {
  it("covers every byte once, within the size limits", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer(), (length, seed) => {
        const ends = cut(noise(length, seed));
        expect(ends.at(-1)).toBe(length);
        ends.forEach((end, index) => {
          const size = end - (ends[index - 1] ?? 0);
          expect(size).toBeLessThanOrEqual(chunkSizes.most);
          if (index < ends.length - 1) expect(size).toBeGreaterThan(chunkSizes.least);
        });
      }),
      { numRuns: 50 },
    );
  });

  it("keeps the cuts before a change, and finds them again after it", () => {
    const before = noise(200_000, 7);
    const after = Buffer.concat([before.subarray(0, 100_000), noise(777, 8), before.subarray(100_000)]);
    const kept = new Set(cut(before));
    const same = cut(after).filter((end) => kept.has(end <= 100_000 ? end : end - 777));
    expect(same.length).toBeGreaterThanOrEqual(kept.size - 8);
  });

  it("averages near the size it was tuned for", () => {
    const ends = cut(noise(4_000_000, 3));
    expect(4_000_000 / ends.length).toBeGreaterThan(chunkSizes.average * 0.75);
    expect(4_000_000 / ends.length).toBeLessThan(chunkSizes.average * 1.4);
  });
});
