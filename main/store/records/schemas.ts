/** What a row or a line of a recording must look like to be given out as a record. */
import { z } from "zod";
import { type BlobHash, captureLevels } from "../../../engine/conversation/index.ts";
import { outcomeCauses, outcomeStatuses, rolloutPhases } from "../../../engine/outcome/index.ts";
import type { ArtifactRecord, CallRecord, EventRecord, ExperimentRecord, GradeRecord, RolloutRecord, StepRecord } from "../contract.ts";

const texts = z.record(z.string(), z.string());
export const blobHashSchema = z.custom<BlobHash>((value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value), "must be a SHA-256 in hex");
/** SQLite has no booleans. */
const flag = z.union([z.boolean(), z.literal([0, 1]).transform((value) => value === 1)]);

export const experimentSchema = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
  spec: z.string(),
  status: z.enum(["running", "ended", "cancelled", "recording"]),
  /** Recordings of earlier versions do not say it. */
  kind: z.enum(["experiment", "training", "attach"]).default("experiment"),
}) satisfies z.ZodType<ExperimentRecord>;

export const outcomeSchema = z.object({
  status: z.enum(outcomeStatuses),
  cause: z.enum(outcomeCauses).nullable(),
  action: z.enum(["train", "mask", "discard"]),
  detail: z.string().nullable(),
});

const rewardsSchema = z.record(z.string(), z.number()).nullable();

const stepSchema = z.object({
  name: z.string(),
  outcome: outcomeSchema.omit({ action: true }).nullable(),
  reward: z.number().nullable(),
  rewards: rewardsSchema,
  minReward: rewardsSchema,
  firstCall: z.number(),
  calls: z.number(),
  startedAt: z.number().nullable(),
  agentSeconds: z.number().nullable(),
  verifierSeconds: z.number().nullable(),
}) satisfies z.ZodType<StepRecord>;

export const gradeSchema = z.object({
  rolloutId: z.string(),
  attempt: z.number(),
  at: z.number(),
  status: z.enum(["succeeded", "failed", "verifier-failure"]),
  cause: z.enum(outcomeCauses).nullable(),
  detail: z.string().nullable(),
  reward: z.number().nullable(),
  rewards: rewardsSchema,
  steps: z.array(stepSchema),
  seconds: z.number(),
  source: z.enum(["workspace", "artifacts"]),
  taskPath: z.string(),
  taskDigest: z.string(),
  verifierDigest: z.string(),
}) satisfies z.ZodType<GradeRecord>;

export const rolloutSchema = z.object({
  id: z.string(),
  experimentId: z.string(),
  taskName: z.string(),
  taskDigest: z.string(),
  taskPath: z.string(),
  harness: z.string(),
  harnessVersion: z.string(),
  policy: z.string(),
  policyVersion: z.string().nullable(),
  sandbox: z.enum(["local", "docker", "kubernetes"]),
  groupIndex: z.number(),
  seed: z.number(),
  phase: z.enum(rolloutPhases),
  outcome: outcomeSchema.nullable(),
  reward: z.number().nullable(),
  rewards: rewardsSchema,
  attempts: z.number(),
  phases: z.array(z.object({ name: z.enum(rolloutPhases), startedAt: z.number(), seconds: z.number().nullable() })),
  isolation: z.object({ files: z.string(), network: z.string(), processes: z.string(), limits: z.string() }).nullable(),
  fingerprint: texts.nullable(),
  calls: z.number(),
  chains: z.number(),
  promptTokens: z.number(),
  completionTokens: z.number(),
  trainable: flag.nullable(),
  trainableReason: z.string().nullable(),
  labels: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  policyWaitSeconds: z.number().nullable().default(null),
  steps: z.array(stepSchema).default([]),
  createdAt: z.number(),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
}) satisfies z.ZodType<RolloutRecord>;

export const callSchema = z.object({
  id: z.string(),
  rolloutId: z.string(),
  attempt: z.number(),
  index: z.number(),
  dialect: z.enum(["chat", "responses", "messages", "gemini", "unknown"]),
  method: z.string(),
  path: z.string(),
  status: z.enum(["ok", "error", "aborted", "partial", "not-found", "counted"]),
  httpStatus: z.number(),
  startedAt: z.number(),
  endedAt: z.number(),
  upstreamMs: z.number(),
  upstreamRetries: z.number(),
  replays: z.number(),
  aborted: flag,
  late: flag,
  quarantined: z.string().nullable(),
  requestHeaders: texts,
  requestBody: blobHashSchema,
  responseBody: blobHashSchema.nullable(),
  upstreamRequestBody: blobHashSchema.nullable(),
  upstreamResponseBody: blobHashSchema.nullable(),
  requestKey: z.string(),
  model: z.string(),
  stream: flag,
  capture: z.enum(captureLevels),
  tokenMode: z.enum(["as-sampled", "as-template", "text-in"]),
  policyVersion: z.string().nullable(),
  finishReason: z.enum(["stop", "length", "tool-calls", "content-filter"]).nullable(),
  promptTokens: z.number(),
  completionTokens: z.number(),
  unparsedToolCall: flag,
  breakCause: z.string().nullable(),
  /** Recordings of older versions have none. */
  side: z.string().nullable().default(null),
  session: texts,
  error: z.string().nullable(),
}) satisfies z.ZodType<CallRecord>;

export const eventSchema = z.object({
  sequence: z.number(),
  at: z.number(),
  experimentId: z.string().nullable(),
  rolloutId: z.string().nullable(),
  type: z.string(),
  payload: z.string(),
}) satisfies z.ZodType<EventRecord>;

export const artifactSchema = z.object({
  rolloutId: z.string(),
  attempt: z.number(),
  kind: z.enum(["harness-log", "verifier-output", "artifact", "sandbox-log", "workspace"]),
  name: z.string(),
  blob: blobHashSchema,
  size: z.number(),
}) satisfies z.ZodType<ArtifactRecord>;
