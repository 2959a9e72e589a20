import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineReader } from "./lines.ts";

test("lines come out whole, wherever their bytes are cut", () => {
  const line = fc.string({ unit: "grapheme", minLength: 1 }).map((text) => JSON.stringify({ text }));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat()), fc.constantFrom("\n", "\r\n", "\n\n"), (lines, cuts, end) => {
      const bytes = Buffer.from(lines.map((each) => each + end).join(""));
      const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((left, right) => left - right), bytes.length];
      const reader = createLineReader();
      expect(at.slice(1).flatMap((stop, index) => reader.push(bytes.subarray(at[index], stop)))).toEqual(lines);
    }),
  );
});
