/** Content blocks of an answer, as JSON texts: the arguments of a tool call stand in them as they were written. */
import type { Answer, FinishReason, ToolCall, Usage } from "../../../../engine/conversation/index.ts";
import { answerText } from "../answer-text.ts";
import { sealReasoning } from "../sealed-reasoning.ts";

export type AnswerBlock =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: string };

/** Reasoning, text, calls. Never none: clients take an answer without blocks for a broken one. */
export function answerBlocks({ message }: Answer): readonly AnswerBlock[] {
  const text = answerText(message.content);
  const { reasoning = "", toolCalls } = message;
  const blocks: AnswerBlock[] = [];
  if (reasoning !== "") blocks.push({ type: "thinking", thinking: reasoning, signature: sealReasoning(reasoning) });
  if (text !== "" || (reasoning === "" && toolCalls.length === 0)) blocks.push({ type: "text", text });
  for (const call of toolCalls) blocks.push({ type: "tool_use", id: call.id, name: call.name, input: argumentsObject(call) });
  return blocks;
}

/** For dialects that have objects only; what is none is shown inside one, so that the other side can say what is wrong with it. */
export function argumentsObject(call: ToolCall): string {
  if (call.kind === "custom") return JSON.stringify({ input: call.arguments });
  if (call.arguments === "") return "{}";
  return isObject(call.arguments) ? call.arguments : JSON.stringify({ arguments: call.arguments });
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

export function blockText(block: AnswerBlock): string {
  if (block.type !== "tool_use") return JSON.stringify(block);
  return `{"type":"tool_use","id":${JSON.stringify(block.id)},"name":${JSON.stringify(block.name)},"input":${block.input}}`;
}

export const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  "tool-calls": "tool_use",
  "content-filter": "refusal",
};

/** Tokens read from a cache are counted apart here. */
export function messagesUsage(usage: Usage) {
  const cached = usage.cachedTokens ?? 0;
  return {
    input_tokens: usage.promptTokens - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: usage.completionTokens,
  };
}
