/**
 * What the store promises to the rest of the service; `openStore` gives the one implementation.
 * The service is the sole writer. Writes are durable against kill -9 when they return. Times are Unix milliseconds.
 * Everything written passes the redactor first: no secret reaches the disk.
 */
import type { BlobHash, CaptureLevel, FinishReason } from "../../engine/conversation/index.ts";
import type { Outcome, OutcomeCause, RolloutPhase } from "../../engine/outcome/index.ts";
import type { IsolationReport, SandboxKind } from "../sandboxes/index.ts";

export interface ExperimentRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** The experiment as a person would write it (tasks, harnesses, policies, k …), JSON text. */
  readonly spec: string;
  /** `recording` = read-only, imported or bundled. */
  readonly status: "running" | "ended" | "cancelled" | "recording";
  /** `training` = stays open: a training run adds rollouts to it step by step. `attach` = sessions of programs outside any sandbox. */
  readonly kind: "experiment" | "training" | "attach";
}

/** Words of whoever ordered a rollout: step, split … */
export type RolloutLabels = Readonly<Record<string, string | number>>;

export interface RolloutRecord {
  readonly id: string;
  readonly experimentId: string;
  readonly taskName: string;
  readonly taskDigest: string;
  readonly taskPath: string;
  readonly harness: string;
  readonly harnessVersion: string;
  readonly policy: string;
  readonly policyVersion: string | null;
  readonly sandbox: SandboxKind;
  /** 0-based number inside its group (same task, harness and policy). */
  readonly groupIndex: number;
  readonly seed: number;
  readonly phase: RolloutPhase;
  readonly outcome: Outcome | null;
  /** Scalar reward; null = none was given, never 0. */
  readonly reward: number | null;
  /** Every reward by name. */
  readonly rewards: Readonly<Record<string, number>> | null;
  readonly attempts: number;
  readonly phases: readonly { readonly name: RolloutPhase; readonly startedAt: number; readonly seconds: number | null }[];
  readonly isolation: IsolationReport | null;
  readonly fingerprint: Readonly<Record<string, string>> | null;
  readonly calls: number;
  readonly chains: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly trainable: boolean | null;
  readonly trainableReason: string | null;
  readonly labels: RolloutLabels;
  /** Seconds that its calls waited for the policy before it began to answer (queue, retries): no part of the agent's budget. null = not yet known. */
  readonly policyWaitSeconds: number | null;
  /** Of a task of several steps, every step in order, as of its last attempt; else empty. */
  readonly steps: readonly StepRecord[];
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

/** One step of a task of several steps, as far as it has come. */
export interface StepRecord {
  readonly name: string;
  /** null = it runs, or was never begun. */
  readonly outcome: Pick<Outcome, "status" | "cause" | "detail"> | null;
  /** null = none was given, never 0. */
  readonly reward: number | null;
  readonly rewards: Readonly<Record<string, number>> | null;
  /** What its rewards must reach for the next step to begin; null = nothing. */
  readonly minReward: Readonly<Record<string, number>> | null;
  /** Index of its first call in the attempt, and how many it made. */
  readonly firstCall: number;
  readonly calls: number;
  /** null = not begun. */
  readonly startedAt: number | null;
  readonly agentSeconds: number | null;
  readonly verifierSeconds: number | null;
}

/** A grade that a verifier gave to stored work, beside the rollout's own. Never changed. */
export interface GradeRecord {
  readonly rolloutId: string;
  readonly attempt: number;
  readonly at: number;
  readonly status: "succeeded" | "failed" | "verifier-failure";
  readonly cause: OutcomeCause | null;
  readonly detail: string | null;
  readonly reward: number | null;
  readonly rewards: Readonly<Record<string, number>> | null;
  readonly steps: readonly StepRecord[];
  readonly seconds: number;
  /** What was graded: the kept final state of the sandbox, or the declared artifacts only. */
  readonly source: "workspace" | "artifacts";
  readonly taskPath: string;
  readonly taskDigest: string;
  /** Names the verifier: its files and settings. */
  readonly verifierDigest: string;
}

/** What may change on a rollout; fields left out stay. */
export type RolloutUpdate = Partial<Omit<RolloutRecord, "id" | "experimentId" | "createdAt">>;

/** `not-found` and `counted` (how many tokens a request would be) were answered by the proxy itself: they are no model calls. */
export type CallStatus = "ok" | "error" | "aborted" | "partial" | "not-found" | "counted";
export type TokenMode = "as-sampled" | "as-template" | "text-in";

/** One model request and its answer. Appended once, when the answer is known and before it is released to the client. */
export interface CallRecord {
  readonly id: string;
  readonly rolloutId: string;
  readonly attempt: number;
  /** 0-based inside the attempt, in order of arrival. */
  readonly index: number;
  readonly dialect: "chat" | "responses" | "messages" | "gemini" | "unknown";
  readonly method: string;
  readonly path: string;
  readonly status: CallStatus;
  /** HTTP status that the client got. */
  readonly httpStatus: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Milliseconds spent waiting for the policy, retries and queue included. */
  readonly upstreamMs: number;
  /** Tries against the upstream beyond the first. */
  readonly upstreamRetries: number;
  /** Client requests answered from this record after the first. */
  readonly replays: number;
  /** The client went away before the terminal event was flushed. */
  readonly aborted: boolean;
  /** Arrived after the rollout's agent phase had ended. */
  readonly late: boolean;
  readonly quarantined: string | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: BlobHash;
  /** Bytes as the client got them (the synthesised stream, or the one JSON body); null when nothing was sent. */
  readonly responseBody: BlobHash | null;
  /** What went to and came from the upstream, when that differs. */
  readonly upstreamRequestBody: BlobHash | null;
  readonly upstreamResponseBody: BlobHash | null;
  /** Equality key of the request: canonical body less stream fields, cache markers and volatile fields. */
  readonly requestKey: string;
  readonly model: string;
  readonly stream: boolean;
  readonly capture: CaptureLevel;
  readonly tokenMode: TokenMode;
  readonly policyVersion: string | null;
  readonly finishReason: FinishReason | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly unparsedToolCall: boolean;
  /** Why the assembled prompt left the recorded chain, when it did (compaction, edited turn, tools changed …). */
  readonly breakCause: string | null;
  /** What the harness made it for beside its main loop (`title` …), by its manifest or its own word; null = its main loop. */
  readonly side: string | null;
  /** Session headers that the harness's manifest names (thread id, subagent …). */
  readonly session: Readonly<Record<string, string>>;
  /** One clear sentence when status is not ok. */
  readonly error: string | null;
}

/** Tokens of one call as stored: a node holds only what it adds to its parent. */
export interface NodeRecord {
  readonly callId: string;
  readonly parentCallId: string | null;
  /** Prompt ids beyond the parent's prompt + sampled ids. */
  readonly addedPromptIds: Int32Array;
  readonly sampledIds: Int32Array;
  /** NaN where the engine gave no finite number. Empty = none captured. */
  readonly logprobs: Float32Array;
  /** Prompt token count in all, for checks. */
  readonly promptLength: number;
}

export interface EventRecord {
  /** Grows by one over the whole data folder. */
  readonly sequence: number;
  readonly at: number;
  readonly experimentId: string | null;
  readonly rolloutId: string | null;
  /** `rollout.phase`, `rollout.outcome`, `call.recorded`, `call.said`, `experiment.ended`, `log` … */
  readonly type: string;
  /** JSON text. */
  readonly payload: string;
}

export interface ArtifactRecord {
  readonly rolloutId: string;
  readonly attempt: number;
  /** `workspace` = the final state of the sandbox, packed, for a later verifier. */
  readonly kind: "harness-log" | "verifier-output" | "artifact" | "sandbox-log" | "workspace";
  /** Path-like name, e.g. `stdout.txt`, `artifacts/report.csv`. */
  readonly name: string;
  readonly blob: BlobHash;
  readonly size: number;
}

export interface StoreProblem {
  readonly where: string;
  readonly message: string;
  readonly repaired: boolean;
}

/** A span of a body that was blanked before it was written: byte offsets into the original. */
export interface RedactionSpan {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/**
 * Declared secrets: values never written anywhere, whichever rollout they belong to (`null` = the whole service). A value is found
 * raw, JSON-escaped, URL-encoded and inside base64, and becomes `[redacted:NAME]`. Declare before the first byte is stored.
 */
export interface Redactor {
  /** Declares a secret; values shorter than 6 characters are refused. */
  declare(name: string, value: string, rolloutId: string | null): void;
  forget(rolloutId: string): void;
  /** For logs and messages. */
  text(value: string): string;
  /** As `text`, and the value of every header that carries credentials (authorization, cookie, x-api-key …) is blanked whatever it holds. */
  headers(headers: Readonly<Record<string, string>>): Record<string, string>;
  /** `spans` is empty exactly when no secret was seen; `bytes` is then the argument itself. */
  bytes(value: Uint8Array): { readonly bytes: Uint8Array; readonly spans: readonly RedactionSpan[] };
}

export interface BlobStore {
  /**
   * Stores bytes after redaction; equal bytes are stored once. The hash is of the redacted bytes. The bytes must not change afterwards.
   * They are durable when the first record that refers to them is (`recordCall`, `addArtifact`); what no record refers to is dropped at the next start.
   * `near`: bodies put under one such key resemble the one before (the requests of one rollout); it saves space and time, nothing depends on it.
   */
  put(bytes: Uint8Array, near?: string): { readonly hash: BlobHash; readonly size: number; readonly redactions: readonly RedactionSpan[] };
  /** null = not stored. Throws when it is stored and damaged. */
  get(hash: BlobHash): Uint8Array | null;
  /** Length without reading, or null. */
  size(hash: BlobHash): number | null;
  /** What was blanked in this body when it was first stored. */
  redactions(hash: BlobHash): readonly RedactionSpan[];
}

/** One experiment in a list: counts and sums over its rollouts, read without touching its calls. */
export interface ExperimentSummary {
  readonly total: number;
  readonly ended: number;
  /** Rollouts without an outcome that wait to be run. */
  readonly queued: number;
  /** Rollouts by outcome status. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly chains: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly harnesses: readonly string[];
  readonly policies: readonly string[];
  /** Rewards that were given to rollouts with an outcome, in order of creation. */
  readonly rewards: readonly Pick<RolloutRecord, "taskName" | "outcome" | "reward">[];
}

export interface Store {
  readonly dataFolder: string;
  /** What the last stop had left and this start put in order; empty after a clean stop. */
  readonly repairs: readonly StoreProblem[];
  readonly redactor: Redactor;
  readonly blobs: BlobStore;

