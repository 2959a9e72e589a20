/**
 * Where an assistant turn ends in a rendered conversation. The turn is rendered with its own calls and, for its text, a
 * sentinel; its end is after the last thing that came from it. The token that closes it is found there, before anything that
 * came from a later message. A template that closes turns with plain text, or with nothing, has no such token: its turns are
 * rendered as text alone, so that what follows the sentinel is what follows the turn.
 */
import type { Rendered } from "../templates/index.ts";
import type { ConversationRules } from "./contract.ts";
import type { ConversationRenderer } from "./conversation-renderer.ts";
import type { FittedMessage } from "./fit-conversation.ts";
import { assistant, probeCall, probeTime, probeTool, user, word } from "./probe-rules.ts";
import type { FoundToken, SpecialTokens } from "./special-tokens.ts";

const sentinel = "sentinel";

/** The turn in the shape it has, its text replaced by a sentinel; so something of it is seen in the rendering. */
export function withSentinel(message: FittedMessage): FittedMessage {
  if (message.role !== "assistant") return message;
  const needsText = message.calls.length === 0 || message.text.trim() !== "";
  return { ...message, text: needsText ? sentinel : "", reasoning: null };
}

/** The turn as nothing but a sentinel. */
export function asSentinel(message: FittedMessage): FittedMessage {
  return message.role === "assistant" ? { ...message, text: sentinel, reasoning: null, calls: [] } : message;
}

interface AfterTurn {
  /** UTF-16 offset after the last content of the turn. */
  readonly offset: number;
  /** Control tokens of the template between it and the content of a later message. */
  readonly tokens: readonly FoundToken[];
}

/** Null when nothing of the turn is seen in the rendering. */
function afterTurn({ text, contentSpans }: Rendered, turn: number, special: SpecialTokens): AfterTurn | null {
  const last = contentSpans.findLast((span) => span.source === turn);
  if (last === undefined) return null;
  const next = contentSpans.find((span) => span.start >= last.end && span.source > turn);
  return { offset: last.end, tokens: [...special.between(text, last.end, next?.start ?? text.length, contentSpans)] };
}

/** Offset after the turn's text, for a turn rendered as a sentinel. */
export function endOfText(rendered: Rendered, turn: number): number | null {
  return rendered.contentSpans.findLast((span) => span.source === turn)?.end ?? null;
}

/** The token that closes the turn; null when none of the closing tokens stands there. */
export function closingToken(rendered: Rendered, turn: number, special: SpecialTokens, closing: ReadonlySet<number>): FoundToken | null {
  return afterTurn(rendered, turn, special)?.tokens.find((token) => closing.has(token.id)) ?? null;
}

/**
 * Ids of the control tokens with which the template closes turns of text and of calls, beside those known already; none when it
 * has none. A token that follows other text is no closing token unless it is known as one: it begins the next turn.
 */
export function probeClosingIds(
  renderer: ConversationRenderer,
  rules: ConversationRules,
  special: SpecialTokens,
  known: ReadonlySet<number>,
): readonly number[] {
  const render = (turn: FittedMessage, next: FittedMessage): Rendered | null =>
    renderer.tryRender({ messages: [user(word(1)), turn, next], tools: [probeTool], addGenerationPrompt: true, now: probeTime }, rules);
  const ofText = render(assistant(word(2)), user(word(3)));
  const afterText = ofText === null ? null : afterTurn(ofText, 1, special);
  if (ofText === null || afterText === null) return [];
  const [first] = afterText.tokens;
  const stands = first !== undefined && ofText.text.slice(afterText.offset, first.start).trim() === "" ? first : null;
  const closing = afterText.tokens.find((token) => known.has(token.id)) ?? stands;
  if (closing === null) return [];
  const answer: FittedMessage = rules.toolAnswers === "tool" ? { role: "tool", text: word(3), callId: "abcdefghi", name: null } : user(word(3));
  const ofCalls = render(assistant("", [probeCall("abcdefghi")]), answer);
  const afterCalls = (ofCalls === null ? null : afterTurn(ofCalls, 1, special))?.tokens ?? [];
  const closingCalls = afterCalls.find((token) => token.id === closing.id || known.has(token.id)) ?? afterCalls[0];
  return closingCalls === undefined ? [closing.id] : [closing.id, closingCalls.id];
}
