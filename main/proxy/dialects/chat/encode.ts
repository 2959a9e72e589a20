/** An answer as Chat Completions writes it: one JSON body, or the chunks of a stream. */
import type { Answer, FinishReason, ToolCall, Usage } from "../../../../engine/conversation/index.ts";
import { sseText } from "../../streams/sse.ts";
import { answerText } from "../answer-text.ts";
import { type AnswerWriter, createAnswerWriter, deltasOf, nothingSaid, type Said } from "../answer-writer.ts";
import type { AnswerContext, Fault } from "../dialect.ts";
import { openAiErrorBody } from "../dialect.ts";
import { type ChatChunk, type ChatDelta, checkChatStream } from "./stream-grammar.ts";

const finishWords: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  length: "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
};

export function chatAnswerBody(answer: Answer, context: AnswerContext): string {
  const { reasoning, toolCalls } = answer.message;
  const text = answerText(answer.message.content);
  const message = {
    role: "assistant",
    content: text === "" && toolCalls.length > 0 ? null : text,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCallJson) }),
  };
  return JSON.stringify({
    id: `chatcmpl-${context.callId}`,
    object: "chat.completion",
    created: context.createdAt,
    model: context.reply.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishWords[answer.finishReason] }],
    usage: chatUsage(answer.usage),
  });
}

export function chatAnswerStream(answer: Answer, context: AnswerContext): string {
  return streamEvents(answer, context, nothingSaid, true).map(eventText).join("");
}

export function openChatAnswer(context: AnswerContext): AnswerWriter {
  return createAnswerWriter<ChatChunk | "[DONE]">({
    events: (answer, said, whole) => streamEvents(answer, context, said, whole),
    isDelta(event) {
      const delta = event === "[DONE]" ? undefined : event.choices[0]?.delta;
      return delta?.role === undefined && (delta?.content ?? delta?.reasoning_content) !== undefined;
    },
    text: eventText,
    fail: chatErrorStream,
  });
}

function streamEvents(answer: Answer, context: AnswerContext, said: Said, whole: boolean): readonly (ChatChunk | "[DONE]")[] {
  const chunks = chatChunks(answer, context, said);
  if (whole) checkChatStream(chunks, { includeUsage: context.reply.includeUsage });
  return [...chunks, "[DONE]"];
}

function eventText(event: ChatChunk | "[DONE]"): string {
  return sseText({ event: "", data: event === "[DONE]" ? event : JSON.stringify(event) });
}

function chatChunks(answer: Answer, context: AnswerContext, said: Said): readonly ChatChunk[] {
  const { reasoning, toolCalls } = answer.message;
  const text = answerText(answer.message.content);
  const head = {
    id: `chatcmpl-${context.callId}`,
    object: "chat.completion.chunk",
    created: context.createdAt,
    model: context.reply.model,
  } as const;
  const chunk = (delta: ChatDelta, finish: string | null = null): ChatChunk => ({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
  const chunks = [chunk({ role: "assistant", content: "" })];
  for (const piece of deltasOf(reasoning ?? "", said.reasoning)) chunks.push(chunk({ reasoning_content: piece }));
  for (const piece of deltasOf(text, said.text)) chunks.push(chunk({ content: piece }));
  toolCalls.forEach((call, index) => {
    chunks.push(chunk({ tool_calls: [{ index, ...openingJson(call) }] }));
    const piece = call.kind === "custom" ? { custom: { input: call.arguments } } : { function: { arguments: call.arguments } };
    if (call.arguments !== "") chunks.push(chunk({ tool_calls: [{ index, ...piece }] }));
  });
  chunks.push(chunk({}, finishWords[answer.finishReason]));
  if (context.reply.includeUsage) chunks.push({ ...head, choices: [], usage: chatUsage(answer.usage) });
  return chunks;
}

function openingJson(call: ToolCall) {
  return call.kind === "custom"
    ? ({ id: call.id, type: "custom", custom: { name: call.name, input: "" } } as const)
    : ({ id: call.id, type: "function", function: { name: call.name, arguments: "" } } as const);
}

/** A tool call of a whole message. */
export function toolCallJson(call: ToolCall) {
  return call.kind === "custom"
    ? { id: call.id, type: "custom", custom: { name: call.name, input: call.arguments } }
    : { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } };
}

function chatUsage(usage: Usage) {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    ...(usage.cachedTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: usage.cachedTokens } }),
  };
}

/** An error in an open stream. No `[DONE]` follows: the answer did not end. */
export function chatErrorStream(fault: Fault): string {
  return sseText({ event: "", data: openAiErrorBody(fault) });
}
