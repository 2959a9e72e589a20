/** An answer as Messages writes it: one JSON body, or the events of a stream. */
import type { Answer } from "../../../../engine/conversation/index.ts";
import { sseText } from "../../streams/sse.ts";
import { type AnswerWriter, createAnswerWriter, deltasOf, nothingSaid, type Said } from "../answer-writer.ts";
import type { AnswerContext, Fault } from "../dialect.ts";
import { type AnswerBlock, answerBlocks, blockText, messagesUsage, stopReasons } from "./blocks.ts";
import { checkMessagesStream, type MessagesEvent } from "./stream-grammar.ts";

export function messagesAnswerBody(answer: Answer, context: AnswerContext): string {
  const head = JSON.stringify({ id: `msg_${context.callId}`, type: "message", role: "assistant", model: context.reply.model });
  const tail = JSON.stringify({ stop_reason: stopReasons[answer.finishReason], stop_sequence: null, usage: messagesUsage(answer.usage) });
  return `${head.slice(0, -1)},"content":[${answerBlocks(answer).map(blockText).join(",")}],${tail.slice(1)}`;
}

export function messagesAnswerStream(answer: Answer, context: AnswerContext): string {
  return streamEvents(answer, context, nothingSaid, true).map(eventText).join("");
}

export function openMessagesAnswer(context: AnswerContext): AnswerWriter {
  return createAnswerWriter<MessagesEvent>({
    events: (answer, said, whole) => streamEvents(answer, context, said, whole),
    isDelta: ({ delta }) => delta?.type === "text_delta" || delta?.type === "thinking_delta",
    text: eventText,
    fail: messagesErrorStream,
  });
}

function streamEvents(answer: Answer, context: AnswerContext, said: Said, whole: boolean): readonly MessagesEvent[] {
  const usage = messagesUsage(answer.usage);
  const events: MessagesEvent[] = [
    messageStart(context, { ...usage, output_tokens: 0 }),
    ...answerBlocks(answer).flatMap((block, index) => blockEvents(block, index, said)),
    { type: "message_delta", delta: { stop_reason: stopReasons[answer.finishReason], stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  if (whole) checkMessagesStream(events);
  return events;
}

export function messagesErrorBody(fault: Fault): string {
  return JSON.stringify(errorJson(fault));
}

/** An error may stand anywhere in a stream of this dialect; nothing follows it. */
export function messagesErrorStream(fault: Fault): string {
  return sseText({ event: "error", data: messagesErrorBody(fault) });
}

function eventText(event: MessagesEvent): string {
  return sseText({ event: event.type, data: JSON.stringify(event) });
}

function messageStart(context: AnswerContext, usage: ReturnType<typeof messagesUsage>): MessagesEvent {
  const { model } = context.reply;
  return {
    type: "message_start",
    message: { id: `msg_${context.callId}`, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage },
  };
}

function blockEvents(block: AnswerBlock, index: number, said: Said): readonly MessagesEvent[] {
  const delta = (body: MessagesEvent["delta"]): MessagesEvent => ({ type: "content_block_delta", index, delta: body });
  const around = (opened: MessagesEvent["content_block"], deltas: readonly MessagesEvent[]): readonly MessagesEvent[] => [
    { type: "content_block_start", index, content_block: opened },
    ...deltas,
    { type: "content_block_stop", index },
  ];
  switch (block.type) {
    case "thinking":
      return around({ type: "thinking", thinking: "", signature: "" }, [
        ...deltasOf(block.thinking, said.reasoning).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block.signature }),
      ]);
    case "text":
      return around(
        { type: "text", text: "" },
        deltasOf(block.text, said.text).map((text) => delta({ type: "text_delta", text })),
      );
    case "tool_use":
      return around({ type: "tool_use", id: block.id, name: block.name, input: {} }, [
        delta({ type: "input_json_delta", partial_json: block.input }),
      ]);
  }
}

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

function errorJson({ status, code, message }: Fault) {
  // Clients know an overlong prompt by these words.
  const said = code === "context_length_exceeded" ? `prompt is too long: ${message}` : message;
  const type = errorTypes[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  return { type: "error", error: { type, message: said } };
}
