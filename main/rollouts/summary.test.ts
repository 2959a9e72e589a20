import { expect, test } from "vitest";
import type { Outcome } from "../../engine/outcome/index.ts";
import type { RolloutRecord } from "../store/index.ts";
import { summarise } from "./summary.ts";

function rollout(status: Outcome["status"] | null, reward: number | null, change: Partial<RolloutRecord> = {}): RolloutRecord {
  const outcome: Outcome | null = status === null ? null : { status, cause: null, action: "train", detail: null };
  return { harness: "react", policy: "p", taskName: String(reward), outcome, reward, ...change } as RolloutRecord;
}

test("missing rewards are not 0, and what our side broke is counted apart", () => {
  const rows = summarise([
    rollout("succeeded", 1),
    rollout("failed", 0),
    rollout("agent-timeout", 0.5),
    rollout("verifier-failure", null),
    rollout("harness-failure", 0),
    rollout("environment-failure", null),
    rollout("cancelled", null),
    rollout(null, null),
    rollout("network-failure", null, { policy: "q" }),
  ]);
  expect(rows).toHaveLength(2);
  expect(rows[0]).toMatchObject({ harness: "react", policy: "p", n: 3, mean: 0.5, infrastructureFailures: 3 });
  expect(rows[1]).toEqual({ harness: "react", policy: "q", n: 0, mean: null, low: null, high: null, infrastructureFailures: 1 });
});
