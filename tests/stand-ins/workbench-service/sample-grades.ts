/** A regrade of some rollouts: one verdict flips each way, one rollout could not be graded. */
import type { RegradeReport, RegradeRow } from "../../../main/api/grade-views.ts";
import type { RolloutView } from "../../../main/api/rollout-views.ts";

export function sampleRegrade(rollouts: readonly RolloutView[]): RegradeReport {
  const rows = rollouts.slice(0, 6).map((rollout, index): RegradeRow => {
    const passed = rollout.status === "succeeded";
    const flipped = index < 2;
    const { reward } = rollout;
    const before = { verdict: reward === null ? ("none" as const) : passed ? ("passed" as const) : ("failed" as const), reward, rewards: null };
    const { id, task, harness, policy } = rollout;
    const about = { rollout: id, task, harness, policy, before };
    if (index === 5) return { ...about, after: null, flipped: false, skipped: "The workspace was not kept. Run it again with --keep-workspace." };
    const verdict = passed !== flipped ? "passed" : "failed";
    const after = { verdict, reward: Number(verdict === "passed"), rewards: null, cause: null, detail: null, verifierDigest: "sha256:4567" } as const;
    return { ...about, after, flipped: before.verdict !== verdict, skipped: null };
  });
  const count = (test: (row: RegradeRow) => boolean): number => rows.filter(test).length;
  return {
    graded: count(({ after }) => after !== null),
    flipped: count(({ flipped }) => flipped),
    skipped: count(({ after }) => after === null),
    rows,
  };
}
