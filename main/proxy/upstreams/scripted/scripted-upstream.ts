/** A policy that follows a rule file. Its tokens are real ids; its log-probs depend on nothing but the ids. */
import type { Answer, CapturedTokens } from "../../../../engine/conversation/index.ts";
import { toolCallId } from "../../answer-form.ts";
import type { PolicyText } from "../../policy-text.ts";
import { overflowFailure } from "../../token-in.ts";
import type { Upstream, UpstreamRequest, UpstreamResult } from "../upstream.ts";
import { type ComposedAnswer, composeAnswer } from "./compose.ts";
import { faultFailure } from "./faults.ts";
import { type Captures, matchRule } from "./match.ts";
import type { Script, ScriptAnswer, ScriptRule } from "./schema.ts";
import { type Situation, situationOf } from "./situation.ts";
import { writeTurn } from "./write-turn.ts";

export interface ScriptedOptions {
  readonly id: string;
  readonly script: Script;
  readonly text: PolicyText;
  readonly tokenizerFolder: string;
}

/** What rules did in one attempt of a rollout. */
interface AttemptState {
  readonly answered: Map<ScriptRule, number>;
  readonly faulted: Map<ScriptRule, number>;
}

/** Attempts that are remembered; the oldest is forgotten first. */
const rememberedAttempts = 4_096;

export function createScripted({ id, script, text, tokenizerFolder }: ScriptedOptions): Upstream {
  const attempts = new Map<string, AttemptState>();

  function stateOf(request: UpstreamRequest): AttemptState {
    const key = `${request.rolloutId}/${request.attempt}`;
    const known = attempts.get(key);
    if (known !== undefined) return known;
    const made: AttemptState = { answered: new Map(), faulted: new Map() };
    attempts.set(key, made);
    const oldest = attempts.size > rememberedAttempts ? attempts.keys().next().value : undefined;
    if (oldest !== undefined) attempts.delete(oldest);
    return made;
  }

  function choose(situation: Situation, state: AttemptState): { rule: ScriptRule; captures: Captures } | null {
    for (const rule of script.rules) {
      if (rule.times !== undefined && (state.answered.get(rule) ?? 0) >= rule.times) continue;
      const captures = matchRule(rule, situation);
      if (captures !== null) return { rule, captures };
    }
    return null;
  }

  async function complete(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamResult> {
    const situation = situationOf(request);
    const state = stateOf(request);
    const chosen = choose(situation, state);
    const queueMs = chosen?.rule.queueMs ?? 0;
    await pause(queueMs, signal);
    return { ...(await answerOrFail(request, situation, state, chosen, signal)), queueMs };
  }

  async function answerOrFail(
    request: UpstreamRequest,
    situation: Situation,
    state: AttemptState,
    chosen: ReturnType<typeof choose>,
    signal: AbortSignal,
  ): Promise<UpstreamResult> {
    await pause(chosen?.rule.delayMs ?? script.delayMs, signal);
    const fault = chosen?.rule.fault;
    if (chosen !== null && fault !== undefined && count(state.faulted, chosen.rule) <= fault.times) {
      if (fault.kind === "timeout") await pause(fault.afterMs ?? Number.POSITIVE_INFINITY, signal);
      return { ok: false, failure: faultFailure(fault, script.contextWindow) };
    }
    if (chosen !== null) count(state.answered, chosen.rule);
    const answer = answerOf(chosen?.rule ?? null, situation);
    const idOf = (index: number): string => toolCallId(`${request.rolloutId}-${request.attempt}-${request.callIndex}`, index);
    const composed = composeAnswer(answer, chosen?.captures ?? new Map(), situation.tools, idOf, situation.harness);
    return speak(request, answer, composed, idOf);
  }

  function answerOf(rule: ScriptRule | null, situation: Situation): ScriptAnswer {
    if (rule === null) return script.otherwise;
    return rule.steps?.[Math.min(situation.turns, rule.steps.length - 1)] ?? rule.answer ?? script.otherwise;
  }

  /** Puts the composed answer into tokens, within the request's limit. */
  function speak(request: UpstreamRequest, answer: ScriptAnswer, composed: ComposedAnswer, idOf: (index: number) => string): UpstreamResult {
    const prompt = promptOf(request);
    if (prompt.ids.length >= script.contextWindow) return { ok: false, failure: overflowFailure(script.contextWindow, prompt.ids.length) };
    const limit = Math.min(request.conversation.sampling.maxTokens ?? Number.POSITIVE_INFINITY, script.contextWindow - prompt.ids.length);
    const whole = text.tokenizer.encode(writeTurn(composed.message));
    const endId = text.builder.endIds[0];
    const ends = composed.finishReason !== "length" && endId !== undefined;
    const ids = ends ? Int32Array.of(...whole, endId) : whole;
    const isCut = ids.length > limit;
    const sampledIds = isCut ? ids.slice(0, limit) : ids;
    const tokens: CapturedTokens = { promptIds: prompt.ids, sampledIds, logprobs: pseudoLogprobs(sampledIds) };
    const usage = {
      promptTokens: answer.usage?.promptTokens ?? prompt.ids.length,
      completionTokens: answer.usage?.completionTokens ?? sampledIds.length,
    };
    const shared = { tokens, usage, policyVersion: script.name };
    if (!isCut)
      return {
        ok: true,
        answer: { ...shared, message: composed.message, finishReason: composed.finishReason, unparsedToolCall: composed.malformed },
      };
    const { message, unparsedToolCall } = text.builder.readAnswer({
      sampledIds,
      finishReason: "length",
      conversation: request.conversation,
      reasoningOpened: prompt.reasoningOpened,
      callId: idOf,
    });
    const cut: Answer = { ...shared, message, finishReason: "length", unparsedToolCall };
    return { ok: true, answer: cut };
  }

  function promptOf(request: UpstreamRequest): { readonly ids: Int32Array; readonly reasoningOpened: boolean } {
    if (request.promptIds !== undefined) return { ids: request.promptIds, reasoningOpened: false };
    return text.builder.history().assemble(request.conversation, { mode: "as-template", now: new Date() });
  }

  return {
    id,
    kind: "scripted",
    capture: "ids+logprobs",
    takesTokenIds: true,
    reportsQueue: script.rules.some((rule) => rule.queueMs !== undefined),
    contextWindow: script.contextWindow,
    tokenizerFolder,
    complete,
    close: async () => attempts.clear(),
  };
}

/** Counts once more, and gives the count. */
function count(counts: Map<ScriptRule, number>, rule: ScriptRule): number {
  const next = (counts.get(rule) ?? 0) + 1;
  counts.set(rule, next);
  return next;
}

/** Between -2 and 0, the same for the same id after the same id. */
function pseudoLogprobs(ids: Int32Array): Float32Array {
  return Float32Array.from(ids, (id, index) => -(((id * 31 + (ids[index - 1] ?? 7) * 17) % 997) / 500));
}

/** Rejects when the call is given up. An infinite pause ends only so. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = Number.isFinite(ms) ? setTimeout(done, ms) : undefined;
    function done(): void {
      signal.removeEventListener("abort", stop);
      resolve();
    }
    function stop(): void {
      clearTimeout(timer);
      reject(signal.reason);
    }
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
}
