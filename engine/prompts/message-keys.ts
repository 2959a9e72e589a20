/**
 * Keys of messages and tools: equal when a policy would take them for the same. Ids that harnesses rewrite do not matter, nor
 * does reasoning, which some send back and some do not, nor white space around an answer, nor how its arguments are spelled.
 */
import type { AssistantMessage, ContentPart, Message, ToolCall, ToolDefinition } from "../conversation/index.ts";
import { equivalenceKey, JsonSyntaxError, parseJson } from "../json/index.ts";

export function messageKey(message: Message): string {
  if (message.role === "other") return `other ${message.raw}`;
  if (message.role === "assistant") return assistantKey(message);
  return `${message.role} ${contentKey(message.content)}`;
}

export function toolsKey(tools: readonly ToolDefinition[]): string {
  return JSON.stringify(tools);
}

/** Text in one piece, or the parts as they are. */
function contentKey(content: readonly ContentPart[]): string {
  const [only] = content;
  return content.length === 1 && only?.type === "text" ? `text ${only.text}` : JSON.stringify(content);
}

function assistantKey(message: AssistantMessage): string {
  const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const others = message.content.filter((part) => part.type !== "text");
  return `assistant ${JSON.stringify([text.trim(), others, message.toolCalls.map(callKey)])}`;
}

function callKey(call: ToolCall): readonly string[] {
  return [call.namespace ?? "", call.name, call.kind, call.kind === "function" ? argumentsKey(call.arguments) : call.arguments];
}

/** A call without arguments has an empty object of them; text that is no JSON is its own key. */
function argumentsKey(written: string): string {
  if (written.trim() === "") return "{}";
  try {
    return equivalenceKey(parseJson(written));
  } catch (error) {
    if (error instanceof JsonSyntaxError) return written;
    throw error;
  }
}
