import { expect, test } from "vitest";
import type { TrainingResult } from "../api/training-views.ts";
import { trainingTable } from "./training-table.ts";

const estimate = (mean: number) => ({ n: 40, mean, low: mean - 0.1, high: mean + 0.1 });
const result: TrainingResult = {
  run: "t-1",
  seed: 7,
  steps: 24,
  before: estimate(0.4),
  after: estimate(0.75),
  gain: { n: 40, mean: 0.35, low: 0.2, high: 0.5, paired: true, better: 15, worse: 1, equal: 24 },
  families: [{ family: "calc", before: estimate(0.2), after: estimate(0.8) }],
  behaviour: { success: { before: estimate(0.4), after: estimate(0.75) }, errorRecovery: { before: estimate(0.1), after: estimate(0.9) } },
  seconds: { total: 120, sampling: 60, sandbox: 90, training: 20, evaluation: 40, idle: 3, engine: 78 },
};

test("before, after and their intervals by family and behaviour, the paired gain, the seconds", () => {
  const table = trainingTable(result);
  expect(table).toMatch(/success on held-out tasks\s+40\s+40\.0 %\s+30\.0 % – 50\.0 %\s+75\.0 %/);
  expect(table).toMatch(/ {2}calc\s+40\s+20\.0 %/);
  expect(table).toMatch(/error recovery\s+40\s+10\.0 %/);
  expect(table).toContain("Paired gain +35.0 points, 95 % interval +20.0 to +50.0, over 40 tasks: 15 better, 1 worse, 24 equal.");
  expect(table).toContain("the policy training:t-1, for --policy");
  expect(table).toContain("120 s in all; busy, overlapping: sampling 60 s, sandbox 90 s");
});

test("a run that was evaluated once, or never, says so", () => {
  const once = trainingTable({ ...result, after: null, gain: null, families: [], behaviour: {} });
  expect(once).toMatch(/success on held-out tasks\s+40\s+40\.0 %\s+30\.0 % – 50\.0 %\s+–\s+–/);
  expect(once).toContain("no gain to tell");
  const never = trainingTable({ ...result, steps: 0, before: null, after: null, gain: null, families: [], behaviour: {} });
  expect(never).not.toMatch(/held-out|training:/);
});
