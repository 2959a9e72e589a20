/** Experiments as they leave the service, and as a person orders them. */
import { z } from "zod";
import { rolloutViewSchema } from "./rollout-views.ts";

const summaryRowSchema = z.object({
  harness: z.string(),
  policy: z.string(),
  /** Rollouts with a reward. */
  n: z.number(),
  mean: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  infrastructureFailures: z.number(),
});
export type SummaryRow = z.infer<typeof summaryRowSchema>;

export const experimentViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
  status: z.enum(["running", "ended", "cancelled", "recording"]),
  /** `training` = a training run adds rollouts to it; `attach` = its rollouts are sessions of programs outside any sandbox. */
  kind: z.enum(["experiment", "training", "attach"]),
  spec: z.string(),
  total: z.number(),
  ended: z.number(),
  outcomes: z.record(z.string(), z.number()),
  calls: z.number(),
  chains: z.number(),
  tokens: z.number(),
  harnesses: z.array(z.string()),
  policies: z.array(z.string()),
  reward: z.object({ n: z.number(), mean: z.number().nullable(), low: z.number().nullable(), high: z.number().nullable() }),
});
export type ExperimentView = z.infer<typeof experimentViewSchema>;

export const experimentResultSchema = z.object({ experiment: z.string(), rollouts: z.array(rolloutViewSchema), summary: z.array(summaryRowSchema) });
export type ExperimentResult = z.infer<typeof experimentResultSchema>;

/** An experiment as a person writes it (YAML) and as the form sends it. */
export const experimentSpecSchema = z.strictObject({
  name: z.string().min(1).optional(),
  /** Task package folders, or `starter` for all that ship. */
  tasks: z.array(z.string().min(1)).min(1).default(["starter"]),
  harnesses: z.array(z.string().min(1)).min(1).default(["react"]),
  /** Policy ids, URLs, `scripted[:FILE]`, `embedded:FOLDER`, `embedded:NAME`, `training:RUN@STEP`. */
  policies: z.array(z.string().min(1)).min(1).default(["scripted"]),
  k: z.number().int().positive().default(1),
  sandbox: z.enum(["local", "docker", "kubernetes"]).default("local"),
  concurrency: z.number().int().positive().max(256).default(2),
  seed: z.number().int().nonnegative().default(0),
  outcomePreset: z.enum(["default", "paper"]).default("default"),
  /** Preset `paper`: discard agents that ran out of their time, whatever their reward. */
  discardTimeouts: z.boolean().default(false),
  tokenMode: z.enum(["as-sampled", "as-template", "text-in"]).optional(),
  attempts: z.number().int().positive().max(10).default(3),
  /** Overrides the task's agent budget, seconds. */
  agentTimeoutSeconds: z.number().positive().optional(),
  /** Keep the final state of each sandbox, so that a changed verifier can grade it later (`runs regrade`). */
  keepWorkspace: z.boolean().default(false),
});
export type ExperimentSpec = z.infer<typeof experimentSpecSchema>;
export type ExperimentSpecInput = z.input<typeof experimentSpecSchema>;
