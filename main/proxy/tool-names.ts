/**
 * Namespace tools for policies that know plain functions only: a namespaced tool is shown as `namespace__name`, and a call of it,
 * or of its bare name where no other tool has that name, goes back to the harness as it named it.
 */
import type { Answer, AssistantMessage, Conversation, ToolCall, ToolDefinition } from "../../engine/conversation/index.ts";

const joint = "__";

function shownName(tool: { readonly name: string; readonly namespace?: string }): string {
  return tool.namespace === undefined ? tool.name : `${tool.namespace}${joint}${tool.name}`;
}

function withoutNamespace<T extends { readonly name: string; readonly namespace?: string; readonly namespaceDescription?: string }>(named: T): T {
  if (named.namespace === undefined) return named;
  const { namespace: _, namespaceDescription: __, ...rest } = named;
  return { ...rest, name: shownName(named) } as T;
}

/** The same conversation without namespaces. Returns it unchanged when there are none. */
export function showPlainTools(conversation: Conversation): Conversation {
  const isNamespaced = conversation.tools.some((tool) => tool.kind === "function" && tool.namespace !== undefined);
  const wasCalled = conversation.messages.some(
    (message) => message.role === "assistant" && message.toolCalls.some((call) => call.namespace !== undefined),
  );
  if (!isNamespaced && !wasCalled) return conversation;
  return {
    ...conversation,
    tools: conversation.tools.map((tool) => (tool.kind === "function" ? withoutNamespace(tool) : tool)),
    messages: conversation.messages.map((message) =>
      message.role === "assistant" ? { ...message, toolCalls: message.toolCalls.map(withoutNamespace) } : message,
    ),
  };
}

/** The same answer without namespaces, as the policy gave it. */
export function showPlainMessage(answer: Answer): Answer {
  return { ...answer, message: { ...answer.message, toolCalls: answer.message.toolCalls.map(withoutNamespace) } };
}

/** An answer's calls as the harness names its tools; `tools` are the harness's own. */
export function nameAsHarness(message: AssistantMessage, tools: readonly ToolDefinition[]): AssistantMessage {
  if (message.toolCalls.length === 0) return message;
  return { ...message, toolCalls: message.toolCalls.map((call) => nameCall(call, tools)) };
}

function nameCall(call: ToolCall, tools: readonly ToolDefinition[]): ToolCall {
  if (call.namespace !== undefined) return call;
  const functions = tools.filter((tool) => tool.kind === "function");
  if (functions.some((tool) => tool.namespace === undefined && tool.name === call.name)) return call;
  const bare = functions.filter((tool) => tool.name === call.name);
  const meant = functions.find((tool) => shownName(tool) === call.name) ?? (bare.length === 1 ? bare[0] : undefined);
  return meant?.namespace === undefined ? call : { ...call, name: meant.name, namespace: meant.namespace };
}
