/** Training runs as they leave the service: to the window, the command line (`--json`) and scripts. */
import { z } from "zod";

/** A mean with its 95 % interval; n = how many values it is of. null where there are none. */
const estimateSchema = z.object({ n: z.number(), mean: z.number().nullable(), low: z.number().nullable(), high: z.number().nullable() });
export type EstimateView = z.infer<typeof estimateSchema>;

/** Paired by task: after − before. */
const gainSchema = estimateSchema.extend({ paired: z.literal(true), better: z.number(), worse: z.number(), equal: z.number() });
export type GainView = z.infer<typeof gainSchema>;

/** Seconds of wall time in which each part was busy (parts overlap) and in which none was. */
export const secondsSchema = z.object({
  total: z.number(),
  sampling: z.number(),
  sandbox: z.number(),
  training: z.number(),
  evaluation: z.number(),
  idle: z.number(),
  /** Sampler or trainer at work; 0 in runs of before it was told. */
  engine: z.number().default(0),
});
export type SecondsView = z.infer<typeof secondsSchema>;

const behaviourSchema = z.record(z.string(), estimateSchema);

/** One evaluation on held-out tasks. */
export const evaluationSchema = z.object({
  /** Updates made before it: 0 = the policy as it came. */
  step: z.number(),
  policyVersion: z.string(),
  at: z.number(),
  /** Rollouts a task. */
  samples: z.number(),
  success: estimateSchema,
  /** `pass@k` and `pass^k` by name, as in `pass@4`. */
  passes: z.record(z.string(), estimateSchema),
  families: z.record(z.string(), estimateSchema),
  harnesses: z.record(z.string(), estimateSchema),
  behaviour: behaviourSchema,
  /** What it cost: comparisons are made at equal budgets. */
  budget: z.object({ rollouts: z.number(), calls: z.number(), promptTokens: z.number(), completionTokens: z.number(), seconds: z.number() }),
  /** Rollouts without a reward, by cause: no fault of the policy. */
  missing: z.record(z.string(), z.number()),
});
export type EvaluationView = z.infer<typeof evaluationSchema>;

/** A warning that belongs on a tile: which measure, its limit, one sentence. */
const healthSchema = z.object({ measure: z.string(), value: z.number(), limit: z.number().nullable(), message: z.string() });
export type HealthView = z.infer<typeof healthSchema>;

/** One step as a point of the curves. */
export const stepSchema = z.object({
  /** 1-based over the whole run. */
  step: z.number(),
  stage: z.enum(["sft", "rl"]),
  at: z.number(),
  policyVersion: z.string(),
  seconds: secondsSchema,
  /** Rollouts started for it, and those that took part in the update. */
  rollouts: z.number(),
  used: z.number(),
  /** Left out, by reason. */
  left: z.record(z.string(), z.number()),
  reward: estimateSchema,
  /** Mean tokens a rollout, sampled and in all. */
  completionTokens: z.number().nullable(),
  tokens: z.number().nullable(),
  /** Share of rollouts that ended at a limit. */
  truncated: z.number().nullable(),
  flatGroupShare: z.number().nullable(),
  loss: z.number().nullable(),
  gradientNorm: z.number().nullable(),
  rate: z.number(),
  updates: z.number(),
  /** Positions that carried a gradient, and distinct tokens among all that were computed. */
  trainedTokens: z.number(),
  uniqueTokens: z.number(),
  /** Versions behind, at most, of the rollouts that took part. */
  staleness: z.number(),
  memoryBytes: z.number().nullable(),
  /** Clip fraction, divergence, effective sample size, trainer–sampler gap … by the names of the algorithms. */
  metrics: z.record(z.string(), z.number()),
  health: z.array(healthSchema),
  checkpoint: z.boolean(),
});
export type TrainingStepView = z.infer<typeof stepSchema>;

export const trainingStatuses = ["preparing", "running", "pausing", "paused", "ended", "failed", "cancelled", "interrupted"] as const;

export const trainingRunSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** Runs that differ in nothing but the seed share it. */
  configuration: z.string(),
  seed: z.number(),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
  status: z.enum(trainingStatuses),
  /** One sentence and what to do, when it failed or was interrupted. */
  problem: z.object({ message: z.string(), remedy: z.string() }).nullable(),
  /** What it does right now, in a few words: `collecting 37 of 128`. */
  activity: z.string(),
  /** The run file as it was given. */
  file: z.string(),
  algorithm: z.string(),
  base: z.string(),
  backend: z.string(),
  harnesses: z.array(z.string()),
  step: z.number(),
  steps: z.number(),
  secondsPerStep: z.number().nullable(),
  /** Bytes it will take, and how they are spent, known before the first step. */
  memory: z.object({ bytes: z.number(), plan: z.string() }).nullable(),
  experiment: z.string().nullable(),
  points: z.array(stepSchema),
  evaluations: z.array(evaluationSchema),
  /** Last evaluation against the first. */
  gain: gainSchema.nullable(),
  seconds: secondsSchema,
});
export type TrainingRunView = z.infer<typeof trainingRunSchema>;

/** As `quickstart` and `train` print it. */
export const trainingResultSchema = z.object({
  run: z.string(),
  seed: z.number(),
  steps: z.number(),
  before: estimateSchema.nullable(),
  after: estimateSchema.nullable(),
  gain: gainSchema.nullable(),
  families: z.array(z.object({ family: z.string(), before: estimateSchema, after: estimateSchema })),
  behaviour: z.record(z.string(), z.object({ before: estimateSchema, after: estimateSchema })),
  seconds: secondsSchema,
});
export type TrainingResult = z.infer<typeof trainingResultSchema>;

/** A rollout of a step, with what the update made of it. */
export const stepRolloutSchema = z.object({
  rollout: z.string(),
  task: z.string(),
  harness: z.string(),
  group: z.string(),
  policyVersion: z.string(),
  reward: z.number().nullable(),
  /** null: it took no part. */
  advantage: z.number().nullable(),
  trainedTokens: z.number(),
  /** Share of the absolute loss; null when not known. */
  lossShare: z.number().nullable(),
  leftOut: z.string().nullable(),
});
export const trainingStepDetailSchema = z.object({ point: stepSchema, rollouts: z.array(stepRolloutSchema) });
export type TrainingStepDetail = z.infer<typeof trainingStepDetailSchema>;

/** Beside the tokens of a chain: what the update saw. One entry a token of the chain, null where it has none. */
export const trainedTokensSchema = z.object({
  chain: z.number(),
  mask: z.array(z.union([z.literal(0), z.literal(1)])),
  advantages: z.array(z.number().nullable()),
  trainerLogprobs: z.array(z.number().nullable()),
});
export type TrainedTokens = z.infer<typeof trainedTokensSchema>;

/** What a run file will do, before it starts. */
export const trainingCheckSchema = z.object({
  valid: z.boolean(),
  faults: z.array(z.object({ line: z.number(), message: z.string() })),
  summary: z.array(z.string()),
});
export type TrainingCheck = z.infer<typeof trainingCheckSchema>;
