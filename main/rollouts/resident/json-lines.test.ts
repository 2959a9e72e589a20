import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonLines } from "./json-lines.ts";

test("gives the same values however the bytes are cut", () => {
  const value = fc.record({ text: fc.string({ unit: "grapheme" }), number: fc.integer() });
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), fc.array(fc.nat(300), { maxLength: 8 }), (values, cuts) => {
      const bytes = Buffer.from(values.map((one) => `${JSON.stringify(one)}\n`).join(""));
      const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
      const lines = new JsonLines();
      const read = places.slice(1).flatMap((end, index) => lines.push(bytes.subarray(places[index], end)));
      expect(read).toEqual(values);
    }),
  );
});

test("keeps a line that has not ended, passes over empty ones, and throws for what is not JSON", () => {
  const lines = new JsonLines();
  expect(lines.push(Buffer.from('\n\r\n{"a":1'))).toEqual([]);
  expect(lines.push(Buffer.from("}\n"))).toEqual([{ a: 1 }]);
  expect(() => lines.push(Buffer.from("hello\n"))).toThrow();
});

test("a line without an end is given up", () => {
  const lines = new JsonLines();
  const chunk = Buffer.alloc(8 * 1024 * 1024, "x");
  expect(() => {
    for (let count = 0; count < 6; count++) lines.push(chunk);
  }).toThrow("too long");
});
