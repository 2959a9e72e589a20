import { describe, expect, it } from "vitest";
import { readSeeds } from "./seeds.ts";

describe("seeds", () => {
  it("are whole numbers, each once", () => {
    expect(readSeeds("1, 2 3,3")).toEqual({ ok: true, seeds: [1, 2, 3] });
    expect(readSeeds("")).toEqual({ ok: true, seeds: [] });
    for (const text of ["a", "1.5", "-1"]) expect(readSeeds(text).ok).toBe(false);
  });
});
