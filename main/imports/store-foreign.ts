/** Writes an imported experiment: read-only, its calls as calls of the Chat Completions API, its chains rebuilt from them. */
import { createHash } from "node:crypto";
import type { CaptureLevel } from "../../engine/conversation/index.ts";
import { createPlacementIndex, type PlacementIndex } from "../../engine/graph/index.ts";
import type { ImportReport } from "../api/export-views.ts";
import type { CallRecord, NodeRecord, RolloutRecord, Store } from "../store/index.ts";
import { rebuildTrajectories, trajectoryTotals } from "../trajectories/index.ts";
import type { ForeignCall, ForeignExperiment, ForeignRollout } from "./contract.ts";

/** Brings it in once: a second time names the first. A failure leaves nothing of it. `path`: where it came from. */
export async function storeForeign(
  store: Store,
  foreign: ForeignExperiment,
  path: string,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<ImportReport> {
  const id = `e-${digest(foreign.identity).slice(0, 8)}`;
  const finished = `imported:${id}`;
  if (store.experiment(id) !== null) {
    if (store.setting(finished) !== null) return reportOf(store, foreign, id, ["It was imported before."]);
    store.deleteExperiment(id);
  }
  const spec = JSON.stringify({ name: foreign.name, imported: foreign.kind, from: path });
  store.createExperiment({
    ...{
      id,
      name: foreign.name,
      createdAt: foreign.createdAt || Date.now(),
      endedAt: foreign.endedAt,
      spec,
      status: "recording",
      kind: "experiment",
    },
  });
  try {
    const groups = new Map<string, number>();
    let count = 0;
    for await (const rollout of foreign.rollouts) {
      signal.throwIfAborted();
      const group = JSON.stringify([rollout.taskName, rollout.harness, rollout.policy]);
      const groupIndex = groups.get(group) ?? 0;
      groups.set(group, groupIndex + 1);
      storeRollout(store, id, `r-${digest(`${foreign.identity} ${count}`).slice(0, 10)}`, groupIndex, rollout);
      count += 1;
      if (count % 100 === 0) report(`${count} rollouts`);
    }
    store.setSetting(finished, JSON.stringify(path));
  } catch (error) {
    store.deleteExperiment(id);
    throw error;
  }
  return reportOf(store, foreign, id, foreign.notes);
}

function reportOf(store: Store, { kind, name }: ForeignExperiment, experiment: string, notes: readonly string[]): ImportReport {
  const rollouts = store.rolloutsOf(experiment);
  const calls = rollouts.reduce((sum, rollout) => sum + rollout.calls, 0);
  return { experiment, name, kind, rollouts: rollouts.length, calls, notes: [...new Set(notes)] };
}

function storeRollout(store: Store, experimentId: string, id: string, groupIndex: number, foreign: ForeignRollout): void {
  const { calls, files, taskDigest, promptTokens, completionTokens, steps = [], ...told } = foreign;
  const record: RolloutRecord = {
    ...told,
    ...{ id, experimentId, groupIndex },
    // Rollouts are grouped by the digest: tasks that are only known by name stay apart.
    taskDigest: taskDigest ?? `unknown:${foreign.taskName}`,
    ...{
      policyVersion: null,
      seed: 0,
      phase: "ended",
      attempts: 1,
      isolation: null,
      fingerprint: null,
      labels: {},
      policyWaitSeconds: null,
      steps,
    },
    ...{ calls: 0, chains: 0, promptTokens: 0, completionTokens: 0, trainable: null, trainableReason: null },
    createdAt: foreign.startedAt ?? 0,
  };
  const placements = createPlacementIndex();
  const written = calls.map((call, index) => ({ call: callRecord(store, id, index, call), node: nodeOf(placements, callId(id, index), call) }));
  const artifacts = files.map(({ kind, name, bytes }) => {
    const { hash, size } = store.blobs.put(bytes);
    return { rolloutId: id, attempt: 0, kind, name, blob: hash, size };
  });
  store.atomically(() => {
    store.createRollouts([record]);
    for (const { call, node } of written) store.recordCall(call, node);
    for (const artifact of artifacts) store.addArtifact(artifact);
  });
  const totals = trajectoryTotals(rebuildTrajectories(store, id));
  store.updateRollout(id, calls.length > 0 ? totals : { promptTokens, completionTokens, trainable: false, trainableReason: "no recorded call" });
}

function callId(rollout: string, index: number): string {
  return `${rollout}-c${index}`;
}

function callRecord(store: Store, rolloutId: string, index: number, call: ForeignCall): CallRecord {
  const put = (value: unknown) => store.blobs.put(new TextEncoder().encode(JSON.stringify(value)), rolloutId).hash;
  const id = callId(rolloutId, index);
  const request = { model: call.model, messages: call.messages, ...(call.tools.length === 0 ? {} : { tools: call.tools }) };
  return {
    ...{ id, rolloutId, attempt: 0, index, dialect: "chat", method: "POST", path: "/v1/chat/completions", status: "ok", httpStatus: 200 },
    ...{
      startedAt: call.startedAt,
      endedAt: call.endedAt,
      upstreamMs: 0,
      upstreamRetries: 0,
      replays: 0,
      aborted: false,
      late: false,
      quarantined: null,
    },
    requestHeaders: {},
    requestBody: put(request),
    responseBody: put(completion(id, call)),
    ...{ upstreamRequestBody: null, upstreamResponseBody: null },
    requestKey: digest(JSON.stringify(request)),
    ...{
      model: call.model,
      stream: false,
      capture: captureOf(call),
      tokenMode: "text-in",
      policyVersion: call.model,
      finishReason: call.finishReason,
    },
    ...{ promptTokens: call.promptTokens, completionTokens: call.completionTokens, unparsedToolCall: false, breakCause: null, side: null },
    session: call.thread === null ? {} : { "imported-thread-id": call.thread },
    error: null,
  };
}

function completion(id: string, { answer, finishReason, model, endedAt, promptTokens, completionTokens }: ForeignCall) {
  const usage = { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: promptTokens + completionTokens };
  const choices = [{ index: 0, message: answer, finish_reason: finishReason.replace("-", "_") }];
  return { id, object: "chat.completion", created: Math.floor(endedAt / 1000), model, choices, usage };
}

function captureOf({ tokens }: ForeignCall): CaptureLevel {
  if (tokens === null) return "text-only";
  return tokens.logprobs === null ? "ids" : "ids+logprobs";
}

function nodeOf(placements: PlacementIndex, id: string, { tokens }: ForeignCall): NodeRecord | null {
  if (tokens === null) return null;
  const sampledIds = Int32Array.from(tokens.sampled);
  const placed = placements.placeCall({ callId: id, promptIds: Int32Array.from(tokens.prompt), sampledIds });
  return { callId: id, ...placed, sampledIds, logprobs: Float32Array.from(tokens.logprobs ?? []) };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
