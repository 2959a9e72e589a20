import { hash as digest } from "node:crypto";
import { expect, it } from "vitest";
import { createHashFilter } from "./hash-filter.ts";

it("knows every hash that was added, and takes few others for known", () => {
  const filter = createHashFilter();
  const hashOf = (number: number) => digest("sha256", String(number), "hex");
  for (let number = 0; number < 10_000; number++) filter.add(hashOf(number));
  let wrong = 0;
  for (let number = 0; number < 10_000; number++) expect(filter.mayHold(hashOf(number))).toBe(true);
  for (let number = 10_000; number < 20_000; number++) if (filter.mayHold(hashOf(number))) wrong++;
  expect(wrong).toBeLessThan(100);
});
