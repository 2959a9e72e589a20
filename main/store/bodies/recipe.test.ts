import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeRecipe, encodeRecipe } from "./recipe.ts";

it("reads back every list of chunk keys", () => {
  const key = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 2 ** 50 }));
  fc.assert(
    fc.property(fc.array(key, { maxLength: 60 }), (keys) => {
      const read = decodeRecipe(encodeRecipe(keys)).flatMap((run) => Array.from({ length: run.count }, (_, index) => run.first + index));
      expect(read).toEqual(keys);
    }),
  );
});

it("writes a run of chunks in a few bytes", () => {
  expect(encodeRecipe(Array.from({ length: 100 }, (_, index) => 5000 + index)).length).toBeLessThanOrEqual(3);
});

it("refuses a recipe that ends inside a number", () => {
  expect(() => decodeRecipe(Uint8Array.of(0x80))).toThrow(RangeError);
});
