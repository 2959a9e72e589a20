import { describe, expect, test } from "vitest";
import type { RolloutRecord } from "../store/index.ts";
import { type BatchRules, buildBatch, type StepMember } from "./batch.ts";
import type { Collected } from "./collect.ts";
import { healthOf } from "./health.ts";
import { judge } from "./judge.ts";

const plain: BatchRules = { version: 5, stalenessLimit: 1, stale: "drop", longest: 10, controls: {}, seed: 7 };

function collected(index: number, change: Partial<RolloutRecord> = {}): Collected {
  const record: RolloutRecord = {
    ...{ id: `r${index}`, experimentId: "e", taskName: "t", taskDigest: "", taskPath: "/t", harness: "react", harnessVersion: "1", policy: "p" },
    ...{ policyVersion: "run@5", sandbox: "local", groupIndex: index, seed: index, phase: "ended", reward: index % 2, rewards: null, attempts: 1 },
    ...{ phases: [], isolation: null, fingerprint: null, calls: 1, chains: 1, promptTokens: 1, completionTokens: 1, trainable: true },
    ...{ trainableReason: null, labels: {}, policyWaitSeconds: null, steps: [], createdAt: 0, startedAt: 0, endedAt: 1 },
    outcome: { status: "succeeded", cause: null, action: "train", detail: null },
    ...change,
  };
  const task = { path: "/t", name: "t", family: null, maxReward: 1, requiredTools: [] };
  const planned = { taskPath: "/t", harness: "react", policy: "p", groupIndex: index, seed: index, labels: {} };
  return { record, wanted: { key: `k${index}`, group: `g${Math.floor(index / 4)}`, task, planned } };
}

const many = Array.from({ length: 400 }, (_unused, index) => collected(index));
const rewardsOf = (members: readonly StepMember[]): readonly (number | null)[] => members.map(({ reward }) => reward);

describe("who takes part", () => {
  test.each([
    ["a masked one", { outcome: { status: "environment-failure", cause: "sandbox-lost", action: "mask", detail: null } }, "masked: sandbox-lost"],
    ["a discarded one", { outcome: { status: "agent-timeout", cause: null, action: "discard", detail: null } }, "discarded: agent-timeout"],
    ["one without a reward", { reward: null }, "no reward"],
    ["one that is not trainable", { trainable: false, trainableReason: "no token ids" }, "no token ids"],
    ["one too far behind", { policyVersion: "run@5, run@3" }, "stale: 2 updates behind"],
    ["a cancelled one", { outcome: { status: "cancelled", cause: null, action: "mask", detail: null } }, "cancelled"],
  ] as const)("not %s, and its reward is none", (_name, change, reason) => {
    expect(judge([collected(1, change)], plain)).toMatchObject([{ leftOut: reason, reward: null }]);
  });

  test("the rest, with the reward that the verifier gave; what is behind is corrected where the run says so", () => {
    expect(judge([collected(1)], plain)).toMatchObject([{ leftOut: null, reward: 1, staleness: 0 }]);
    expect(judge([collected(1, { policyVersion: "run@2" })], { ...plain, stale: "correct" })).toMatchObject([{ leftOut: null, staleness: 3 }]);
  });
});

describe("controls", () => {
  test("shuffled rewards are the same ones elsewhere, and the same at every try", () => {
    const shuffled = judge(many, { ...plain, controls: { shuffleRewards: true } });
    expect(rewardsOf(shuffled)).not.toEqual(rewardsOf(judge(many, plain)));
    expect(rewardsOf(shuffled).filter((reward) => reward === 1)).toHaveLength(200);
    expect(judge(many, { ...plain, controls: { shuffleRewards: true } })).toEqual(shuffled);
  });

  test("flipped advantages come from flipped rewards", () => {
    expect(rewardsOf(judge(many, { ...plain, controls: { flipAdvantages: true } })).slice(0, 2)).toEqual([-0, -1]);
  });

  test("of 400 rollouts about 30 % are taken for lost, always the same", () => {
    const lost = (): readonly string[] =>
      judge(many, { ...plain, controls: { failures: 0.3 } }).flatMap(({ leftOut, collected: { record } }) => (leftOut === null ? [] : [record.id]));
    expect(lost().length / many.length).toBeGreaterThan(0.25);
    expect(lost().length / many.length).toBeLessThan(0.35);
    expect(lost()).toEqual(lost());
  });
});

describe("rows", () => {
  const none = Number.NaN;
  const chains = [
    { rollout: "r0", chain: 0, ids: Int32Array.of(1, 2, 3, 4), mask: Uint8Array.of(0, 0, 1, 1), logprobs: Float32Array.of(none, none, -1, -2) },
    { rollout: "r0", chain: 1, ids: Int32Array.of(1, 2, 9), mask: Uint8Array.of(0, 0, 1), logprobs: Float32Array.of(none, none, -0.5) },
    { rollout: "r0", chain: 2, ids: new Int32Array(11), mask: new Uint8Array(11), logprobs: new Float32Array(11) },
  ];
  const members = judge([collected(0, { reward: 1 })], plain);

  test("column i is the token after token i; chains that are too long are left out and counted, shared tokens counted once", () => {
    const batch = buildBatch(members, () => chains, plain);
    expect(batch).toMatchObject({ chainsTooLong: 1, uniqueTokens: 5, trainedUnsampled: 0, rolloutOfRow: [0, 0], rolloutIds: ["r0"] });
    expect([...batch.mask.values]).toEqual([0, 1, 1, 0, 1, 0]);
    expect([...(batch.sampler?.values ?? [])]).toEqual([0, -1, -2, 0, -0.5, 0]);
  });

  test("an inverted mask trains what was not sampled, and health says so", () => {
    const batch = buildBatch(members, () => chains, { ...plain, controls: { invertMask: true } });
    expect([...batch.mask.values]).toEqual([1, 0, 0, 1, 0, 0]);
    expect(batch).toMatchObject({ sampler: null, trainedUnsampled: 1 });
    const facts = { planned: 1, rewarded: 1, truncated: 0, flatGroupShare: 0, measures: null, metrics: {} };
    expect(healthOf({ ...facts, trainedUnsampled: batch.trainedUnsampled })).toMatchObject([{ measure: "mask", value: 1, limit: 0 }]);
    expect(healthOf({ ...facts, trainedUnsampled: 0 })).toEqual([]);
  });

  test("a rollout of which no chain fits is left out with that reason", () => {
    expect(buildBatch(members, () => chains, { ...plain, longest: 2 }).members).toMatchObject([{ leftOut: "longer than 2 tokens" }]);
  });
});
