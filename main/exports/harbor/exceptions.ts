/** Our endings in Harbor's words: the exception a trial records, and what its error table says about that exception. */
import type { Outcome, OutcomeCause, OutcomeStatus } from "../../../engine/outcome/index.ts";

interface HarborPolicy {
  readonly should_retry: boolean;
  readonly should_grade: boolean;
  readonly has_valid_reward: boolean;
}

/** Harbor 0.26's table, for the exceptions named here. */
const policies = {
  AgentTimeoutError: [false, true, true],
  NonZeroAgentExitCodeError: [false, true, true],
  ContextWindowExceededError: [false, true, true],
  AgentSafetyRefusalError: [false, true, true],
  NetworkConnectionError: [true, true, false],
  ApiInternalServerError: [true, true, false],
  BadRequestError: [false, true, false],
  BudgetExceededError: [false, true, false],
  VerifierTimeoutError: [false, true, false],
  RewardFileNotFoundError: [false, true, false],
  VerifierOutputParseError: [false, true, false],
  EnvironmentStartTimeoutError: [true, false, false],
  SandboxBuildFailedError: [true, false, false],
  AgentSetupTimeoutError: [true, false, false],
  MemoryLimitExceededError: [true, false, false],
  RuntimeRequestError: [true, false, false],
  CancelledError: [false, false, false],
} as const satisfies Readonly<Record<string, readonly [retry: boolean, grade: boolean, valid: boolean]>>;
type HarborException = keyof typeof policies;

const byCause: Readonly<Partial<Record<OutcomeCause, HarborException>>> = {
  "context-overflow": "ContextWindowExceededError",
  "image-pull": "SandboxBuildFailedError",
  "image-build": "SandboxBuildFailedError",
  "out-of-memory": "MemoryLimitExceededError",
  "setup-timeout": "AgentSetupTimeoutError",
  "verifier-timeout": "VerifierTimeoutError",
  "reward-missing": "RewardFileNotFoundError",
  "reward-malformed": "VerifierOutputParseError",
  "reward-forged": "VerifierOutputParseError",
  "upstream-5xx": "ApiInternalServerError",
  "upstream-4xx": "BadRequestError",
  "spending-limit": "BudgetExceededError",
  "budget-exceeded": "BudgetExceededError",
};
const byStatus: Readonly<Record<OutcomeStatus, HarborException | null>> = {
  succeeded: null,
  failed: null,
  "agent-timeout": "AgentTimeoutError",
  "environment-failure": "RuntimeRequestError",
  "verifier-failure": "VerifierOutputParseError",
  "harness-failure": "NonZeroAgentExitCodeError",
  "network-failure": "NetworkConnectionError",
  cancelled: "CancelledError",
  "interrupted-for-safety": "AgentSafetyRefusalError",
};

export interface HarborFailure {
  readonly type: HarborException;
  readonly message: string;
  readonly policy: HarborPolicy;
}

/** Null for a rollout that was graded without trouble. */
export function failureOf(outcome: Outcome | null): HarborFailure | null {
  const usual = byStatus[outcome?.status ?? "cancelled"];
  if (usual === null) return null;
  const type = (outcome?.cause == null || outcome.status === "agent-timeout" ? undefined : byCause[outcome.cause]) ?? usual;
  const [should_retry, should_grade, has_valid_reward] = policies[type];
  const told = outcome === null ? "The rollout had not ended." : (outcome.detail ?? [outcome.status, outcome.cause].filter(Boolean).join(", "));
  return { type, message: told, policy: { should_retry, should_grade, has_valid_reward } };
}

/** The rollout whose exceptions these are was graded and its reward counts, as Harbor sees it. */
export function isRewardValid(reward: number | null, failures: readonly HarborFailure[]): boolean {
  return reward !== null && failures.every(({ policy }) => policy.has_valid_reward);
}
