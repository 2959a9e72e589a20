/** Calls and their token nodes. A call is written once, with its references, its rollout's counts and its event, in one transaction. */
import type { BlobHash } from "../../../engine/conversation/index.ts";
import { WorkbenchError } from "../../errors.ts";
import type { BodyStore } from "../bodies/body-store.ts";
import type { CallRecord, NodeRecord, Redactor, Store } from "../contract.ts";
import type { Database } from "../database.ts";
import { isConstraint, missing } from "../errors.ts";
import { isModelCall } from "../model-call.ts";
import type { Writer } from "../writer.ts";
import type { EventRecords } from "./events.ts";
import type { RecordKeys } from "./keys.ts";
import { floatsOf, floatsToBytes, idsOf, idsToBytes } from "./numbers.ts";
import type { RolloutRecords } from "./rollouts.ts";
import { callSchema } from "./schemas.ts";

type CallMethods = Pick<Store, "recordCall" | "recordCallDurably" | "updateCall" | "call" | "callsOf" | "nodesOf" | "attachmentsOf">;

export interface CallParts {
  readonly db: Database;
  readonly writer: Writer;
  readonly redactor: Redactor;
  readonly bodies: BodyStore;
  readonly keys: RecordKeys;
  readonly rollouts: RolloutRecords;
  readonly events: EventRecords;
}

const columns = [
  "id",
  "rollout",
  "attempt",
  "position",
  "dialect",
  "method",
  "path",
  "status",
  "http_status",
  "started_at",
  "ended_at",
  "upstream_ms",
  "upstream_retries",
  "replays",
  "aborted",
  "late",
  "quarantined",
  "request_headers",
  "request_body",
  "response_body",
  "upstream_request_body",
  "upstream_response_body",
  "request_key",
  "model",
  "stream",
  "capture",
  "token_mode",
  "policy_version",
  "finish_reason",
  "prompt_tokens",
  "completion_tokens",
  "unparsed_tool_call",
  "break_cause",
  "session",
  "error",
  "side",
] as const;

const bodyColumns = ["request_body", "response_body", "upstream_request_body", "upstream_response_body"] as const;

type Value = string | number | null;
type Row = { readonly [column in (typeof columns)[number] | "rollout_id"]: Value } & {
  readonly [column in `${(typeof bodyColumns)[number]}_hash`]: Buffer | null;
};

interface NodeRow {
  readonly callId: string;
  readonly parentCallId: string | null;
  readonly addedPromptIds: Uint8Array;
  readonly sampledIds: Uint8Array;
  readonly logprobs: Uint8Array;
  readonly promptLength: number;
}

