/** An answer as Responses writes it: one JSON body, or the events of a stream. */
import type { Answer, Usage } from "../../../../engine/conversation/index.ts";
import { sseText } from "../../streams/sse.ts";
import { type AnswerWriter, createAnswerWriter, deltasOf, nothingSaid, type Said } from "../answer-writer.ts";
import type { AnswerContext, Fault } from "../dialect.ts";
import { type OutputItem, openedItem, outputItems } from "./items.ts";
import { checkResponsesStream, type ResponsesEvent } from "./stream-grammar.ts";

type EventBody = Omit<ResponsesEvent, "sequence_number">;

export function responsesAnswerBody(answer: Answer, context: AnswerContext): string {
  return JSON.stringify(endedResponse(answer, context, outputItems(answer, context)));
}

export function responsesAnswerStream(answer: Answer, context: AnswerContext): string {
  return streamEvents(answer, context, nothingSaid, true).map(eventText).join("");
}

export function openResponsesAnswer(context: AnswerContext): AnswerWriter {
  return createAnswerWriter<EventBody>({
    events: (answer, said, whole) => streamEvents(answer, context, said, whole),
    isDelta: ({ type }) => type === "response.output_text.delta" || type === "response.reasoning_text.delta",
    text: eventText,
    fail: (fault, index) => eventText({ type: "response.failed", response: failedResponse(fault, context) }, index),
  });
}

function streamEvents(answer: Answer, context: AnswerContext, said: Said, whole: boolean): readonly EventBody[] {
  const items = outputItems(answer, context);
  const opened = responseJson(context, { status: "in_progress", output: [] });
  const response = endedResponse(answer, context, items);
  const bodies: EventBody[] = [
    { type: "response.created", response: opened },
    { type: "response.in_progress", response: opened },
    ...items.flatMap((item, index) => itemEvents(item, index, said)),
    { type: response.status === "completed" ? "response.completed" : "response.incomplete", response },
  ];
  if (whole) checkResponsesStream(bodies.map(numbered));
  return bodies;
}

export function responsesErrorStream(fault: Fault, context: AnswerContext): string {
  const opened = responseJson(context, { status: "in_progress", output: [] });
  const bodies: EventBody[] = [
    { type: "response.created", response: opened },
    { type: "response.failed", response: failedResponse(fault, context) },
  ];
  checkResponsesStream(bodies.map(numbered));
  return bodies.map(eventText).join("");
}

function failedResponse(fault: Fault, context: AnswerContext) {
  return responseJson(context, { status: "failed", output: [], error: { code: fault.code, message: fault.message } });
}

function numbered(body: EventBody, index: number): ResponsesEvent {
  return { ...body, sequence_number: index };
}

function eventText(body: EventBody, index: number): string {
  return sseText({ event: body.type, data: JSON.stringify(numbered(body, index)) });
}

function itemEvents(item: OutputItem, index: number, said: Said): readonly EventBody[] {
  const place = { item_id: item.id, output_index: index };
  const around = (inner: readonly EventBody[]): readonly EventBody[] => [
    { type: "response.output_item.added", output_index: index, item: openedItem(item) },
    ...inner,
    { type: "response.output_item.done", output_index: index, item },
  ];
  switch (item.type) {
    case "reasoning":
    case "message": {
      const kind = item.type === "message" ? "response.output_text" : "response.reasoning_text";
      return around(
        item.content.flatMap((part, contentIndex): EventBody[] => {
          const at = { ...place, content_index: contentIndex };
          return [
            { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
            ...deltasOf(part.text, item.type === "message" ? said.text : said.reasoning).map((delta) => ({ type: `${kind}.delta`, ...at, delta })),
            { type: `${kind}.done`, ...at, text: part.text },
            { type: "response.content_part.done", ...at, part },
          ];
        }),
      );
    }
    case "function_call":
      return around([
        ...(item.arguments === "" ? [] : [{ type: "response.function_call_arguments.delta", ...place, delta: item.arguments }]),
        { type: "response.function_call_arguments.done", ...place, name: item.name, arguments: item.arguments },
      ]);
    case "custom_tool_call":
      return around([
        ...(item.input === "" ? [] : [{ type: "response.custom_tool_call_input.delta", ...place, delta: item.input }]),
        { type: "response.custom_tool_call_input.done", ...place, input: item.input },
      ]);
  }
}

interface ResponseState {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly output: readonly OutputItem[];
  readonly usage?: Usage;
  readonly error?: { readonly code: string; readonly message: string };
  readonly incompleteReason?: string;
}

function endedResponse(answer: Answer, context: AnswerContext, output: readonly OutputItem[]) {
  const usage = answer.usage;
  switch (answer.finishReason) {
    case "length":
      return responseJson(context, { status: "incomplete", output, usage, incompleteReason: "max_output_tokens" });
    case "content-filter":
      return responseJson(context, { status: "incomplete", output, usage, incompleteReason: "content_filter" });
    default:
      return responseJson(context, { status: "completed", output, usage });
  }
}

function responseJson(context: AnswerContext, state: ResponseState) {
  return {
    id: `resp_${context.callId}`,
    object: "response",
    created_at: context.createdAt,
    status: state.status,
    error: state.error ?? null,
    incomplete_details: state.incompleteReason === undefined ? null : { reason: state.incompleteReason },
    model: context.reply.model,
    output: state.output,
    parallel_tool_calls: context.reply.parallelToolCalls,
    usage: state.usage === undefined ? null : usageJson(state.usage),
  };
}

function usageJson(usage: Usage) {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens ?? 0 },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}
