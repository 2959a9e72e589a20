/** A finished call as the store keeps it. Secrets that show in it blank its token ids: they would spell them. */
import type { Answer, BlobHash } from "../../engine/conversation/index.ts";
import type { Placement } from "../../engine/graph/index.ts";
import type { BlobStore, CallRecord, CallStatus, NodeRecord, TokenMode } from "../store/index.ts";
import { captureOf } from "./answer-form.ts";
import type { CallEntry } from "./call-entry.ts";
import type { Ending } from "./call-events.ts";
import type { Fault } from "./dialects/dialect.ts";

/** The rollout's own key is redacted like a secret; that a harness shows it to its policy spoils nothing. */
export const rolloutKeyName = "rollout-key";

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
    id: entry.id,
    rolloutId: context.rolloutId,
    attempt: context.attempt,
    index: entry.index,
    dialect: entry.unknownPath ? "unknown" : entry.dialect.id,
    method: entry.method,
    path: entry.path,
    status: statusOf(finished),
    httpStatus: finished.fault?.status ?? 200,
    startedAt: entry.startedAt,
    endedAt: finished.endedAt,
    upstreamMs: entry.askedAt === null ? 0 : finished.endedAt - entry.askedAt,
    upstreamRetries: finished.retries,
    replays: finished.replays,
    aborted: finished.aborted,
    late: ending.kind === "cancelled" && ending.reason === "late",
    quarantined: secretSeen ? "secret-seen" : null,
    requestHeaders: context.redactHeaders(entry.headers),
    requestBody,
    responseBody,
    upstreamRequestBody: exchange?.request ?? null,
    upstreamResponseBody: exchange?.response ?? null,
    requestKey: entry.requestKey,
    model: entry.reply.model,
    stream: entry.reply.stream,
    capture: answer === null ? "nothing" : captureOf(answer),
    tokenMode: tokenModeOf(entry),
    policyVersion: answer?.policyVersion ?? null,
    finishReason: answer?.finishReason ?? null,
    promptTokens: answer?.usage.promptTokens ?? 0,
    completionTokens: answer?.usage.completionTokens ?? 0,
    unparsedToolCall: answer?.unparsedToolCall ?? false,
    breakCause: entry.prepared?.ok === true ? entry.prepared.prompt.breakCause : null,
    session: pick(entry.headers, context.sessionHeaders),
    error: finished.fault?.message ?? null,
  };
  return { call, node: nodeOf(entry.id, answer, finished.placement, secretSeen), secretSeen };
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
