/** What a later verifier changed, rollout by rollout. Pure: records in, views out. */
import type { GradeRecord, RolloutRecord } from "../store/index.ts";
import type { GradeView, RegradeReport, RegradeRow } from "./grade-views.ts";
import { stepView } from "./present.ts";

interface GradedAgain {
  readonly rollout: RolloutRecord;
  readonly grade: GradeRecord | null;
  readonly skipped: string | null;
}

export function regradeReport(results: readonly GradedAgain[]): RegradeReport {
  const rows = results.map(regradeRow).toSorted((left, right) => Number(right.flipped) - Number(left.flipped));
  const graded = rows.filter(({ after }) => after !== null).length;
  return { graded, flipped: rows.filter(({ flipped }) => flipped).length, skipped: rows.length - graded, rows };
}

function regradeRow({ rollout, grade, skipped }: GradedAgain): RegradeRow {
  const { id, taskName, harness, policy, reward, rewards } = rollout;
  const before = { verdict: verdictOf(rollout), reward, rewards: copied(rewards) };
  const after = grade === null ? null : afterOf(grade);
  return { rollout: id, task: taskName, harness, policy, before, after, flipped: after !== null && after.verdict !== before.verdict, skipped };
}

function afterOf({ status, cause, detail, reward, rewards, verifierDigest }: GradeRecord): NonNullable<RegradeRow["after"]> {
  const verdict = status === "succeeded" ? "passed" : status === "failed" ? "failed" : "none";
  return { verdict, reward, rewards: copied(rewards), cause, detail, verifierDigest };
}

/** The verifier's word when the rollout ran, whatever else became of the rollout. */
function verdictOf({ outcome, reward }: RolloutRecord): RegradeRow["before"]["verdict"] {
  if (reward === null || outcome === null || outcome.status === "verifier-failure") return "none";
  if (outcome.status === "succeeded") return "passed";
  // Out of time, or masked for another reason, and yet done: 1 is the usual maximum.
  return outcome.status !== "failed" && reward >= 1 ? "passed" : "failed";
}

export function gradeView({ attempt: _attempt, rolloutId, rewards, steps, ...rest }: GradeRecord): GradeView {
  return { ...rest, rollout: rolloutId, rewards: copied(rewards), steps: steps.map(stepView) };
}

const copied = (rewards: Readonly<Record<string, number>> | null): Record<string, number> | null => (rewards === null ? null : { ...rewards });
