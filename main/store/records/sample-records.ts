/** Records for tests and benchmarks of the store: complete, plain, with what matters given by the caller. */
import type { CallRecord, ExperimentRecord, NodeRecord, RolloutRecord, Store } from "../contract.ts";

export function sampleExperiment(id: string, change: Partial<ExperimentRecord> = {}): ExperimentRecord {
  return {
    id,
    name: `Experiment ${id}`,
    createdAt: 1_700_000_000_000,
    endedAt: null,
    spec: '{"tasks":["starter"]}',
    status: "running",
    kind: "experiment",
    ...change,
  };
}

export function sampleRollout(id: string, experimentId: string, change: Partial<RolloutRecord> = {}): RolloutRecord {
  return {
    id,
    experimentId,
    taskName: "rename-files",
    taskDigest: "sha256:0123",
    taskPath: "/tasks/rename-files",
    harness: "react",
    harnessVersion: "1.0.0",
    policy: "scripted",
    policyVersion: null,
    sandbox: "local",
    groupIndex: 0,
    seed: 7,
    phase: "running",
    outcome: null,
    reward: null,
    rewards: null,
    attempts: 1,
    phases: [{ name: "queued", startedAt: 1_700_000_000_000, seconds: 0.5 }],
    isolation: { files: "own root", network: "none", processes: "own namespace", limits: "none" },
    fingerprint: { kernel: "6.1", node: "20.20.2" },
    calls: 0,
    chains: 0,
    promptTokens: 0,
    completionTokens: 0,
    trainable: null,
    trainableReason: null,
    labels: {},
    policyWaitSeconds: null,
    steps: [],
    createdAt: 1_700_000_000_000,
    startedAt: 1_700_000_000_500,
    endedAt: null,
    ...change,
  };
}

/** Puts the bodies and makes the call that refers to them. */
export function sampleCall(
  store: Store,
  rolloutId: string,
  index: number,
  request: Uint8Array,
  response: Uint8Array,
  change: Partial<CallRecord> = {},
): CallRecord {
  const near = `${rolloutId} requests`;
  return {
    id: `${rolloutId}-1-${index}`,
    rolloutId,
    attempt: 1,
    index,
    dialect: "chat",
    method: "POST",
    path: "/v1/chat/completions",
    status: "ok",
    httpStatus: 200,
    startedAt: 1_700_000_001_000 + index * 1000,
    endedAt: 1_700_000_001_500 + index * 1000,
    upstreamMs: 412.5,
    upstreamRetries: 0,
    replays: 0,
    aborted: false,
    late: false,
    quarantined: null,
    requestHeaders: { "content-type": "application/json", "user-agent": "react/1.0" },
    requestBody: store.blobs.put(request, near).hash,
    responseBody: store.blobs.put(response).hash,
    upstreamRequestBody: null,
    upstreamResponseBody: null,
    requestKey: `key-${index}`,
    model: "policy",
    stream: true,
    capture: "ids+logprobs",
    tokenMode: "as-sampled",
    policyVersion: "scripted",
    finishReason: "stop",
    promptTokens: 5,
    completionTokens: 3,
    unparsedToolCall: false,
    breakCause: null,
    side: null,
    session: {},
    error: null,
    ...change,
  };
}

/** Three sampled tokens after a prompt of five. */
export function sampleNode(callId: string, parentCallId: string | null = null): NodeRecord {
  return {
    callId,
    parentCallId,
    addedPromptIds: Int32Array.of(1, 2, 3, 151_644, -1),
    sampledIds: Int32Array.of(10, 11, 12),
    logprobs: Float32Array.of(-0.5, Number.NaN, -2),
    promptLength: parentCallId === null ? 5 : 13,
  };
}
