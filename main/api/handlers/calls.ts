import type { AssistantMessage, ContentPart, Message } from "../../../engine/conversation/index.ts";
import { correctionsOf, isSession } from "../../attach/index.ts";
import { WorkbenchError } from "../../errors.ts";
import { readCall } from "../../proxy/index.ts";
import type { CallRecord, Store } from "../../store/index.ts";
import { rebuildTrajectories } from "../../trajectories/index.ts";
import type { CallDetail, CallView, MessageView } from "../call-views.ts";
import type { WorkbenchParts } from "../context.ts";
import type { contractImplementer } from "../implementer.ts";

type BodyName = "request" | "response" | "upstreamRequest" | "upstreamResponse";

const bodyOf = (call: CallRecord, which: BodyName) =>
  ({
    request: call.requestBody,
    response: call.responseBody,
    upstreamRequest: call.upstreamRequestBody,
    upstreamResponse: call.upstreamResponseBody,
  })[which];

export function callHandlers(os: ReturnType<typeof contractImplementer>, { store }: WorkbenchParts) {
  const required = (id: string): CallRecord => {
    const call = store.call(id);
    if (call === null) throw new WorkbenchError("not-found", `There is no call ${id}.`, "See `openforge calls ROLLOUT`.");
    return call;
  };
  return {
    get: os.calls.get.handler(({ input }) => callDetail(store, required(input.id))),
    body: os.calls.body.handler(({ input }) => {
      const hash = bodyOf(required(input.id), input.which);
      const bytes = hash === null ? null : store.blobs.get(hash);
      return textSlice(bytes ?? new Uint8Array(), input.offset, input.limit);
    }),
  };
}

/** `limit` bytes from `offset` as text, cut between characters: a character split at the end is left for the next slice. */
export function textSlice(bytes: Uint8Array, offset: number, limit: number): { text: string; total: number; truncated: boolean } {
  const isContinuation = (at: number): boolean => ((bytes[at] ?? 0) & 0xc0) === 0x80;
  let end = Math.min(bytes.length, offset + limit);
  while (end < bytes.length && end > offset && isContinuation(end)) end -= 1;
  return { text: new TextDecoder().decode(bytes.subarray(offset, end)), total: bytes.length, truncated: end < bytes.length };
}

/** `chain` = index of the chain that owns the call, or null. */
export function callView(store: Store, call: CallRecord, chain: number | null): CallView {
  return {
    id: call.id,
    rollout: call.rolloutId,
    attempt: call.attempt,
    index: call.index,
    dialect: call.dialect,
    method: call.method,
    path: call.path,
    status: call.status,
    httpStatus: call.httpStatus,
    chain,
    promptTokens: call.promptTokens,
    completionTokens: call.completionTokens,
    capture: call.capture,
    aborted: call.aborted,
    late: call.late,
    retries: call.upstreamRetries,
    replays: call.replays,
    quarantined: call.quarantined,
    breakCause: call.breakCause,
    side: call.side,
    startedAt: call.startedAt,
    seconds: (call.endedAt - call.startedAt) / 1000,
    model: call.model,
    stream: call.stream,
    tokenMode: call.tokenMode,
    finishReason: call.finishReason,
    unparsedToolCall: call.unparsedToolCall,
    session: { ...call.session },
    summary: call.error ?? summaryOfCall(store, call),
    error: call.error,
  };
}

/** A recorded answer never changes and lists are asked for at every event: summaries are kept, the oldest leave first. */
const summaries = new Map<string, string>();
const mostSummaries = 50_000;

function summaryOfCall(store: Store, call: CallRecord): string {
  const known = summaries.get(call.id);
  if (known !== undefined) return known;
  const summary = call.status === "counted" ? countOf(store, call) : summaryOf(readCall(store, call).answer?.message ?? null);
  summaries.set(call.id, summary);
  const [oldest] = summaries.keys();
  if (summaries.size > mostSummaries && oldest !== undefined) summaries.delete(oldest);
  return summary;
}

/** `{"input_tokens":12}` or `{"totalTokens":12}`, by dialect. */
function countOf(store: Store, { responseBody }: CallRecord): string {
  const bytes = responseBody === null ? null : store.blobs.get(responseBody);
  return `${/\d+/.exec(Buffer.from(bytes ?? []).toString())?.[0] ?? "no"} tokens counted`;
}

function summaryOf(message: AssistantMessage | null): string {
  if (message === null) return "";
  const tool = message.toolCalls[0];
  const more = message.toolCalls.length > 1 ? ` (and ${message.toolCalls.length - 1} more)` : "";
  if (tool !== undefined) return `${tool.name} ${tool.arguments.slice(0, 200)}${more}`;
  const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
  return text.replaceAll(/\s+/g, " ").slice(0, 200);
}

function callDetail(store: Store, call: CallRecord): CallDetail {
  const { conversation, answer } = readCall(store, call);
  const size = (which: BodyName): number | null => {
    const hash = bodyOf(call, which);
    return hash === null ? null : store.blobs.size(hash);
  };
  return {
    ...callView(store, call, rebuildTrajectories(store, call.rolloutId, { attempt: call.attempt }).chainOfCall.get(call.index) ?? null),
    messages: conversation?.messages.map((message) => messageView(message)) ?? [],
    tools:
      conversation?.tools.map((tool) =>
        tool.kind === "function"
          ? {
              name: tool.namespace === undefined ? tool.name : `${tool.namespace}.${tool.name}`,
              description: tool.description ?? null,
              parameters: tool.parameters ?? null,
            }
          : { name: "other", description: null, parameters: tool.raw },
      ) ?? [],
    sampling: { ...conversation?.sampling },
    answer: answer === null ? null : messageView(answer.message),
    correction: correctionOf(store, call),
    requestHeaders: { ...call.requestHeaders },
    bodies: {
      request: size("request"),
      response: size("response"),
      upstreamRequest: size("upstreamRequest"),
      upstreamResponse: size("upstreamResponse"),
    },
  };
}

function correctionOf(store: Store, call: CallRecord): string | null {
  const rollout = store.rollout(call.rolloutId);
  return rollout !== null && isSession(rollout) ? (correctionsOf(store, rollout.id).get(call.id) ?? null) : null;
}

function messageView(message: Message): MessageView {
  if (message.role === "other") {
    return { role: "other", content: [{ type: "other", raw: message.raw }], reasoning: null, toolCalls: [], toolCallId: null, sampled: false };
  }
  const assistant = message.role === "assistant" ? message : null;
  return {
    role: message.role,
    content: message.content.map(partView),
    reasoning: assistant?.reasoning ?? null,
    toolCalls:
      assistant?.toolCalls.map((call) => ({
        id: call.id,
        name: call.namespace === undefined ? call.name : `${call.namespace}.${call.name}`,
        arguments: call.arguments,
      })) ?? [],
    toolCallId: message.role === "tool" ? message.toolCallId : null,
    sampled: assistant !== null,
  };
}

function partView(part: ContentPart): MessageView["content"][number] {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return {
        type: "image",
        blob: part.source.kind === "blob" ? part.source.hash : null,
        url: part.source.kind === "url" ? part.source.url : null,
        mediaType: part.mediaType ?? null,
      };
    case "file":
      return { type: "file", blob: part.source.kind === "blob" ? part.source.hash : null, name: part.name ?? null };
    case "other":
      return { type: "other", raw: part.raw };
  }
}
