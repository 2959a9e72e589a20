/**
 * From what happened in an attempt to its outcome. Pure. The order of the rules is the order of blame: what a person or our own
 * machinery did comes first, then the endpoint, then the harness, and only what is left is the policy's.
 * Grading always happens when the agent ran, so the reward of a run that ended badly is known too; the action says what it is worth.
 */
import type { Outcome, OutcomeCause, OutcomePreset, OutcomeStatus, RolloutPhase, TrainingAction } from "./outcome.ts";

type UpstreamTrouble = "unreachable" | "rate-limited" | "server-error" | "bad-request" | "context-overflow" | "garbled" | "auth" | "spending-limit";

/** What ended an attempt before the agent could be graded. */
export interface AttemptStop {
  readonly phase: RolloutPhase;
  readonly cause: OutcomeCause;
  readonly detail: string;
  /** Another attempt would end the same way. */
  readonly permanent: boolean;
}

export interface AgentFacts {
  readonly ending: "exited" | "timed-out" | "out-of-memory";
  /** null = unknown, never guessed. */
  readonly exitCode: number | null;
  /** The exit code is one by which this harness says that it reached a limit of its own. */
  readonly limitReached: boolean;
  /** Model calls that were recorded, and of them those that were answered. */
  readonly calls: number;
  readonly answered: number;
  /** The last failure of the endpoint, when no call was answered after it. */
  readonly standingFailure: { readonly kind: UpstreamTrouble; readonly message: string } | null;
  readonly contextOverflow: boolean;
  readonly unparsedToolCall: boolean;
  /** The last answer ended at its limit of tokens: some harnesses give up then. */
  readonly answerCut: boolean;
  readonly secretSeen: boolean;
  /** Requests that were no model calls of this rollout (unknown path, wrong key), in words; null when there were none. */
  readonly astray: string | null;
  /** Last line of its error output, for a person. */
  readonly lastWords: string | null;
}

export interface Verdict {
  readonly status: "succeeded" | "failed" | "verifier-failure";
  readonly cause: OutcomeCause | null;
  readonly reward: number | null;
  readonly detail: string | null;
}

export interface AttemptFacts {
  readonly cancelled: boolean;
  readonly stop: AttemptStop | null;
  /** null = it never ran. */
  readonly agent: AgentFacts | null;
  /** null = never graded. */
  readonly verdict: Verdict | null;
}

export interface OutcomeRules {
  readonly preset: OutcomePreset;
  /** Preset `paper` only: an agent that ran out of its time is discarded too. */
  readonly discardTimeouts: boolean;
}

/** How the attempt ended, why, and what training does with it. */
export function classifyOutcome(facts: AttemptFacts, rules: OutcomeRules): Outcome {
  const { status, cause, detail } = judge(facts);
  // What stopped an attempt stopped it before its verdict: a reward beside it is another attempt's, or none.
  const reward = facts.stop === null ? (facts.verdict?.reward ?? null) : null;
  return { status, cause, action: trainingAction(status, cause, reward, rules), detail };
}

/** Whether the policy had a fair try: only then does the reward say something about it. */
export function isPolicysDoing(outcome: Pick<Outcome, "status" | "cause">): boolean {
  switch (outcome.status) {
    case "succeeded":
    case "failed":
    case "agent-timeout":
      return true;
    case "harness-failure":
      // The harness fell over what the policy wrote.
      return outcome.cause === "harness-parse-error";
    case "environment-failure":
    case "verifier-failure":
    case "network-failure":
    case "cancelled":
    case "interrupted-for-safety":
      return false;
  }
}

/** Whether another attempt is fair and may end otherwise: only where our side failed, never where the policy was sampled and judged. */
export function mayTryAgain(facts: AttemptFacts, outcome: Outcome): boolean {
  if (facts.stop?.permanent === true) return false;
  if (outcome.cause === "upstream-4xx" || outcome.cause === "spending-limit") return false;
  return outcome.status === "environment-failure" || outcome.status === "network-failure";
}

type Judgement = Pick<Outcome, "status" | "cause" | "detail">;

function judge({ cancelled, stop, agent, verdict }: AttemptFacts): Judgement {
  if (cancelled) return { status: "cancelled", cause: null, detail: null };
  if (stop !== null) return { status: statusOfStop(stop.cause), cause: stop.cause, detail: stop.detail };
  if (agent === null || verdict === null)
    return { status: "verifier-failure", cause: "reward-missing", detail: "The rollout ended without a verdict." };
  if (agent.secretSeen) {
    return { status: verdict.status, cause: "secret-seen", detail: "A declared secret appeared in a prompt or an answer; its tokens are blanked." };
  }
  return (
    endpointFault(agent, verdict) ??
    silentHarness(agent) ??
    timeout(agent, verdict) ??
    brokenVerifier(verdict) ??
    harnessFault(agent, verdict) ??
    graded(agent, verdict)
  );
}

