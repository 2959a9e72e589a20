/** Which collected rollouts an update may learn from, and from what reward. What is no fault of the policy never counts against it. */
import { deriveSeed, seededRandom } from "../../engine/statistics/index.ts";
import type { RolloutRecord } from "../store/index.ts";
import { type BatchRules, type StepMember, stalenessOf } from "./batch.ts";
import type { Collected } from "./collect.ts";
import { shuffled } from "./task-set.ts";

export function judge(collected: readonly Collected[], rules: BatchRules): readonly StepMember[] {
  const members = collected.map((one): StepMember => {
    const staleness = stalenessOf(one.record, rules.version);
    const leftOut = isTakenForLost(one, rules)
      ? "masked: environment-failure, injected by the controls"
      : reasonAgainst(one.record, staleness, rules);
    return { collected: one, staleness, leftOut, reward: leftOut === null ? one.record.reward : null };
  });
  return withControls(members, rules);
}

/** Null when the rollout can be learnt from. */
function reasonAgainst(record: RolloutRecord, staleness: number | null, { stalenessLimit, stale }: BatchRules): string | null {
  const { outcome, reward, trainable, trainableReason } = record;
  if (outcome === null) return "not ended";
  if (outcome.status === "cancelled") return "cancelled";
  if (outcome.action !== "train") return `${outcome.action === "mask" ? "masked" : "discarded"}: ${outcome.cause ?? outcome.status}`;
  if (reward === null) return "no reward";
  if (trainable !== true) return trainableReason ?? "not trainable";
  if (staleness !== null && staleness > stalenessLimit && stale === "drop") return `stale: ${staleness} updates behind`;
  return null;
}

export function isUsable({ record }: Collected): boolean {
  return record.outcome?.action === "train" && record.reward !== null && record.trainable === true;
}

function isTakenForLost({ wanted }: Collected, { controls, seed }: BatchRules): boolean {
  return controls.failures !== undefined && seededRandom(deriveSeed(seed, "failure", wanted.key))() < controls.failures;
}

/** Rewards dealt out anew, or turned round: advantages that compare with a baseline change their sign. */
function withControls(members: readonly StepMember[], { controls, seed }: BatchRules): readonly StepMember[] {
  const rewards = members.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const dealt = controls.shuffleRewards === true ? [...shuffled(rewards, deriveSeed(seed, "shuffle"))] : rewards;
  let next = 0;
  return members.map((member) => {
    if (member.reward === null) return member;
    const reward = dealt[next] ?? member.reward;
    next += 1;
    return { ...member, reward: controls.flipAdvantages === true ? -reward : reward };
  });
}
