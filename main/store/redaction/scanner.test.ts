import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createScanner } from "./scanner.ts";

/** A tiny alphabet, so that occurrences, overlaps and near misses are common. */
const text = (minLength: number, maxLength: number) => fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength, maxLength });

describe("createScanner", () => {
  it("finds exactly the bytes that a search for each needle covers", () => {
    fc.assert(
      fc.property(fc.array(text(6, 12), { minLength: 1, maxLength: 6 }), text(0, 200), (needles, haystack) => {
        const scan = createScanner(needles.map((needle, index) => ({ name: `n${index}`, bytes: Buffer.from(needle) })));
        const covered = new Array<boolean>(haystack.length).fill(false);
        for (const needle of needles)
          for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + 1)) covered.fill(true, at, at + needle.length);
        const found = new Array<boolean>(haystack.length).fill(false);
        for (const match of scan(Buffer.from(haystack))) found.fill(true, match.start, match.end);
        expect(found).toEqual(covered);
      }),
      { numRuns: 500 },
    );
  });

  it("keeps matches sorted and apart", () => {
    const scan = createScanner([
      { name: "long", bytes: Buffer.from("abcdefgh") },
      { name: "short", bytes: Buffer.from("efghij") },
    ]);
    expect(scan(Buffer.from("..abcdefghij..efghijefghij"))).toEqual([
      { start: 2, end: 12, name: "long" },
      { start: 14, end: 20, name: "short" },
      { start: 20, end: 26, name: "short" },
    ]);
  });

  it("finds a needle at either end and nothing in a shorter text", () => {
    const scan = createScanner([{ name: "x", bytes: Buffer.from("secret-value") }]);
    expect(scan(Buffer.from("secret-value"))).toEqual([{ start: 0, end: 12, name: "x" }]);
    expect(scan(Buffer.from("ends in secret-value"))).toEqual([{ start: 8, end: 20, name: "x" }]);
    expect(scan(Buffer.from("secret-valu"))).toEqual([]);
    expect(scan(Buffer.alloc(0))).toEqual([]);
  });
});
