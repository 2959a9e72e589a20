/** The grade of a task of several steps, from the grades of those that were run. */
import { rewardsOfSteps, shortfall } from "../../engine/outcome/index.ts";
import type { Task } from "../tasks/index.ts";
import type { VerifierResult } from "./contract.ts";
import { scalarReward } from "./reward-files.ts";

/** Why the steps end after this one, as a phrase; null = the next one may begin. */
export function stepsEndAfter(task: Task, index: number, { status, rewards, detail }: VerifierResult): string | null {
  if (status === "verifier-failure") return detail === null ? "it could not be graded" : `it could not be graded. ${detail}`;
  return shortfall(task.steps[index]?.minReward ?? null, rewards);
}

function whyEnded(task: Task, index: number, last: VerifierResult): string {
  const why = stepsEndAfter(task, index, last);
  // A regrade: the verifier of that time ended the steps.
  if (why === null) return `The step ${task.steps[index + 1]?.name} was not run then.`;
  return `The steps ended after ${task.steps[index]?.name}: ${why}.`;
}

/**
 * `results`: of the steps that were run, in order. The rewards follow Harbor's rules; the scalar is found in them as in a reward file. Done
 * means that every step was run and the scalar reaches the maximum. A last step that could not be graded leaves the task ungraded, whatever
 * the mean over the others.
 */
export function gradeOfSteps(task: Task, results: readonly VerifierResult[]): VerifierResult {
  const last = results.at(-1);
  if (last === undefined) throw new Error("a task of several steps was graded before a step was run");
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  const { exitCode } = last;
  const name = task.steps[results.length - 1]?.name ?? "";
  const given = results.map(({ status, rewards }) => (status === "verifier-failure" ? null : rewards));
  const rewards = rewardsOfSteps(task.rewardStrategy, given);
  const scalar = rewards === null ? null : scalarReward(rewards, task.rewardKey);
  const reward = scalar?.ok === true ? scalar.reward : null;
  if (last.status === "verifier-failure") {
    return {
      status: "verifier-failure",
      cause: last.cause,
      reward,
      rewards,
      detail: `The step ${name} could not be graded. ${last.detail ?? ""}`,
      seconds,
      exitCode,
    };
  }
  if (scalar === null || !scalar.ok) {
    const detail = scalar === null ? "No step has a reward." : `The steps' rewards make no scalar: ${scalar.detail}`;
    return { status: "verifier-failure", cause: "reward-malformed", reward: null, rewards, detail, seconds, exitCode };
  }
  const detail = results.length < task.steps.length ? whyEnded(task, results.length - 1, last) : null;
  const done = results.length === task.steps.length && scalar.reward >= task.maxReward;
  return { status: done ? "succeeded" : "failed", cause: null, reward: scalar.reward, rewards, detail, seconds, exitCode };
}
