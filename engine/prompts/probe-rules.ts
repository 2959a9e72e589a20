/** What a template takes and what it refuses, found by rendering small conversations: no name of a template is ever looked at. */
import type { ToolCall, ToolDefinition } from "../conversation/index.ts";
import type { ConversationRules } from "./contract.ts";
import type { ConversationRenderer } from "./conversation-renderer.ts";
import type { FittedMessage } from "./fit-conversation.ts";

/** A word that a template shows or leaves out, but neither splits nor changes. */
export const word = (number: number): string => `probeword${number}`;

export const probeTime = new Date(Date.UTC(2030, 0, 1));

export const probeTool: ToolDefinition & { kind: "function" } = {
  kind: "function",
  name: "probe_tool",
  description: "Looks a word up.",
  parameters: '{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}',
};

export const probeArguments = '{"word":"probeword9"}';

export function probeCall(id: string): ToolCall {
  return { id, name: probeTool.name, kind: "function", arguments: probeArguments };
}

export const user = (text: string): FittedMessage => ({ role: "user", text });
export const assistant = (text: string, calls: readonly ToolCall[] = []): FittedMessage => ({
  role: "assistant",
  text,
  reasoning: null,
  calls,
  origin: -1,
});

const plainRules: ConversationRules = {
  system: "own",
  developer: "own",
  lateSystem: "system",
  userTurns: "separate",
  toolAnswers: "tool",
  callIds: "as-sent",
};

/** The mildest rules under which the template shows everything that a conversation says. */
export function probeRules(renderer: ConversationRenderer): ConversationRules {
  const shows = (
    messages: readonly FittedMessage[],
    texts: readonly string[],
    rules = plainRules,
    tools: readonly ToolDefinition[] = [],
  ): boolean => {
    const rendered = renderer.tryRender({ messages, tools, addGenerationPrompt: true, now: probeTime }, rules);
    return rendered !== null && texts.every((text) => rendered.text.includes(text));
  };
  const system = shows([{ role: "system", text: word(1) }, user(word(2))], [word(1), word(2)]) ? "own" : "first-user";
  const developer = shows([{ role: "developer", text: word(1) }, user(word(2))], [word(1), word(2)]) ? "own" : "system";
  const late = [user(word(1)), assistant(word(2)), { role: "system" as const, text: word(3) }, user(word(4))];
  const lateSystem = shows(late, [word(1), word(2), word(3), word(4)]) ? "system" : "user";
  const userTurns = shows([user(word(1)), user(word(2))], [word(1), word(2)]) ? "separate" : "joined";
  const answered = (id: string): FittedMessage[] => [
    user(word(1)),
    assistant("", [probeCall(id)]),
    { role: "tool", text: word(2), callId: id, name: null },
    assistant(word(3)),
    user(word(4)),
  ];
  const texts = [word(1), word(2), word(3), word(4)];
  const longId = "call_0123456789abcdefghijklmn";
  const tools = [probeTool];
  const asSent = shows(answered(longId), texts, plainRules, tools);
  const nine = !asSent && shows(answered(longId), texts, { ...plainRules, callIds: "nine" }, tools);
  return { system, developer, lateSystem, userTurns, toolAnswers: asSent || nine ? "tool" : "user", callIds: nine ? "nine" : "as-sent" };
}
