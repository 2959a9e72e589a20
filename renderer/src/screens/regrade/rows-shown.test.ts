import { describe, expect, it } from "vitest";
import type { RegradeRow } from "../../service/views.ts";
import { defaultShown, rowsShown } from "./rows-shown.ts";

const before = { verdict: "failed", reward: 0, rewards: null } as const;
const after = { verdict: "passed", reward: 1, rewards: null, cause: null, detail: null, verifierDigest: "d" } as const;
const row = (rollout: string, change: Partial<RegradeRow>): RegradeRow => ({
  ...{ rollout, task: "t", harness: "react", policy: "p", before, after: null, flipped: false, skipped: null },
  ...change,
});

describe("the rows of a regrade", () => {
  const rows = [row("a", { after, flipped: true }), row("b", { after: { ...after, verdict: "failed" } }), row("c", { skipped: "Nothing was kept." })];
  const report = { graded: 2, flipped: 1, skipped: 1, rows };

  it("are each in one list", () => {
    expect((["flipped", "same", "skipped"] as const).map((shown) => rowsShown(report, shown).map(({ rollout }) => rollout))).toEqual([
      ["a"],
      ["b"],
      ["c"],
    ]);
  });

  it("open on the flips, or on why nothing was graded", () => {
    expect(defaultShown(report)).toBe("flipped");
    expect(defaultShown({ graded: 0, flipped: 0, skipped: 1, rows: [] })).toBe("skipped");
  });
});
