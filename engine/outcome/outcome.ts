/** How a rollout ended, why, and what training does with it. Source: the outcome table of the architecture. */

export const rolloutPhases = ["queued", "preparing", "starting", "setup", "running", "stopping", "collecting", "verifying", "ended"] as const;
export type RolloutPhase = (typeof rolloutPhases)[number];

export const outcomeStatuses = [
  "succeeded",
  "failed",
  "agent-timeout",
  "environment-failure",
  "verifier-failure",
  "harness-failure",
  "network-failure",
  "cancelled",
  "interrupted-for-safety",
] as const;
export type OutcomeStatus = (typeof outcomeStatuses)[number];

export const outcomeCauses = [
  "tool-misuse",
  "unparsed-tool-call",
  "harness-parse-error",
  "harness-exit",
  "harness-missing",
  "context-overflow",
  "service-restart",
  "secret-seen",
  "zero-calls-captured",
  "image-pull",
  "image-build",
  "out-of-memory",
  "disk-full",
  "sandbox-lost",
  "setup-failed",
  "setup-timeout",
  "verifier-timeout",
  "verifier-broken",
  "reward-missing",
  "reward-malformed",
  "reward-forged",
  "upstream-5xx",
  "upstream-4xx",
  "upstream-unreachable",
  "spending-limit",
  "egress-denied",
  "budget-exceeded",
] as const;
export type OutcomeCause = (typeof outcomeCauses)[number];

export type TrainingAction = "train" | "mask" | "discard";
export type OutcomePreset = "default" | "paper";

export interface Outcome {
  readonly status: OutcomeStatus;
  readonly cause: OutcomeCause | null;
  readonly action: TrainingAction;
  /** One sentence for a person: what happened and what to do. Null where the status says it all. */
  readonly detail: string | null;
}
