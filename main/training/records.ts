/** What a training run keeps on disk, step by step: plain JSON that exports and studies read. */
import { z } from "zod";
import { evaluationSchema, secondsSchema, stepRolloutSchema, stepSchema, trainingStatuses } from "../api/training-views.ts";
import { publishedRunSchema } from "../models/index.ts";

/** run.json. Fields of `publishedRunSchema` are what makes its weights answer model calls. */
export const runRecordSchema = publishedRunSchema.extend({
  format: z.literal(1),
  id: z.string(),
  name: z.string(),
  /** As the run file names it. */
  base: z.string(),
  seed: z.number(),
  configuration: z.string(),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
  status: z.enum(trainingStatuses),
  problem: z.object({ message: z.string(), remedy: z.string() }).nullable(),
  /** The run file as it was given, and where its relative paths begin. */
  file: z.string(),
  folder: z.string(),
  /** Experiments that hold its rollouts, the one in use last. */
  experiments: z.array(z.string()),
  backend: z.string(),
  memory: z.object({ bytes: z.number(), plan: z.string() }).nullable(),
  /** Updates that the whole run makes; known when its SFT rows are. */
  steps: z.number(),
  /** Steps whose checkpoint a person asked for: never removed. */
  kept: z.array(z.number()),
});
export type RunRecord = z.output<typeof runRecordSchema>;

/** steps/N.json. */
export const stepRecordSchema = z.object({
  format: z.literal(1),
  point: stepSchema,
  rollouts: z.array(stepRolloutSchema),
  /** After this step; it follows a target where the algorithm says so. */
  divergenceCoefficient: z.number(),
  /** Why nothing was trained; null when something was. */
  skipped: z.string().nullable(),
});
export type StepRecord = z.output<typeof stepRecordSchema>;

/**
 * steps/N.tokens.json. `positions` are those of the chain's tokens that took part, ascending; each has its advantage and its
 * log-probability by the trainer before the step (null: not a finite number).
 */
export const stepTokensSchema = z.object({
  format: z.literal(1),
  rows: z.array(
    z.object({
      rollout: z.string(),
      chain: z.number(),
      /** Tokens of the chain in all. */
      length: z.number(),
      positions: z.array(z.number()),
      advantages: z.array(z.number()),
      trainerLogprobs: z.array(z.number().nullable()),
    }),
  ),
});
export type StepTokens = z.output<typeof stepTokensSchema>;

/** evaluations/N.json: the view, and what it is made of. */
export const evaluationRecordSchema = z.object({
  format: z.literal(1),
  view: evaluationSchema,
  seconds: secondsSchema,
  /** Rollouts with what they got; success null = no fault of the policy. */
  rollouts: z.array(
    z.object({
      rollout: z.string(),
      task: z.string(),
      family: z.string().nullable(),
      harness: z.string(),
      success: z.number().nullable(),
      cause: z.string().nullable(),
    }),
  ),
});
export type EvaluationRecord = z.output<typeof evaluationRecordSchema>;
