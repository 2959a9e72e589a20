import { expect, test } from "vitest";
import type { Task } from "../tasks/index.ts";
import type { VerifierResult } from "./contract.ts";
import { gradeOfSteps, stepsEndAfter } from "./step-grade.ts";

const task = (change: Partial<Task> = {}): Task =>
  ({
    rewardStrategy: "mean",
    rewardKey: null,
    maxReward: 1,
    steps: [
      { name: "a", minReward: { reward: 0.5 } },
      { name: "b", minReward: null },
    ],
    ...change,
  }) as unknown as Task;
const graded = (reward: number, rewards: Readonly<Record<string, number>> = { reward }): VerifierResult => ({
  ...{ status: reward >= 1 ? "succeeded" : "failed", cause: null, reward, rewards, detail: null, seconds: 1, exitCode: 0 },
});
const broken: VerifierResult = { ...graded(0), status: "verifier-failure", cause: "reward-missing", reward: null, rewards: null, detail: "No file." };

test("steps end where a reward falls short or cannot be had", () => {
  expect(stepsEndAfter(task(), 0, graded(0.5))).toBeNull();
  expect(stepsEndAfter(task(), 0, graded(0.25))).toBe("its reward is 0.25, which must reach 0.5");
  expect(stepsEndAfter(task(), 1, graded(0))).toBeNull();
  expect(stepsEndAfter(task(), 1, broken)).toBe("it could not be graded. No file.");
});

test("the task is done when every step was run and the reward is full", () => {
  expect(gradeOfSteps(task(), [graded(1), graded(1)])).toMatchObject({ status: "succeeded", reward: 1, detail: null, seconds: 2 });
  expect(gradeOfSteps(task(), [graded(1), graded(0.5)])).toMatchObject({ status: "failed", reward: 0.75, detail: null });
  const early = gradeOfSteps(task({ maxReward: 0.1 }), [graded(0.25)]);
  expect(early).toMatchObject({
    status: "failed",
    reward: 0.25,
    detail: "The steps ended after a: its reward is 0.25, which must reach 0.5.",
  });
});

test("a step needs rewards, no scalar", () => {
  const named: VerifierResult = { ...graded(0), reward: null, rewards: { correctness: 1, style: 0.25 } };
  const whole = gradeOfSteps(task(), [graded(1), named]);
  expect(whole).toMatchObject({ status: "failed", reward: 0.5, rewards: { reward: 0.5, correctness: 0.5, style: 0.125 } });
});

test("what cannot be graded is never 0", () => {
  expect(gradeOfSteps(task(), [broken])).toMatchObject({ status: "verifier-failure", cause: "reward-missing", reward: null, rewards: null });
  expect(gradeOfSteps(task(), [graded(1), broken])).toMatchObject({ status: "verifier-failure", reward: 1 });
  expect(gradeOfSteps(task({ rewardStrategy: "final" }), [graded(1), broken])).toMatchObject({ status: "verifier-failure", reward: null });
  const mixed = gradeOfSteps(task(), [graded(1, { style: 1, speed: 1 }), graded(1, { style: 1, speed: 1 })]);
  expect(mixed).toMatchObject({ status: "verifier-failure", cause: "reward-malformed", reward: null, rewards: { style: 1, speed: 1 } });
});
