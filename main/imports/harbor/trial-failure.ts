/** Harbor's exceptions in our words. */
import type { OutcomeCause, OutcomeStatus } from "../../../engine/outcome/index.ts";
import type { ForeignFailure } from "../graded-outcome.ts";

const known: Readonly<Record<string, readonly [OutcomeStatus, OutcomeCause | null]>> = {
  AgentTimeoutError: ["agent-timeout", null],
  ContextWindowExceededError: ["failed", "context-overflow"],
  ContextLengthExceededError: ["failed", "context-overflow"],
  NonZeroAgentExitCodeError: ["harness-failure", "harness-exit"],
  AgentSetupTimeoutError: ["harness-failure", "setup-timeout"],
  VerifierTimeoutError: ["verifier-failure", "verifier-timeout"],
  RewardFileNotFoundError: ["verifier-failure", "reward-missing"],
  RewardFileEmptyError: ["verifier-failure", "reward-missing"],
  VerifierOutputParseError: ["verifier-failure", "reward-malformed"],
  EnvironmentStartTimeoutError: ["environment-failure", null],
  SandboxBuildFailedError: ["environment-failure", "image-build"],
  SandboxLikelyOutOfMemoryError: ["environment-failure", "out-of-memory"],
  MemoryLimitExceededError: ["environment-failure", "out-of-memory"],
  AgentSafetyRefusalError: ["interrupted-for-safety", null],
  BudgetExceededError: ["network-failure", "budget-exceeded"],
  CancelledError: ["cancelled", null],
};
const network = /^(?:Api|API|Network|RateLimit|InternalServer|ServiceUnavailable|Unknown)|^Timeout$|Connection/;

/** What a trial's exception says of how it ended. An exception of no known name is the environment's. */
export function failureOf(exception: { readonly exception_type: string; readonly exception_message: string }): ForeignFailure {
  const [status, cause] = known[exception.exception_type] ?? [
    network.test(exception.exception_type) ? "network-failure" : "environment-failure",
    null,
  ];
  return { status, cause, detail: `${exception.exception_type}: ${exception.exception_message}`.split("\n", 1)[0] ?? "" };
}