export function createCallRecords(parts: CallParts): CallMethods {
  const { db, writer, redactor, bodies, keys } = parts;
  const insert = db.prepare(`INSERT INTO call (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`);
  const insertNode = db.prepare("INSERT INTO node (call, parent, added_prompt_ids, sampled_ids, logprobs, prompt_length) VALUES (?, ?, ?, ?, ?, ?)");
  const insertAttachment = db.prepare("INSERT OR IGNORE INTO attachment (call, body) VALUES (?, ?)");
  const keyOf = db.prepare<[string], { key: number }>("SELECT key FROM call WHERE id = ?");
  const update = db.prepare("UPDATE call SET replays = ?, aborted = ?, quarantined = ?, status = ? WHERE id = ?");
  const select = (rest: string) =>
    db.prepare<unknown[], Row>(
      `SELECT call.*, rollout.id AS rollout_id, ${bodyColumns.map((column) => `${column}.hash AS ${column}_hash`).join(", ")}
       FROM call JOIN rollout ON rollout.key = call.rollout ${bodyColumns.map((column) => `LEFT JOIN body AS ${column} ON ${column}.key = call.${column}`).join(" ")}
       ${rest}`,
    );
  const one = select("WHERE call.id = ?");
  const ofAttempt = select("WHERE call.rollout = ? AND call.attempt = ? ORDER BY call.position, call.key");
  const lastAttempt = db.prepare<[number], { attempt: number | null }>("SELECT max(attempt) AS attempt FROM call WHERE rollout = ?");
  const nodes = db.prepare<[number, number], NodeRow>(
    `SELECT call.id AS callId, parent.id AS parentCallId, added_prompt_ids AS addedPromptIds, sampled_ids AS sampledIds, logprobs,
       prompt_length AS promptLength
     FROM node JOIN call ON call.key = node.call LEFT JOIN call AS parent ON parent.key = node.parent
     WHERE call.rollout = ? AND call.attempt = ? ORDER BY call.position, call.key`,
  );
  const attachments = db.prepare<[string], { body: number }>(
    "SELECT body FROM attachment JOIN call ON call.key = attachment.call WHERE call.id = ? ORDER BY body",
  );

  function add(call: CallRecord, node: NodeRecord | null, attached: readonly BlobHash[]): void {
    const rollout = keys.rollout(call.rolloutId);
    const refer = (hash: BlobHash | null): number | null => (hash === null ? null : bodies.refer(hash, rollout.key));
    let key: number;
    try {
      key = Number(insert.run(...rowValues(call, rollout.key, refer, redactor)).lastInsertRowid);
    } catch (error) {
      if (!isConstraint(error, "UNIQUE")) throw error;
      throw new WorkbenchError("store", `The call ${call.id} is recorded already.`, "Report this as a fault.", { cause: error });
    }
    for (const hash of new Set(attached)) insertAttachment.run(key, refer(hash));
    if (node === null) return;
    const parent = node.parentCallId === null ? null : keyOf.get(node.parentCallId);
    if (parent === undefined) throw missing("call", node.parentCallId ?? "");
    insertNode.run(
      key,
      parent?.key ?? null,
      idsToBytes(node.addedPromptIds),
      idsToBytes(node.sampledIds),
      floatsToBytes(node.logprobs),
      node.promptLength,
    );
  }

  function record(call: CallRecord, node: NodeRecord | null, attached: readonly BlobHash[]): void {
    add(call, node, attached);
    const rollout = keys.rollout(call.rolloutId);
    if (isModelCall(call)) parts.rollouts.count(rollout, call.promptTokens, call.completionTokens);
    parts.events.add({
      at: call.endedAt,
      experimentId: rollout.experiment.id,
      rolloutId: call.rolloutId,
      type: "call.recorded",
      payload: JSON.stringify({
        call: call.id,
        attempt: call.attempt,
        index: call.index,
        status: call.status,
        promptTokens: call.promptTokens,
        completionTokens: call.completionTokens,
      }),
    });
  }

  function attemptOf(rolloutId: string, attempt: number | undefined): { readonly key: number; readonly attempt: number } | null {
    writer.flush();
    const rollout = keys.findRollout(rolloutId);
    if (rollout === null) return null;
    const chosen = attempt ?? lastAttempt.get(rollout.key)?.attempt ?? null;
    return chosen === null ? null : { key: rollout.key, attempt: chosen };
  }

  function read(id: string): CallRecord | null {
    const row = one.get(id);
    return row === undefined ? null : toRecord(row);
  }

  return {
    recordCall: (call, node, attached = []) => writer.write(() => record(call, node, attached)),
    recordCallDurably: (call, node, attached = []) => writer.writeSoon(() => record(call, node, attached)),

    updateCall(id, change) {
      writer.write(() => {
        const call = read(id);
        if (call === null) throw missing("call", id);
        const { replays, aborted, quarantined, status } = { ...call, ...change };
        update.run(replays, Number(aborted), quarantined === null ? null : redactor.text(quarantined), status, id);
      });
    },

    call(id) {
      writer.flush();
      return read(id);
    },

    callsOf(rolloutId, attempt) {
      const chosen = attemptOf(rolloutId, attempt);
      return chosen === null ? [] : ofAttempt.all(chosen.key, chosen.attempt).map(toRecord);
    },

    nodesOf(rolloutId, attempt) {
      const chosen = attemptOf(rolloutId, attempt);
      if (chosen === null) return [];
      return nodes.all(chosen.key, chosen.attempt).map((row) => ({
        callId: row.callId,
        parentCallId: row.parentCallId,
        addedPromptIds: idsOf(row.addedPromptIds),
        sampledIds: idsOf(row.sampledIds),
        logprobs: floatsOf(row.logprobs),
        promptLength: row.promptLength,
      }));
    },

    attachmentsOf(callId) {
      writer.flush();
      return attachments.all(callId).map((row) => bodies.hashOf(row.body));
    },
  };
}

/** In the order of `columns`. */
function rowValues(call: CallRecord, rollout: number, refer: (hash: BlobHash | null) => number | null, redactor: Redactor): readonly Value[] {
  const text = (value: string | null): string | null => (value === null ? null : redactor.text(value));
  return [
    call.id,
    rollout,
    call.attempt,
    call.index,
    call.dialect,
    call.method,
    redactor.text(call.path),
    call.status,
    call.httpStatus,
    call.startedAt,
    call.endedAt,
    call.upstreamMs,
    call.upstreamRetries,
    call.replays,
    Number(call.aborted),
    Number(call.late),
    text(call.quarantined),
    JSON.stringify(redactor.headers(call.requestHeaders)),
    refer(call.requestBody),
    refer(call.responseBody),
    refer(call.upstreamRequestBody),
    refer(call.upstreamResponseBody),
    redactor.text(call.requestKey),
    redactor.text(call.model),
    Number(call.stream),
    call.capture,
    call.tokenMode,
    text(call.policyVersion),
    call.finishReason,
    call.promptTokens,
    call.completionTokens,
    Number(call.unparsedToolCall),
    text(call.breakCause),
    JSON.stringify(redactor.headers(call.session)),
    text(call.error),
    text(call.side),
  ];
}

function toRecord(row: Row): CallRecord {
  return callSchema.parse({
    id: row.id,
    rolloutId: row.rollout_id,
    attempt: row.attempt,
    index: row.position,
    dialect: row.dialect,
    method: row.method,
    path: row.path,
    status: row.status,
    httpStatus: row.http_status,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    upstreamMs: row.upstream_ms,
    upstreamRetries: row.upstream_retries,
    replays: row.replays,
    aborted: row.aborted,
    late: row.late,
    quarantined: row.quarantined,
    requestHeaders: JSON.parse(String(row.request_headers)),
    requestBody: hex(row.request_body_hash),
    responseBody: hex(row.response_body_hash),
    upstreamRequestBody: hex(row.upstream_request_body_hash),
    upstreamResponseBody: hex(row.upstream_response_body_hash),
    requestKey: row.request_key,
    model: row.model,
    stream: row.stream,
    capture: row.capture,
    tokenMode: row.token_mode,
    policyVersion: row.policy_version,
    finishReason: row.finish_reason,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    unparsedToolCall: row.unparsed_tool_call,
    breakCause: row.break_cause,
    session: JSON.parse(String(row.session)),
    error: row.error,
    side: row.side,
  });
}

function hex(hash: Buffer | null): string | null {
  return hash === null ? null : hash.toString("hex");
}
