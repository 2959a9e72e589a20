/** What one agent run gave, in a trial's result: the run of the whole trial, or that of a step. */
import type { Outcome } from "../../../engine/outcome/index.ts";
import type { RolloutRecord, StepRecord, Store } from "../../store/index.ts";
import { rebuildTrajectories } from "../../trajectories/index.ts";
import { isOfStep } from "../atif/trajectory.ts";
import { failureOf, type HarborFailure } from "./exceptions.ts";
import { moment } from "./written-values.ts";

export const wasRun = ({ startedAt }: StepRecord): boolean => startedAt !== null;

/** `step`: only what happened in it. */
export function agentResult(store: Store, rollout: RolloutRecord, step?: StepRecord) {
  const { outcome, reward } = step ?? rollout;
  const counts = step === undefined ? rollout : tokensOf(store, rollout, step);
  return {
    n_input_tokens: counts.promptTokens,
    n_cache_tokens: null,
    n_output_tokens: counts.completionTokens,
    cost_usd: null,
    model_usage: null,
    rollout_details: rolloutDetails(store, rollout, step),
    metadata: { openforge: { rollout: rollout.id, outcome, reward, attempts: rollout.attempts, sandbox: rollout.sandbox } },
  };
}

export function stepFailure({ outcome }: StepRecord): HarborFailure | null {
  return failureOf(outcome === null ? null : ({ ...outcome, action: "mask" } satisfies Outcome));
}

export function stepResult(store: Store, rollout: RolloutRecord, step: StepRecord) {
  const { name, startedAt, agentSeconds, verifierSeconds, rewards } = step;
  const failure = stepFailure(step);
  const begin = startedAt ?? rollout.createdAt;
  const agentEnd = begin + (agentSeconds ?? 0) * 1000;
  return {
    step_name: name,
    agent_result: agentResult(store, rollout, step),
    verifier_result: rewards === null ? null : { rewards },
    exception_info: failure === null ? null : exceptionInfo(failure, agentEnd),
    agent_execution: { started_at: moment(begin), finished_at: agentSeconds === null ? null : moment(agentEnd) },
    verifier: verifierSeconds === null ? null : { started_at: moment(agentEnd), finished_at: moment(agentEnd + verifierSeconds * 1000) },
  };
}

export function exceptionInfo({ type, message, policy }: HarborFailure, at: number) {
  return { exception_type: type, exception_message: message, exception_traceback: "", occurred_at: moment(at), policy };
}

function tokensOf(store: Store, rollout: RolloutRecord, step: StepRecord): Pick<RolloutRecord, "promptTokens" | "completionTokens"> {
  const calls = store.callsOf(rollout.id).filter(({ index }) => isOfStep(step, index));
  const sum = (read: (call: (typeof calls)[number]) => number): number => calls.reduce((total, call) => total + read(call), 0);
  return { promptTokens: sum((call) => call.promptTokens), completionTokens: sum((call) => call.completionTokens) };
}

/** One entry a chain, one element a call that it owns; null without token ids. */
function rolloutDetails(store: Store, rollout: RolloutRecord, step?: StepRecord) {
  const trajectories = rebuildTrajectories(store, rollout.id);
  const details = trajectories.chains
    .filter(({ tokens }) => tokens > 0)
    .flatMap(({ number, calls, owned }) => {
      const own = new Set(calls.slice(calls.length - owned).filter((index) => isOfStep(step, index)));
      if (own.size === 0) return [];
      const tokens = trajectories.tokensOf(number);
      const sampled = tokens.segments.filter(({ kind, callIndex }) => kind === "sampled" && own.has(callIndex));
      const logprobs = sampled.map(({ start, end }) => Array.from(tokens.logprobs.subarray(start, end)));
      return {
        prompt_token_ids: sampled.map(({ start }) => Array.from(tokens.ids.subarray(0, start))),
        completion_token_ids: sampled.map(({ start, end }) => Array.from(tokens.ids.subarray(start, end))),
        ...(logprobs.flat().every(Number.isFinite) ? { logprobs } : {}),
        extra: { loss_mask: sampled.map(({ start, end }) => Array.from(tokens.mask.subarray(start, end))) },
      };
    });
  return details.length === 0 ? null : details;
}
