import { expect, test } from "vitest";
import { seededRandom } from "../../engine/statistics/index.ts";
import { starterFamilies } from "./contract.ts";
import { drawTask } from "./families.ts";
import { harnessFormats } from "./harness-formats.ts";
import { teacherTranscript } from "./transcript.ts";

test.each(starterFamilies)("%s: the teacher succeeds often enough to be learned from, and fails often enough to be outdone", (family) => {
  const random = seededRandom(9);
  const runs = Array.from({ length: 1000 }, () => teacherTranscript(drawTask(family, "train", random), harnessFormats.react, random).solved);
  const rate = runs.filter((solved) => solved).length / runs.length;
  expect(rate).toBeGreaterThan(0.35);
  expect(rate).toBeLessThan(0.8);
});
