import { type BreakCause, breakCauses, type Exclusion, type GraphCall, type Reconstruction, reconstruct } from "../../engine/graph/index.ts";
import type { Tokenizer } from "../../engine/tokenizers/index.ts";
import { type CallRecord, isModelCall, type Store } from "../store/index.ts";
import { callKeys } from "./call-keys.ts";
import type { Trajectories, TrajectoryTotals } from "./contract.ts";

interface RebuildOptions {
  /** 0-based; default: the last. */
  readonly attempt?: number;
  /** Of the policy; with it breaks of re-tokenisation are told from those of the template. */
  readonly tokenizer?: Tokenizer;
}

/** The trajectories of one attempt of a rollout, as far as it has come. */
export function rebuildTrajectories(store: Store, rolloutId: string, options: RebuildOptions = {}): Trajectories {
  const calls = store.callsOf(rolloutId, options.attempt);
  const nodes = store.nodesOf(rolloutId, options.attempt);
  const withTokens = new Set(nodes.map((node) => node.callId));
  const answered = calls.filter((call) => withTokens.has(call.id) || call.capture === "text-only");
  const decode = options.tokenizer === undefined ? {} : { decode: decodeWith(options.tokenizer) };
  // Bodies are read only when they decide something: where ids are missing, or a break has no recorded cause.
  const byTokens = reconstruct(answered.map(withoutKeys), nodes, decode);
  const rebuilt = needsMessages(byTokens, answered, withTokens)
    ? reconstruct(
        answered.map((call) => withKeys(store, call)),
        nodes,
        decode,
      )
    : byTokens;
  return {
    chains: rebuilt.chains,
    chainOfCall: rebuilt.chainOfCall,
    trainable: rebuilt.trainable,
    reason: rebuilt.reason,
    calls: calls.filter(isModelCall).length,
    promptTokens: calls.reduce((sum, call) => sum + call.promptTokens, 0),
    completionTokens: calls.reduce((sum, call) => sum + call.completionTokens, 0),
    trainedTokens: rebuilt.counts.trained,
    breaks: rebuilt.counts.breaks,
    excluded: rebuilt.counts.excluded,
    withoutLogprob: rebuilt.counts.withoutLogprob,
    tokensOf: (chain) => rebuilt.tokensOf(chain),
  };
}

/** What the end of a rollout writes to its record. */
export function trajectoryTotals(trajectories: Trajectories): TrajectoryTotals {
  const { calls, chains, promptTokens, completionTokens, trainable, reason } = trajectories;
  return { calls, chains: chains.length, promptTokens, completionTokens, trainable, trainableReason: reason };
}

function needsMessages(rebuilt: Reconstruction, calls: readonly CallRecord[], withTokens: ReadonlySet<string>): boolean {
  if (calls.some((call) => !withTokens.has(call.id))) return calls.length > 1;
  const causeOfCall = new Map(calls.map((call) => [call.index, call.breakCause]));
  return rebuilt.chains.slice(1).some((chain) => causeOfCall.get(chain.calls[chain.calls.length - chain.owned] ?? -1) === null);
}

function withoutKeys(call: CallRecord): GraphCall {
  return {
    id: call.id,
    index: call.index,
    excluded: exclusionOf(call),
    recordedBreak: breakCauses.find((cause): cause is BreakCause => cause === call.breakCause) ?? null,
    messages: [],
    answer: null,
    tools: null,
    thread: threadOf(call.session),
  };
}

function withKeys(store: Store, call: CallRecord): GraphCall {
  return { ...withoutKeys(call), ...callKeys(store, call) };
}

/** An aborted answer that was given again from the record reached its client. */
function exclusionOf(call: CallRecord): Exclusion | null {
  if (call.quarantined !== null) return "quarantined";
  if (call.late) return "late";
  if ((call.aborted && call.replays === 0) || call.status === "partial") return "undelivered";
  return call.side === null ? null : "side";
}

/**
 * The conversation that a harness's session headers name. Harnesses name it alike: the narrowest of a thread, an agent and a
 * session id counts; ids of parents, windows and turns do not tell conversations apart.
 */
function threadOf(session: Readonly<Record<string, string>>): string | null {
  for (const ending of [/(?:^|[-_])thread[-_]id$/i, /(?:^|[-_])agent[-_]id$/i, /(?:^|[-_])session[-_]id$/i]) {
    const header = Object.keys(session).find((name) => ending.test(name) && !/parent/i.test(name));
    if (header !== undefined) return session[header] ?? null;
  }
  return null;
}

/** Text of ids that may hold some that the tokenizer does not know. */
function decodeWith(tokenizer: Tokenizer): (ids: Int32Array) => string {
  return (ids) => tokenizer.decode(ids.filter((id) => tokenizer.tokenOf(id) !== undefined));
}
