import type { Outcome, OutcomeCause, OutcomeStatus } from "../../engine/outcome/index.ts";

/** What went wrong, where a format says so. */
export interface ForeignFailure {
  readonly status: OutcomeStatus;
  readonly cause: OutcomeCause | null;
  readonly detail: string;
}

/**
 * How an imported rollout ended. The maximum of its task is not known: 1 is taken for it, as both formats do. A failure that is the
 * policy's own (out of time) keeps its reward; without a reward nothing may be trained.
 */
export function gradedOutcome(reward: number | null, rewards: Readonly<Record<string, number>> | null, failure: ForeignFailure | null): Outcome {
  if (failure !== null) return { ...failure, action: reward !== null && failure.status === "agent-timeout" ? "train" : "mask" };
  if (reward === null && rewards !== null)
    return { status: "verifier-failure", cause: "reward-malformed", action: "mask", detail: "There are several rewards and none is called reward." };
  if (reward === null) return { status: "verifier-failure", cause: "reward-missing", action: "mask", detail: "The imported file gives no reward." };
  return { status: reward >= 1 ? "succeeded" : "failed", cause: null, action: "train", detail: null };
}

/** `reward`, else the only one there is; null when it cannot be told. */
export function scalarReward(rewards: Readonly<Record<string, number>> | null): number | null {
  if (rewards === null) return null;
  const values = Object.values(rewards);
  return rewards.reward ?? (values.length === 1 ? (values[0] ?? null) : null);
}
