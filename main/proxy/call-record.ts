/** A finished call as the store keeps it. Secrets that show in it blank its token ids: they would spell them. */
import type { Answer, BlobHash } from "../../engine/conversation/index.ts";
import type { Placement } from "../../engine/graph/index.ts";
import type { BlobStore, CallRecord, CallStatus, NodeRecord, TokenMode } from "../store/index.ts";
import { captureOf } from "./answer-form.ts";
import type { Arrival, CallEntry } from "./call-entry.ts";
import type { Ending } from "./call-events.ts";
import type { TokenCount } from "./count-tokens.ts";
import type { Fault } from "./dialects/dialect.ts";

/** The rollout's own key is redacted like a secret; that a harness shows it to its policy spoils nothing. */
export const rolloutKeyName = "rollout-key";

/** Where a request stands in the record: its number by order of arrival, and the name that follows from it. */
export interface RecordPlace {
  readonly index: number;
  readonly id: string;
}

export interface FinishedCall {
  readonly entry: CallEntry;
  readonly ending: Ending;
  readonly aborted: boolean;
  readonly replays: number;
  readonly retries: number;
  readonly endedAt: number;
  /** What the client is told when there is no answer. */
  readonly fault: Fault | null;
  /** Where the tokens belong in the attempt's forest; null when there are none. */
  readonly placement: Placement | null;
}

export interface RecordContext {
  readonly rolloutId: string;
  readonly attempt: number;
  readonly blobs: BlobStore;
  readonly redactHeaders: (headers: Readonly<Record<string, string>>) => Record<string, string>;
  readonly sessionHeaders: readonly string[];
}

export interface BuiltRecord {
  readonly call: CallRecord;
  readonly node: NodeRecord | null;
  readonly secretSeen: boolean;
}

export function buildRecord(finished: FinishedCall, context: RecordContext): BuiltRecord {
  const { entry, ending } = finished;
  const answer = ending.kind === "result" && ending.result.ok ? ending.result.answer : null;
  let secretSeen = false;
  /** `near`: the requests of a rollout grow out of each other. */
  const put = (bytes: Uint8Array, near?: string): BlobHash => {
    const stored = near === undefined ? context.blobs.put(bytes) : context.blobs.put(bytes, `${context.rolloutId} ${near}`);
    secretSeen ||= stored.redactions.some((span) => span.name !== rolloutKeyName);
    return stored.hash;
  };
  const requestBody = put(entry.body, "requests");
  const responseBody = entry.rendered === null ? null : put(entry.rendered.bytes);
  // Token ids and token texts spell a secret in pieces that no redactor finds: such an exchange is not kept.
  const exchange =
    entry.exchange === null || secretSeen
      ? null
      : {
          request: entry.exchange.request === null ? null : put(entry.exchange.request, "upstream requests"),
          response: put(entry.exchange.response),
        };
  const call: CallRecord = {
    ...requestFields(entry, entry, context),
    dialect: entry.unknownPath ? "unknown" : entry.dialect.id,
    status: statusOf(finished),
    httpStatus: finished.fault?.status ?? 200,
    endedAt: finished.endedAt,
    upstreamMs: entry.askedAt === null ? 0 : finished.endedAt - entry.askedAt,
    upstreamRetries: finished.retries,
    replays: finished.replays,
    aborted: finished.aborted,
    late: ending.kind === "cancelled" && ending.reason === "late",
    quarantined: secretSeen ? "secret-seen" : null,
    requestBody,
    responseBody,
    upstreamRequestBody: exchange?.request ?? null,
    upstreamResponseBody: exchange?.response ?? null,
    stream: entry.reply.stream,
    capture: answer === null ? "nothing" : captureOf(answer),
    tokenMode: tokenModeOf(entry),
    policyVersion: answer?.policyVersion ?? null,
    finishReason: answer?.finishReason ?? null,
    promptTokens: answer?.usage.promptTokens ?? 0,
    completionTokens: answer?.usage.completionTokens ?? 0,
    unparsedToolCall: answer?.unparsedToolCall ?? false,
    breakCause: entry.prepared?.ok === true ? entry.prepared.prompt.breakCause : null,
    side: entry.side,
    error: finished.fault?.message ?? null,
  };
  return { call, node: nodeOf(entry.id, answer, finished.placement, secretSeen), secretSeen };
}

interface FinishedCount {
  readonly arrival: Arrival;
  readonly counted: TokenCount;
  readonly place: RecordPlace;
  readonly late: boolean;
  readonly endedAt: number;
}

/** A request that asks how many tokens it would be: no policy answers it, and none of its tokens are anybody's. */
export function buildCountRecord({ arrival, counted, place, late, endedAt }: FinishedCount, context: RecordContext): CallRecord {
  return {
    ...requestFields(arrival, place, context),
    dialect: arrival.dialect.id,
    status: "counted",
    httpStatus: counted.fault?.status ?? 200,
    ...{ endedAt, late, upstreamMs: 0, upstreamRetries: 0, replays: 0, aborted: false, quarantined: null },
    requestBody: context.blobs.put(arrival.body, `${context.rolloutId} requests`).hash,
    responseBody: context.blobs.put(Buffer.from(counted.body)).hash,
    ...{ upstreamRequestBody: null, upstreamResponseBody: null, stream: false },
    capture: "nothing",
    tokenMode: "text-in",
    ...{ policyVersion: null, finishReason: null, promptTokens: 0, completionTokens: 0, unparsedToolCall: false, breakCause: null, side: null },
    error: counted.fault?.message ?? null,
  };
}

/** What a request says of itself, whatever becomes of it. */
function requestFields(arrival: Arrival, { id, index }: RecordPlace, { rolloutId, attempt, redactHeaders, sessionHeaders }: RecordContext) {
  const { method, path, startedAt, headers, requestKey, reply } = arrival;
  return {
    ...{ id, rolloutId, attempt, index, method, path, startedAt, requestKey, model: reply.model },
    requestHeaders: redactHeaders(headers),
    session: pick(headers, sessionHeaders),
  };
}

function statusOf({ entry, ending, aborted }: FinishedCall): CallStatus {
  if (entry.unknownPath) return "not-found";
  if (aborted) return "aborted";
  return ending.kind === "result" && ending.result.ok ? "ok" : "error";
}

function tokenModeOf(entry: CallEntry): TokenMode {
  return entry.prepared?.ok === true ? entry.prepared.prompt.mode : "text-in";
}

function pick(headers: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

function nodeOf(callId: string, answer: Answer | null, placement: Placement | null, blank: boolean): NodeRecord | null {
  if (answer?.tokens === undefined || placement === null) return null;
  const { sampledIds, logprobs } = answer.tokens;
  const { parentCallId, promptLength } = placement;
  if (!blank)
    return { callId, parentCallId, addedPromptIds: placement.addedPromptIds, sampledIds, logprobs: logprobs ?? new Float32Array(0), promptLength };
  return {
    callId,
    parentCallId,
    addedPromptIds: new Int32Array(placement.addedPromptIds.length).fill(blankedId),
    sampledIds: new Int32Array(sampledIds.length).fill(blankedId),
    logprobs: new Float32Array(0),
    promptLength,
  };
}

/** In place of an id that would spell a secret. */
const blankedId = -1;
