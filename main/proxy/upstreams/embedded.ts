/** A policy whose weights this machine runs: prompts as ids in, ids with log-probabilities out. */
import type { Answer, Sampling } from "../../../engine/conversation/index.ts";
import type { SamplingSettings } from "../../../engine/decoding/index.ts";
import { deriveSeed } from "../../../engine/statistics/index.ts";
import { TemplateError } from "../../../engine/templates/index.ts";
import { overflowKind, type SamplerLease } from "../../sampler/index.ts";
import { toolCallId } from "../answer-form.ts";
import type { PolicyText } from "../policy-text.ts";
import { overflowFailure, templateFailure } from "../token-in.ts";
import type { Upstream, UpstreamFailure, UpstreamRequest, UpstreamResult } from "./upstream.ts";

export interface EmbeddedOptions {
  readonly id: string;
  /** Hugging Face folder of the model. */
  readonly folder: string;
  readonly text: PolicyText;
  readonly lease: SamplerLease;
  /** What answers are stamped with. */
  readonly policyVersion: string;
  /** Tokens of one answer at most. */
  readonly maxTokens: number | null;
}

export function createEmbedded({ id, folder, text, lease, policyVersion, maxTokens }: EmbeddedOptions): Upstream {
  const { contextWindow } = lease.info;

  async function complete(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamResult> {
    const prompt = promptOf(text, request);
    if ("kind" in prompt) return { ok: false, failure: prompt };
    const room = contextWindow - prompt.ids.length;
    if (room <= 0) return { ok: false, failure: overflowFailure(contextWindow, prompt.ids.length) };
    const { sampling } = request.conversation;
    const result = await lease.sample(
      {
        promptIds: prompt.ids,
        sampling: settingsOf(sampling),
        endIds: request.endIds ?? text.builder.endIds,
        maxTokens: Math.min(room, sampling.maxTokens ?? room, maxTokens ?? room),
        stopStrings: sampling.stop ?? [],
        // Not by attempt: a rollout that is run again, after a restart for one, answers as it did.
        seed: deriveSeed(sampling.seed ?? 0, request.seed ?? request.rolloutId, request.callIndex),
      },
      signal,
      request.follow?.(prompt),
    );
    if (result.ok) return { ok: true, ...answerOf(request, prompt, result.sample), queueMs: result.sample.queueMs };
    const { failure } = result;
    if (failure.kind === overflowKind) return { ok: false, failure: overflowFailure(contextWindow, prompt.ids.length) };
    const lost = failure.kind === "lost";
    return {
      ok: false,
      failure: {
        kind: lost ? "unreachable" : "server-error",
        message: `The embedded policy gave no answer: ${failure.message}.`,
        remedy: lost ? "It is started again for the next call; look at the memory of this machine." : "See the log of the service.",
        retryable: lost,
      },
    };
  }

  function answerOf(
    request: UpstreamRequest,
    prompt: Prompt,
    { ids, logprobs, reason, textBeforeStop, reusedTokens }: Extract<Awaited<ReturnType<typeof lease.sample>>, { ok: true }>["sample"],
  ): { readonly answer: Answer; readonly notes?: readonly string[] } {
    const usage = { promptTokens: prompt.ids.length, completionTokens: ids.length, cachedTokens: reusedTokens };
    if (textBeforeStop !== null) {
      const content = textBeforeStop === "" ? [] : [{ type: "text" as const, text: textBeforeStop }];
      const answer: Answer = {
        message: { role: "assistant", content, toolCalls: [] },
        finishReason: "stop",
        usage,
        unparsedToolCall: false,
        policyVersion,
      };
      return { answer, notes: ["This call has no token ids: a stop text begins inside a token."] };
    }
    const { message, finishReason, unparsedToolCall } = text.builder.readAnswer({
      sampledIds: ids,
      finishReason: reason === "length" ? "length" : "stop",
      conversation: request.conversation,
      reasoningOpened: prompt.reasoningOpened,
      callId: (index) => toolCallId(`${request.rolloutId}-${request.attempt}-${request.callIndex}`, index),
    });
    return {
      answer: { message, finishReason, usage, unparsedToolCall, policyVersion, tokens: { promptIds: prompt.ids, sampledIds: ids, logprobs } },
    };
  }

  return {
    id,
    kind: "embedded",
    capture: "ids+logprobs",
    takesTokenIds: true,
    reportsQueue: true,
    contextWindow,
    tokenizerFolder: folder,
    complete,
    close: async () => lease.release(),
  };
}

interface Prompt {
  readonly ids: Int32Array;
  readonly reasoningOpened: boolean;
}

function promptOf(text: PolicyText, { promptIds, conversation }: UpstreamRequest): Prompt | UpstreamFailure {
  if (promptIds !== undefined) return { ids: promptIds, reasoningOpened: false };
  try {
    return text.builder.history().assemble(conversation, { mode: "as-template", now: new Date() });
  } catch (error) {
    if (error instanceof TemplateError) return templateFailure(error);
    throw error;
  }
}

function settingsOf({ temperature, topP, topK, minP }: Sampling): SamplingSettings {
  return { temperature: temperature ?? 1, topP: topP ?? 1, topK: Math.max(0, topK ?? 0), minP: minP ?? 0 };
}
