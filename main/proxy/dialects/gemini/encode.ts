/** An answer as Gemini writes it: one JSON body, or the same in pieces as a stream. */
import type { Answer, FinishReason, ToolCall } from "../../../../engine/conversation/index.ts";
import { sseText } from "../../streams/sse.ts";
import { answerText } from "../answer-text.ts";
import { type AnswerWriter, createAnswerWriter, deltasOf, nothingSaid, type Said } from "../answer-writer.ts";
import type { AnswerContext, Fault } from "../dialect.ts";
import { sealReasoning } from "../sealed-reasoning.ts";

export const finishWords: Readonly<Record<FinishReason, string>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  "tool-calls": "STOP",
  "content-filter": "SAFETY",
};

export function geminiAnswerBody(answer: Answer, context: AnswerContext): string {
  const body = chunkText(answerParts(answer), context, answer);
  return context.reply.asList === true ? `[${body}]` : body;
}

/** One chunk a part; the last one ends the answer. There is no other end: the connection just closes. */
export function geminiAnswerStream(answer: Answer, context: AnswerContext): string {
  return streamEvents(answer, nothingSaid)
    .map((event) => eventText(event, context))
    .join("");
}

export function openGeminiAnswer(context: AnswerContext): AnswerWriter {
  return createAnswerWriter<StreamedPart>({
    events: streamEvents,
    isDelta: ({ ending }) => ending === null,
    text: (event) => eventText(event, context),
    fail: geminiErrorStream,
  });
}

interface StreamedPart {
  readonly part: string;
  /** The answer that it ends. */
  readonly ending: Answer | null;
}

function streamEvents(answer: Answer, said: Said): readonly StreamedPart[] {
  const parts = answerParts(answer, said);
  return parts.map((part, index) => ({ part, ending: index === parts.length - 1 ? answer : null }));
}

function eventText({ part, ending }: StreamedPart, context: AnswerContext): string {
  return sseText({ event: "", data: chunkText([part], context, ending) });
}

export function geminiErrorBody(fault: Fault): string {
  return JSON.stringify({ error: { code: fault.status, message: fault.message, status: statusWords[fault.status] ?? otherStatus(fault.status) } });
}

export function geminiErrorStream(fault: Fault): string {
  return sseText({ event: "", data: geminiErrorBody(fault) });
}

/** Parts as JSON texts: the arguments of a call stand in them as they were written. Never none: clients take that for a broken answer. */
function answerParts({ message }: Answer, said: Said = nothingSaid): readonly string[] {
  const { reasoning = "", toolCalls } = message;
  const text = answerText(message.content);
  const parts: string[] = [];
  for (const piece of deltasOf(reasoning, said.reasoning)) parts.push(JSON.stringify({ text: piece, thought: true }));
  for (const piece of deltasOf(text, said.text)) parts.push(JSON.stringify({ text: piece }));
  // What was said is out already: something must be left to carry the end.
  const isSaid = said.text.length + said.reasoning.length > 0;
  if (toolCalls.length === 0 && (text === "" || isSaid)) parts.push(JSON.stringify({ text: "" }));
  toolCalls.forEach((call, index) => {
    // Clients do not send shown thoughts back, but they do send this.
    const signature = index === 0 && reasoning !== "" ? `,"thoughtSignature":${JSON.stringify(sealReasoning(reasoning))}` : "";
    parts.push(`{"functionCall":${callText(call)}${signature}}`);
  });
  return parts;
}

function callText(call: ToolCall): string {
  const args = call.kind === "custom" ? JSON.stringify({ input: call.arguments }) : objectText(call.arguments);
  return `{"id":${JSON.stringify(call.id)},"name":${JSON.stringify(call.name)},"args":${args}}`;
}

function objectText(text: string): string {
  if (text === "") return "{}";
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return text;
  } catch {
    // Shown as it is below, so that the client can say what is wrong with it.
  }
  return JSON.stringify({ arguments: text });
}

/** `ending`: the answer that this chunk ends, or null. */
function chunkText(parts: readonly string[], context: AnswerContext, ending: Answer | null): string {
  const finish = ending === null ? "" : `,"finishReason":"${finishWords[ending.finishReason]}"`;
  const usage = ending === null ? "" : `,"usageMetadata":${JSON.stringify(usageJson(ending))}`;
  const tail = `"modelVersion":${JSON.stringify(context.reply.model)},"responseId":${JSON.stringify(context.callId)}`;
  return `{"candidates":[{"content":{"role":"model","parts":[${parts.join(",")}]}${finish},"index":0}]${usage},${tail}}`;
}

function usageJson({ usage }: Answer) {
  return {
    promptTokenCount: usage.promptTokens,
    candidatesTokenCount: usage.completionTokens,
    totalTokenCount: usage.promptTokens + usage.completionTokens,
    ...(usage.cachedTokens === undefined ? {} : { cachedContentTokenCount: usage.cachedTokens }),
  };
}

const statusWords: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

function otherStatus(status: number): string {
  return status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT";
}