  createExperiment(record: ExperimentRecord): void;
  updateExperiment(id: string, change: Partial<Pick<ExperimentRecord, "status" | "endedAt" | "name">>): void;
  experiment(id: string): ExperimentRecord | null;
  /** Newest first. */
  experiments(): readonly ExperimentRecord[];
  /** What a list of runs shows of an experiment. */
  experimentSummary(id: string): ExperimentSummary;
  /** Removes an experiment with its rollouts, calls, events and blob references. */
  deleteExperiment(id: string): void;

  createRollouts(records: readonly RolloutRecord[]): void;
  updateRollout(id: string, change: RolloutUpdate): void;
  rollout(id: string): RolloutRecord | null;
  /** `changedAfter`: only those that changed after this mark. */
  rolloutsOf(experimentId: string, changedAfter?: number): readonly RolloutRecord[];
  /** Grows with every change to a rollout of the experiment (a recorded call is one), over restarts too; 0 = there is no such experiment. */
  rolloutMark(experimentId: string): number;
  /** Rollouts that have not ended, over all experiments: what a restarted service picks up. */
  unfinishedRollouts(): readonly RolloutRecord[];

  /**
   * One transaction: the call, its node when there are tokens, references to its bodies and to `attachments` (images and files
   * stored apart), the rollout's counts (model calls, tokens: added here, set by `updateRollout`) and a `call.recorded` event.
   */
  recordCall(call: CallRecord, node: NodeRecord | null, attachments?: readonly BlobHash[]): void;
  /** The same, committed together with the other calls of this turn of the event loop: what the proxy uses. Durable when it resolves. */
  recordCallDurably(call: CallRecord, node: NodeRecord | null, attachments?: readonly BlobHash[]): Promise<void>;
  /** Marks that become known later (replays, late abort, quarantine). */
  updateCall(id: string, change: Partial<Pick<CallRecord, "replays" | "aborted" | "quarantined" | "status">>): void;
  call(id: string): CallRecord | null;
  /** Calls of the last attempt that made any, or of the one named, by index. */
  callsOf(rolloutId: string, attempt?: number): readonly CallRecord[];
  nodesOf(rolloutId: string, attempt?: number): readonly NodeRecord[];
  /** Bodies that the call refers to beside its four own. */
  attachmentsOf(callId: string): readonly BlobHash[];

