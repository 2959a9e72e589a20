/**
 * Builds the ids of one prompt: the whole conversation by the template, or what lies between a recorded answer and the next
 * generation prompt. Every text of the template is tokenised in one piece with its neighbours, content inside it as text.
 */
import type { Conversation } from "../conversation/index.ts";
import { type ContentSpan, type Rendered, TemplateError } from "../templates/index.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import type { ConversationRules } from "./contract.ts";
import { type ConversationRenderer, fittedIndexOf } from "./conversation-renderer.ts";
import { type FittedConversation, type FittedMessage, fitConversation } from "./fit-conversation.ts";
import type { FoundToken, SpecialTokens } from "./special-tokens.ts";
import { asSentinel, closingToken, endOfText, withSentinel } from "./turn-end.ts";

export interface BuiltText {
  readonly ids: Int32Array;
  readonly reasoningOpened: boolean;
  readonly forgedTokens: number;
}

export interface AssemblerParts {
  readonly tokenizer: Tokenizer;
  readonly renderer: ConversationRenderer;
  readonly rules: ConversationRules;
  readonly special: SpecialTokens;
  readonly endIds: ReadonlySet<number>;
}

export class PromptAssembler {
  readonly #parts: AssemblerParts;

  constructor(parts: AssemblerParts) {
    this.#parts = parts;
  }

  fit(conversation: Conversation): FittedConversation {
    return fitConversation(conversation, this.#parts.rules);
  }

  /** The whole conversation as the template writes it. Throws `TemplateError`. */
  whole(fitted: FittedConversation, conversation: Conversation, now: Date): BuiltText & { readonly text: string } {
    const { renderer, rules } = this.#parts;
    const rendered = renderer.render({ messages: fitted.messages, tools: conversation.tools, addGenerationPrompt: true, now }, rules);
    return { ...this.#encode(rendered, 0), text: rendered.text };
  }

  /**
   * What follows the answer that is message `origin` of the conversation, up to where the next answer begins; begins with the
   * token that closes the turn when the sampled ids do not end with it. Null when the template does not show that turn.
   */
  after(fitted: FittedConversation, conversation: Conversation, origin: number, sampledIds: Int32Array, now: Date): BuiltText | null {
    const { special, endIds } = this.#parts;
    const turn = fittedIndexOf(fitted.messages, origin);
    const shown = this.#renderTurn(fitted.messages, turn, withSentinel, conversation, now);
    const closing = closingToken(shown, turn, special, endIds);
    if (closing !== null) return this.#afterToken(shown, closing, sampledIds);
    const asText = this.#renderTurn(fitted.messages, turn, asSentinel, conversation, now);
    const closingText = closingToken(asText, turn, special, endIds);
    if (closingText !== null) return this.#afterToken(asText, closingText, sampledIds);
    const end = endOfText(asText, turn);
    return end === null ? null : this.#encodeAfterText(asText, end);
  }

  #afterToken(rendered: Rendered, closing: FoundToken, sampledIds: Int32Array): BuiltText {
    const isClosed = sampledIds.at(-1) === closing.id;
    const built = this.#encode(rendered, closing.start);
    if (built.ids[0] === closing.id) return isClosed ? { ...built, ids: built.ids.subarray(1) } : built;
    const rest = this.#encodeAfterText(rendered, closing.end);
    return isClosed ? rest : { ...rest, ids: Int32Array.of(closing.id, ...rest.ids) };
  }

  /** Some templates refuse what a policy did write, as two calls in one turn: then turns are shown with one call, or none. */
  #renderTurn(
    messages: readonly FittedMessage[],
    turn: number,
    mark: (message: FittedMessage) => FittedMessage,
    conversation: Conversation,
    now: Date,
  ): Rendered {
    const { renderer, rules } = this.#parts;
    const marked = messages.map((message, index) => (index === turn ? mark(message) : message));
    let refusal: TemplateError | null = null;
    for (const shape of [asItIs, withFirstCall, withoutCalls]) {
      try {
        return renderer.render({ messages: marked.map(shape), tools: conversation.tools, addGenerationPrompt: true, now }, rules);
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        refusal ??= error;
      }
    }
    throw refusal ?? new TemplateError("TemplateRuntimeError", "the template renders nothing");
  }

  /** Ids of the rendered text from an offset on, where a text or one of its control tokens begins. */
  #encode(rendered: Rendered, from: number): BuiltText {
    const text = rendered.text.slice(from);
    const spans = spansFrom(rendered, from, -from);
    return { ids: this.#parts.tokenizer.encode(text, { contentSpans: spans }), ...this.#seen(rendered, text, spans) };
  }

  /** The same in the middle of a text: a line end before it keeps away what some tokenizers put at the beginning of any text. */
  #encodeAfterText(rendered: Rendered, from: number): BuiltText {
    const { tokenizer } = this.#parts;
    const lead = tokenizer.encode("\n");
    const text = rendered.text.slice(from);
    const ids = tokenizer.encode(`\n${text}`, { contentSpans: spansFrom(rendered, from, 1 - from) });
    if (!lead.every((id, index) => ids[index] === id)) return this.#encode(rendered, from);
    return { ids: ids.subarray(lead.length), ...this.#seen(rendered, text, spansFrom(rendered, from, -from)) };
  }

  #seen(rendered: Rendered, text: string, spans: readonly ContentSpan[]): Omit<BuiltText, "ids"> {
    return { reasoningOpened: opensReasoning(rendered), forgedTokens: this.#parts.special.countIn(text, spans) };
  }
}

/** The content spans after an offset, moved along. */
function spansFrom(rendered: Rendered, from: number, shift: number): readonly ContentSpan[] {
  return rendered.contentSpans
    .filter((span) => span.end > from)
    .map((span) => ({ ...span, start: Math.max(span.start, from) + shift, end: span.end + shift }));
}

function asItIs(message: FittedMessage): FittedMessage {
  return message;
}

function withFirstCall(message: FittedMessage): FittedMessage {
  return message.role === "assistant" ? { ...message, calls: message.calls.slice(0, 1) } : message;
}

function withoutCalls(message: FittedMessage): FittedMessage {
  return message.role === "assistant" && message.calls.length > 0 ? asSentinel(message) : message;
}

/** The template's own text at the end leaves a reasoning block open. */
function opensReasoning({ text, contentSpans }: Rendered): boolean {
  const own = text.slice(contentSpans.at(-1)?.end ?? 0);
  return own.lastIndexOf("<think>") > own.lastIndexOf("</think>");
}
