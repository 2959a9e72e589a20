import { describe, expect, test } from "vitest";
import { conformanceParts, runPart } from "./parts.ts";

describe("reference cases in tests/fixtures", () => {
  for (const [part, check] of Object.entries(conformanceParts)) {
    test(part, async (context) => {
      const result = await runPart(part, check, "tests/fixtures");
      expect(result.failures).toEqual([]);
      if (result.passed === 0 && result.skipped.length > 0) context.skip(result.skipped.join("; "));
      expect(result.passed).toBeGreaterThan(0);
    });
  }
});