  appendEvent(event: Omit<EventRecord, "sequence">): EventRecord;
  /** Events after `sequence`, oldest first, at most `limit`. */
  eventsAfter(sequence: number, limit: number, filter?: { readonly experimentId?: string; readonly rolloutId?: string }): readonly EventRecord[];
  /** Sequence of the newest event; 0 when there is none. */
  lastSequence(): number;
  /** Called after each committed event, in order. Returns the unsubscriber. */
  onEvent(listener: (event: EventRecord) => void): () => void;

  addArtifact(record: ArtifactRecord): void;
  artifactsOf(rolloutId: string): readonly ArtifactRecord[];

  addGrade(record: GradeRecord): void;
  /** Oldest first. */
  gradesOf(rolloutId: string): readonly GradeRecord[];

  /** Small settings (policy endpoints, window state …), JSON text by key. */
  setting(key: string): string | null;
  setSetting(key: string, json: string): void;

  /** Everything written inside is committed together, or, when it throws, not at all. */
  atomically<T>(work: () => T): T;

  /** Verifies every reference and checksum; repairs what a crash can leave. Never deletes whole records. */
  check(): Promise<readonly StoreProblem[]>;
  /** Bytes on disk: database, and bodies (packs and journals). */
  usage(): { readonly databaseBytes: number; readonly packBytes: number };
  /** Moves every recorded body from the journal into packs now. It happens by itself when the store is idle; a crash during it loses nothing. */
  compact(): Promise<void>;
  close(): void;
}
