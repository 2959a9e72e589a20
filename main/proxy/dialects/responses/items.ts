/** The output items of a Responses answer. */
import type { Answer, ToolCall } from "../../../../engine/conversation/index.ts";
import { answerText } from "../answer-text.ts";
import type { AnswerContext } from "../dialect.ts";
import { sealReasoning } from "../sealed-reasoning.ts";

type ItemStatus = "in_progress" | "completed" | "incomplete";

interface ReasoningItem {
  readonly type: "reasoning";
  readonly id: string;
  readonly summary: readonly never[];
  readonly content: readonly { readonly type: "reasoning_text"; readonly text: string }[];
  readonly encrypted_content?: string;
  readonly status: ItemStatus;
}
interface MessageItem {
  readonly type: "message";
  readonly id: string;
  readonly status: ItemStatus;
  readonly role: "assistant";
  readonly content: readonly { readonly type: "output_text"; readonly text: string; readonly annotations: readonly never[] }[];
}
interface FunctionCallItem {
  readonly type: "function_call";
  readonly id: string;
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly arguments: string;
}
interface CustomCallItem {
  readonly type: "custom_tool_call";
  readonly id: string;
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly input: string;
}
export type OutputItem = ReasoningItem | MessageItem | FunctionCallItem | CustomCallItem;

/** In the order in which a policy writes: reasoning, text, calls. An answer that says nothing has one empty message. */
export function outputItems(answer: Answer, context: AnswerContext): readonly OutputItem[] {
  const { message } = answer;
  const text = answerText(message.content);
  const status = answer.finishReason === "length" || answer.finishReason === "content-filter" ? "incomplete" : "completed";
  const items: OutputItem[] = [];
  if (message.reasoning !== undefined && message.reasoning !== "") {
    const sealed = context.reply.encryptedReasoning ? { encrypted_content: sealReasoning(message.reasoning) } : {};
    const content = [{ type: "reasoning_text", text: message.reasoning } as const];
    items.push({ type: "reasoning", id: `rs_${context.callId}`, summary: [], content, ...sealed, status: "completed" });
  }
  if (text !== "" || (items.length === 0 && message.toolCalls.length === 0))
    items.push({
      type: "message",
      id: `msg_${context.callId}`,
      status,
      role: "assistant",
      content: [{ type: "output_text", text, annotations: [] }],
    });
  message.toolCalls.forEach((call, index) => {
    items.push(callItem(call, `${context.callId}_${index}`));
  });
  return items;
}

function callItem(call: ToolCall, suffix: string): OutputItem {
  const place = { call_id: call.id, name: call.name, ...(call.namespace === undefined ? {} : { namespace: call.namespace }) };
  return call.kind === "custom"
    ? { type: "custom_tool_call", id: `ctc_${suffix}`, status: "completed", ...place, input: call.arguments }
    : { type: "function_call", id: `fc_${suffix}`, status: "completed", ...place, arguments: call.arguments };
}

/** The item as it is announced, before its content comes. */
export function openedItem(item: OutputItem): OutputItem {
  switch (item.type) {
    case "reasoning": {
      const { encrypted_content: _, ...rest } = item;
      return { ...rest, status: "in_progress", content: [] };
    }
    case "message":
      return { ...item, status: "in_progress", content: [] };
    case "function_call":
      return { ...item, status: "in_progress", arguments: "" };
    case "custom_tool_call":
      return { ...item, status: "in_progress", input: "" };
  }
}
