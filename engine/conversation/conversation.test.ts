import { expect, test } from "vitest";
import { captureLevels } from "./index.ts";

test("capture levels go from most to least", () => {
  expect(captureLevels).toEqual(["ids+logprobs", "ids", "text-only", "nothing"]);
});
