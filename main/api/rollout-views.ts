/** Rollouts as they leave the service: in lists, one with its calls and chains, and what they have stored. */
import { z } from "zod";
import { outcomeCauses, outcomeStatuses, rolloutPhases } from "../../engine/outcome/index.ts";
import { callViewSchema } from "./call-views.ts";
import { stepViewSchema } from "./grade-views.ts";

const isolationSchema = z.object({ files: z.string(), network: z.string(), processes: z.string(), limits: z.string() });

/** One rollout, as `run --json` and `runs show --json` print it; `phase`… are for live views. */
export const rolloutViewSchema = z.object({
  id: z.string(),
  experiment: z.string(),
  task: z.string(),
  taskPath: z.string(),
  taskDigest: z.string(),
  harness: z.string(),
  harnessVersion: z.string(),
  policy: z.string(),
  policyVersion: z.string().nullable(),
  sandbox: z.enum(["local", "docker", "kubernetes"]),
  groupIndex: z.number(),
  seed: z.number(),
  phase: z.enum(rolloutPhases),
  /** null until the rollout has ended. */
  status: z.enum(outcomeStatuses).nullable(),
  cause: z.enum(outcomeCauses).nullable(),
  action: z.enum(["train", "mask", "discard"]).nullable(),
  detail: z.string().nullable(),
  reward: z.number().nullable(),
  rewards: z.record(z.string(), z.number()).nullable(),
  attempts: z.number(),
  phases: z.array(z.object({ name: z.enum(rolloutPhases), startedAt: z.number(), seconds: z.number().nullable() })),
  isolation: isolationSchema.nullable(),
  fingerprint: z.record(z.string(), z.string()).nullable(),
  calls: z.number(),
  chains: z.number(),
  trainable: z.boolean().nullable(),
  trainableReason: z.string().nullable(),
  promptTokens: z.number(),
  completionTokens: z.number(),
  /** Wall time from start to end, or so far; null when still queued. */
  seconds: z.number().nullable(),
  /** Of these, seconds that its calls waited for the policy before it began to answer: no part of the agent's budget. */
  policyWaitSeconds: z.number().nullable(),
  /** Of a task of several steps, in order; else empty. */
  steps: z.array(stepViewSchema),
  /** Words of whoever ordered it: step, split … */
  labels: z.record(z.string(), z.union([z.string(), z.number()])),
  createdAt: z.number(),
});
export type RolloutView = z.infer<typeof rolloutViewSchema>;

const chainViewSchema = z.object({
  /** Indexes of the calls on this chain, in order. */
  calls: z.array(z.number()),
  tokens: z.number(),
  /** Tokens with mask 1 on this chain. */
  trained: z.number(),
  breakCause: z.string().nullable(),
});

export const rolloutDetailSchema = rolloutViewSchema.omit({ calls: true, chains: true }).extend({
  calls: z.array(callViewSchema),
  chains: z.array(chainViewSchema),
  /** Ids of the calls that a person has corrected. */
  corrected: z.array(z.string()),
  /** Rewards of the group (same task, harness, policy), by group index; null = none. */
  group: z.array(z.object({ id: z.string(), status: z.string().nullable(), reward: z.number().nullable() })),
});
export type RolloutDetail = z.infer<typeof rolloutDetailSchema>;

export const artifactViewSchema = z.object({
  kind: z.enum(["harness-log", "verifier-output", "artifact", "sandbox-log", "workspace"]),
  name: z.string(),
  blob: z.string(),
  size: z.number(),
  attempt: z.number(),
});
export type ArtifactView = z.infer<typeof artifactViewSchema>;
