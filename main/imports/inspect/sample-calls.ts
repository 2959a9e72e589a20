/** The model calls of an Inspect sample: its model events or, in a log without events, its messages. */
import type { ChatMessage, ForeignCall } from "../contract.ts";
import { moment } from "../moment.ts";
import type { InspectMessage, InspectModelEvent, InspectSample } from "./log-form.ts";

export function sampleCalls(sample: InspectSample, model: string): readonly ForeignCall[] {
  const events = sample.events.filter((event): event is InspectModelEvent => event.event === "model");
  return events.length > 0 ? events.flatMap((event) => eventCall(event, sample) ?? []) : messageCalls(sample, model);
}

/** Null for a call that failed: it has no answer. */
function eventCall(event: InspectModelEvent, sample: InspectSample): ForeignCall | null {
  const choice = event.output.choices[0];
  if (choice === undefined) return null;
  const pool = sample.events_data?.messages ?? [];
  const input = event.input.length > 0 ? event.input : (event.input_refs ?? []).flatMap(([from, to]) => pool.slice(from, to));
  const startedAt = moment(event.timestamp) ?? 0;
  return {
    messages: input.map(chatMessage),
    tools: event.tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, ...(description == null ? {} : { description }), ...(parameters == null ? {} : { parameters }) },
    })),
    answer: chatMessage(choice.message),
    finishReason: finishReason(choice.stop_reason),
    model: event.model,
    startedAt,
    endedAt: moment(event.completed) ?? startedAt,
    promptTokens: event.output.usage?.input_tokens ?? 0,
    completionTokens: event.output.usage?.output_tokens ?? 0,
    tokens: null,
    thread: null,
  };
}

function messageCalls({ messages, started_at }: InspectSample, model: string): readonly ForeignCall[] {
  const at = moment(started_at) ?? 0;
  return messages.flatMap((message, index) =>
    message.role === "assistant"
      ? [
          {
            ...{ messages: messages.slice(0, index).map(chatMessage), tools: [], answer: chatMessage(message), model, startedAt: at, endedAt: at },
            ...{ finishReason: (message.tool_calls ?? []).length > 0 ? ("tool-calls" as const) : ("stop" as const) },
            ...{ promptTokens: 0, completionTokens: 0, tokens: null, thread: null },
          },
        ]
      : [],
  );
}

function finishReason(reason: string): ForeignCall["finishReason"] {
  if (reason === "max_tokens" || reason === "model_length") return "length";
  if (reason === "tool_calls") return "tool-calls";
  return reason === "content_filter" ? "content-filter" : "stop";
}

function chatMessage(message: InspectMessage): ChatMessage {
  const { text, reasoning } = contentOf(message);
  const calls = message.tool_calls ?? [];
  const content = message.role === "tool" && message.error != null && text === "" ? message.error.message : text;
  return {
    role: message.role,
    content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: "function" as const,
            function: { name: call.function, arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments) },
          })),
        }),
    ...(message.role === "tool" && message.tool_call_id != null ? { tool_call_id: message.tool_call_id } : {}),
    ...(message.function == null ? {} : { name: message.function }),
  };
}

/** Reasoning stands among the content there. A part of another kind is named where it stood. */
function contentOf({ content }: InspectMessage): { readonly text: ChatMessage["content"]; readonly reasoning: string } {
  if (typeof content === "string") return { text: content, reasoning: "" };
  const reasoning = content.flatMap((part) => (part.type === "reasoning" && typeof part.reasoning === "string" ? [part.reasoning] : []));
  const rest = content.filter(({ type }) => type !== "reasoning");
  if (rest.every((part) => part.type === "text")) return { text: rest.map(textOf).join(""), reasoning: reasoning.join("\n") };
  const parts = rest.map((part) =>
    part.type === "image" && typeof part.image === "string"
      ? { type: "image_url", image_url: { url: part.image } }
      : { type: "text", text: textOf(part) },
  );
  return { text: parts, reasoning: reasoning.join("\n") };
}

function textOf(part: { readonly type: string; readonly text?: unknown }): string {
  return typeof part.text === "string" ? part.text : `[${part.type}]`;
}
