import { describe, expect, test } from "vitest";
import { conformanceParts, runPart } from "./parts.ts";

describe("reference cases in tests/fixtures", () => {
  test.each(Object.entries(conformanceParts))("%s", async (part, check) => {
    const result = await runPart(part, check, "tests/fixtures");
    expect(result.failures).toEqual([]);
    expect(result.passed).toBeGreaterThan(0);
  });
});
