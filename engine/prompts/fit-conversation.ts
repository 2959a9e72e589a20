/**
 * A conversation in the shapes that a template takes, by declared rules. Assistant turns are kept one by one, so that each
 * can be found again. Every change is told in a sentence.
 */
import type { ContentPart, Conversation, Message, ToolCall } from "../conversation/index.ts";
import { replaceLoneSurrogates } from "../json/index.ts";
import type { ConversationRules } from "./contract.ts";

/** A message as text, the way templates know it. */
export type FittedMessage =
  | { readonly role: "system" | "developer" | "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly reasoning: string | null;
      readonly calls: readonly ToolCall[];
      readonly origin: number;
    }
  | { readonly role: "tool"; readonly text: string; readonly callId: string; readonly name: string | null };

export interface FittedConversation {
  readonly messages: readonly FittedMessage[];
  readonly adaptations: readonly string[];
}

export function fitConversation(conversation: Conversation, rules: ConversationRules): FittedConversation {
  const notes = new Set<string>();
  const plain = conversation.messages.map((message, index) => asText(message, index, rules, notes));
  const placed = placeSystemText(plain, rules, notes);
  const messages = rules.userTurns === "joined" ? joinUserTurns(placed, notes) : placed;
  if (conversation.tools.some((tool) => tool.kind === "other")) notes.add("A tool of a kind that this policy can't be given was left out.");
  const { toolChoice } = conversation;
  if (toolChoice === "required" || typeof toolChoice === "object") notes.add("This policy can't be made to call a tool: tool_choice was left out.");
  return { messages, adaptations: [...notes] };
}

function textOf(content: readonly ContentPart[], notes: Set<string>): string {
  return content.map((part) => partText(part, notes)).join("\n");
}

function partText(part: ContentPart, notes: Set<string>): string {
  switch (part.type) {
    case "text":
      return cleaned(part.text, notes);
    case "image":
      notes.add("An image can't be given to this policy, which takes text only: [image] stands in its place.");
      return "[image]";
    case "file":
      notes.add("A file can't be given to this policy, which takes text only: [file] stands in its place.");
      return part.name === undefined ? "[file]" : `[file ${part.name}]`;
    case "other":
      notes.add("A part of a message that this policy can't be given stands in its place as JSON.");
      return cleaned(part.raw, notes);
  }
}

function cleaned(text: string, notes: Set<string>): string {
  const whole = replaceLoneSurrogates(text);
  if (whole !== text) notes.add("A message held half a character: U+FFFD stands in its place.");
  return whole;
}

function asText(message: Message, origin: number, rules: ConversationRules, notes: Set<string>): FittedMessage {
  if (message.role === "other") {
    notes.add("An item that this policy can't be given is told to it as a user turn.");
    return { role: "user", text: cleaned(message.raw, notes) };
  }
  const text = textOf(message.content, notes);
  switch (message.role) {
    case "assistant":
      return {
        role: "assistant",
        text,
        reasoning: message.reasoning === undefined ? null : cleaned(message.reasoning, notes),
        calls: message.toolCalls,
        origin,
      };
    case "tool":
      if (rules.toolAnswers === "tool") return { role: "tool", text, callId: message.toolCallId, name: message.name ?? null };
      notes.add("The template has no role for the answers of tools: they are told as user turns.");
      return { role: "user", text };
    case "developer":
      if (rules.developer === "own") return { role: "developer", text };
      notes.add("The template has no developer role: such messages are system messages.");
      return { role: "system", text };
    default:
      return { role: message.role, text };
  }
}

function isSystem(message: FittedMessage): boolean {
  return message.role === "system" || message.role === "developer";
}

/** System texts at the beginning become one; later ones go where the rules say. */
function placeSystemText(messages: readonly FittedMessage[], rules: ConversationRules, notes: Set<string>): readonly FittedMessage[] {
  const found = messages.findIndex((message) => !isSystem(message));
  const count = found < 0 ? messages.length : found;
  const leading = messages.slice(0, count);
  const rest = messages.slice(count).map((message): FittedMessage => {
    if (!isSystem(message) || rules.lateSystem === "system") return message;
    notes.add("The template takes no system message after the first turns: later ones are user turns.");
    return { role: "user", text: message.text };
  });
  const [first] = leading;
  if (first === undefined) return rest;
  if (leading.length > 1) notes.add("System messages at the beginning were joined into one.");
  const joined = joinTexts(leading.map((message) => message.text));
  if (rules.system === "own") return [{ role: first.role === "developer" ? "developer" : "system", text: joined }, ...rest];
  notes.add("The template has no system role: its text stands in front of the first user turn.");
  const [next, ...others] = rest;
  return next?.role === "user" ? [{ role: "user", text: joinTexts([joined, next.text]) }, ...others] : [{ role: "user", text: joined }, ...rest];
}

function joinUserTurns(messages: readonly FittedMessage[], notes: Set<string>): readonly FittedMessage[] {
  const joined: FittedMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === "user" && last?.role === "user") {
      notes.add("The template takes one user turn at a time: user turns in a row were joined.");
      joined[joined.length - 1] = { role: "user", text: joinTexts([last.text, message.text]) };
    } else joined.push(message);
  }
  return joined;
}

function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}
