/** Messages and tools in the form that chat templates take: what trainers read. */
import type { ContentPart, Message, ToolCall, ToolDefinition } from "../../../engine/conversation/index.ts";

interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  /** Arguments as an object; free text and text that is no JSON object stand under `input`. */
  readonly function: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
}

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly ChatToolCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
}

export interface ChatTool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description?: string; readonly parameters?: Readonly<Record<string, unknown>> };
}

/** Null when a message holds what text cannot carry (images, files, items of a dialect's own): nothing is dropped in silence. */
export function chatMessages(messages: readonly Message[]): readonly ChatMessage[] | null {
  const made = new Set<string>();
  const chat: ChatMessage[] = [];
  for (const message of messages) {
    const text = message.role === "other" ? null : textOf(message.content);
    if (text === null || message.role === "other") return null;
    if (message.role === "assistant") {
      for (const { id } of message.toolCalls) made.add(id);
      chat.push({
        role: "assistant",
        content: text,
        ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
        ...(message.toolCalls.length === 0 ? {} : { tool_calls: message.toolCalls.map(chatToolCall) }),
      });
    } else if (message.role === "tool") {
      // After a compaction the call may be gone: an id that answers nothing is no id.
      const answers = made.has(message.toolCallId) ? { tool_call_id: message.toolCallId } : {};
      chat.push({ role: "tool", content: text, ...answers, ...(message.name === undefined ? {} : { name: message.name }) });
    } else {
      chat.push({ role: message.role === "developer" ? "system" : message.role, content: text });
    }
  }
  return chat;
}

export function chatTools(tools: readonly ToolDefinition[]): readonly ChatTool[] {
  return tools.flatMap((tool) =>
    tool.kind === "function"
      ? [
          {
            type: "function" as const,
            function: {
              name: fullName(tool),
              ...(tool.description === undefined ? {} : { description: tool.description }),
              ...(tool.parameters === undefined ? {} : { parameters: asObject(tool.parameters) ?? {} }),
            },
          },
        ]
      : [],
  );
}

export function fullName({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return namespace === undefined ? name : `${namespace}.${name}`;
}

/** The arguments as an object. */
export function argumentsOf(call: ToolCall): Readonly<Record<string, unknown>> {
  return (call.kind === "function" ? asObject(call.arguments) : null) ?? { input: call.arguments };
}

function chatToolCall(call: ToolCall): ChatToolCall {
  return { id: call.id, type: "function", function: { name: fullName(call), arguments: argumentsOf(call) } };
}

function textOf(content: readonly ContentPart[]): string | null {
  const texts: string[] = [];
  for (const part of content) {
    if (part.type !== "text") return null;
    texts.push(part.text);
  }
  return texts.join("");
}

function asObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