function statusOfStop(cause: OutcomeCause): OutcomeStatus {
  switch (cause) {
    case "harness-missing":
    case "harness-exit":
    case "harness-parse-error":
      return "harness-failure";
    case "upstream-5xx":
    case "upstream-4xx":
    case "upstream-unreachable":
    case "spending-limit":
      return "network-failure";
    case "budget-exceeded":
    case "secret-seen":
      return "interrupted-for-safety";
    case "verifier-timeout":
    case "verifier-broken":
    case "reward-missing":
    case "reward-malformed":
      return "verifier-failure";
    default:
      return "environment-failure";
  }
}

/** An endpoint that stopped answering, unless the agent came to a good end without it. */
function endpointFault(agent: AgentFacts, verdict: Verdict): Judgement | null {
  const failure = agent.standingFailure;
  if (failure === null || failure.kind === "context-overflow") return null;
  if (verdict.status === "succeeded" && agent.exitCode === 0) return null;
  return { status: "network-failure", cause: causeOfTrouble(failure.kind), detail: failure.message };
}

function causeOfTrouble(kind: UpstreamTrouble): OutcomeCause {
  switch (kind) {
    case "unreachable":
      return "upstream-unreachable";
    case "server-error":
    case "garbled":
      return "upstream-5xx";
    case "spending-limit":
      return "spending-limit";
    case "rate-limited":
    case "bad-request":
    case "auth":
    case "context-overflow":
      return "upstream-4xx";
  }
}

function silentHarness(agent: AgentFacts): Judgement | null {
  if (agent.calls > 0) return null;
  const astray = agent.astray === null ? "" : ` ${agent.astray}`;
  const words = agent.lastWords === null ? "" : ` It said: ${agent.lastWords}`;
  return { status: "harness-failure", cause: "zero-calls-captured", detail: `The harness ended without one model call.${astray}${words}` };
}

function timeout(agent: AgentFacts, verdict: Verdict): Judgement | null {
  if (agent.ending !== "timed-out") return null;
  return { status: "agent-timeout", cause: verdict.status === "verifier-failure" ? verdict.cause : null, detail: verdict.detail };
}

function brokenVerifier(verdict: Verdict): Judgement | null {
  return verdict.status === "verifier-failure" ? { status: "verifier-failure", cause: verdict.cause, detail: verdict.detail } : null;
}

function harnessFault(agent: AgentFacts, verdict: Verdict): Judgement | null {
  if (agent.ending === "out-of-memory") {
    // Inside its own limits, by what it chose to run: the verdict stands.
    return { status: verdict.status, cause: "out-of-memory", detail: "The agent ran out of the memory that the task allows." };
  }
  if (agent.exitCode === 0 || agent.limitReached || agent.contextOverflow || agent.answerCut) return null;
  const words = agent.lastWords === null ? "" : ` It said: ${agent.lastWords}`;
  const cause = agent.unparsedToolCall ? "harness-parse-error" : "harness-exit";
  return { status: "harness-failure", cause, detail: `The harness ended with exit code ${agent.exitCode ?? "unknown"}.${words}` };
}

function graded(agent: AgentFacts, verdict: Verdict): Judgement {
  if (verdict.status === "succeeded") return { status: "succeeded", cause: null, detail: null };
  return { status: "failed", cause: verdict.cause ?? causeOfFailing(agent), detail: verdict.detail };
}

function causeOfFailing(agent: AgentFacts): OutcomeCause | null {
  if (agent.contextOverflow) return "context-overflow";
  if (agent.limitReached || (agent.answerCut && agent.exitCode !== 0)) return "budget-exceeded";
  return agent.unparsedToolCall ? "unparsed-tool-call" : null;
}

function trainingAction(status: OutcomeStatus, cause: OutcomeCause | null, reward: number | null, rules: OutcomeRules): TrainingAction {
  // Kept to be looked at; never trained, whatever the reward says.
  if (cause === "secret-seen" || cause === "reward-forged") return "mask";
  switch (rules.preset) {
    case "default":
      return reward !== null && isPolicysDoing({ status, cause }) ? "train" : "mask";
    case "paper":
      if (status === "agent-timeout" && rules.discardTimeouts) return "discard";
      return reward !== null && (status === "succeeded" || status === "failed" || status === "agent-timeout") ? "train" : "discard";
  }
}
