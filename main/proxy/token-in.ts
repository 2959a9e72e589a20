/**
 * Token-in for one session: prompts as ids, built from what the policy really sampled, and sampled ids read back as an answer.
 * Owns the budget of a prompt: what is left of the window bounds the answer, an overlong prompt is the dialect's own error.
 */
import type { Answer, Conversation } from "../../engine/conversation/index.ts";
import type { AssembledPrompt, PromptBuilder, PromptHistory, PromptMode } from "../../engine/prompts/index.ts";
import { TemplateError } from "../../engine/templates/index.ts";
import { toolCallId } from "./answer-form.ts";
import type { UpstreamFailure } from "./upstreams/upstream.ts";

export type PreparedPrompt =
  | { readonly ok: true; readonly prompt: AssembledPrompt; readonly conversation: Conversation; readonly notes: readonly string[] }
  | { readonly ok: false; readonly failure: UpstreamFailure };

type ReadTokens = { readonly ok: true; readonly answer: Answer } | { readonly ok: false; readonly failure: UpstreamFailure };

export interface TokenIn {
  /** Ids after which the policy's turn is over. */
  readonly endIds: readonly number[];
  prepare(conversation: Conversation, now: number): PreparedPrompt;
  /** The answer with the message that its sampled ids say. Answers without ids pass. */
  read(answer: Answer, prompt: AssembledPrompt, conversation: Conversation, callId: string): ReadTokens;
  /** An answer goes out to the harness: later requests may quote it. */
  remember(callId: string, conversation: Conversation, answer: Answer): void;
}

export interface TokenInOptions {
  readonly builder: PromptBuilder;
  readonly mode: PromptMode;
  readonly contextWindow: number | null;
}

export function createTokenIn({ builder, mode, contextWindow }: TokenInOptions): TokenIn {
  const history: PromptHistory = builder.history();
  return {
    endIds: builder.endIds,
    prepare(conversation, now) {
      let prompt: AssembledPrompt;
      try {
        prompt = history.assemble(conversation, { mode, now: new Date(now) });
      } catch (error) {
        if (error instanceof TemplateError) return { ok: false, failure: templateFailure(error) };
        throw error;
      }
      const forged = prompt.forgedTokens === 0 ? [] : [`${prompt.forgedTokens} control tokens stand in content as text and were kept text.`];
      return withinWindow(prompt, conversation, contextWindow, [...prompt.adaptations, ...forged]);
    },
    read(answer, prompt, conversation, callId) {
      if (answer.tokens === undefined) return { ok: true, answer };
      try {
        const read = builder.readAnswer({
          sampledIds: answer.tokens.sampledIds,
          finishReason: answer.finishReason,
          conversation,
          reasoningOpened: prompt.reasoningOpened,
          callId: (index) => toolCallId(callId, index),
        });
        return { ok: true, answer: { ...answer, message: read.message, finishReason: read.finishReason, unparsedToolCall: read.unparsedToolCall } };
      } catch (error) {
        if (error instanceof RangeError) return { ok: false, failure: strangeIdsFailure(error) };
        throw error;
      }
    },
    remember(callId, conversation, answer) {
      if (answer.tokens === undefined) return;
      const { promptIds, sampledIds } = answer.tokens;
      history.record({ callId, conversation, promptIds, sampledIds, message: answer.message });
    },
  };
}

function withinWindow(prompt: AssembledPrompt, conversation: Conversation, window: number | null, notes: readonly string[]): PreparedPrompt {
  if (window === null) return { ok: true, prompt, conversation: limited(conversation), notes };
  const left = window - prompt.ids.length;
  if (left <= 0) return { ok: false, failure: overflowFailure(window, prompt.ids.length) };
  const asked = conversation.sampling.maxTokens;
  if (asked !== undefined && asked <= left) return { ok: true, prompt, conversation, notes };
  const clamped = { ...conversation, sampling: { ...conversation.sampling, maxTokens: left } };
  const clampNote = asked === undefined ? [] : [`The request asked for ${asked} tokens; ${left} were left of the window of ${window}.`];
  return { ok: true, prompt, conversation: clamped, notes: [...notes, ...clampNote] };
}

/** An id without a token: the server runs another model than the tokenizer is of, or its answer is damaged. */
function strangeIdsFailure(error: RangeError): UpstreamFailure {
  return {
    kind: "garbled",
    message: `The token ids of the policy server can't be read: ${error.message}.`,
    remedy: "Give the policy the tokenizer of the model that its server runs.",
    retryable: false,
  };
}

/** Completions of servers stop after a few tokens when nothing is said. */
const unknownWindowTokens = 4_096;

function limited(conversation: Conversation): Conversation {
  if (conversation.sampling.maxTokens !== undefined) return conversation;
  return { ...conversation, sampling: { ...conversation.sampling, maxTokens: unknownWindowTokens } };
}

/** In the words that clients look for when they decide to compact. */
export function overflowFailure(window: number, promptTokens: number): UpstreamFailure {
  return {
    kind: "context-overflow",
    message: `This model's maximum context length is ${window} tokens. However, your messages resulted in ${promptTokens} tokens.`,
    remedy: "Please reduce the length of the messages.",
    retryable: false,
  };
}

export function templateFailure(error: TemplateError): UpstreamFailure {
  return {
    kind: "bad-request",
    message: `The policy's chat template refuses this conversation: ${error.message}.`,
    remedy: "Use a policy whose template takes these roles, or a harness that does not send them.",
    retryable: false,
  };
}
