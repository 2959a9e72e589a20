/** Comparisons as they leave the service. Every number carries what it rests on; a missing reward is missing, never 0. */
import { z } from "zod";

const estimateSchema = z.object({ n: z.number(), mean: z.number().nullable(), low: z.number().nullable(), high: z.number().nullable() });
export type Estimate = z.infer<typeof estimateSchema>;

export const measureSchema = z.object({
  name: z.string(),
  definition: z.string(),
  unit: z.enum(["share", "count", "tokens", "seconds"]),
  better: z.enum(["higher", "lower"]).nullable(),
});
export type MeasureView = z.infer<typeof measureSchema>;

/** One harness with one policy in one experiment (of a training run: in one of its evaluations). */
const columnSchema = z.object({
  /** Names the column in requests and links. */
  key: z.string(),
  experiment: z.string(),
  experimentName: z.string(),
  harness: z.string(),
  harnessVersion: z.string(),
  policy: z.string(),
  /** Training step of the evaluation; null outside of training runs. */
  step: z.number().nullable(),
  tasks: z.number(),
  /** Mean over tasks. */
  success: estimateSchema,
  /** Rollouts that infrastructure ended: in no mean. */
  infrastructure: z.number(),
  unended: z.number(),
  behaviour: z.record(z.string(), estimateSchema),
});
export type CompareColumn = z.infer<typeof columnSchema>;

const cellSchema = estimateSchema.extend({ task: z.string(), column: z.string(), infrastructure: z.number(), unended: z.number() });
export type CompareCell = z.infer<typeof cellSchema>;

export const gridSchema = z.object({
  columns: z.array(columnSchema),
  tasks: z.array(z.string()),
  cells: z.array(cellSchema),
  /** Which columns are ahead of which, in a sentence, and of which nothing can be said. */
  order: z.string(),
});
export type CompareGrid = z.infer<typeof gridSchema>;

const sideRolloutSchema = z.object({ id: z.string(), reward: z.number().nullable(), status: z.string(), calls: z.number(), tokens: z.number() });

const pairKinds = ["only-a", "only-b", "both", "neither", "not-comparable"] as const;
/** The same task on both sides, k-th rollout with k-th rollout. */
const pairSchema = z.object({ task: z.string(), kind: z.enum(pairKinds), a: sideRolloutSchema.nullable(), b: sideRolloutSchema.nullable() });
export type RolloutPair = z.infer<typeof pairSchema>;

const differenceSchema = z.object({ mean: z.number().nullable(), low: z.number().nullable(), high: z.number().nullable() });

export const comparisonSchema = z.object({
  a: columnSchema,
  b: columnSchema,
  /** Over the tasks that both sides have. */
  before: estimateSchema,
  after: estimateSchema,
  /** B − A, paired by task; `better`, `worse`, `equal` count tasks. */
  gain: differenceSchema.extend({ tasks: z.number(), better: z.number(), worse: z.number(), equal: z.number() }),
  verdict: z.enum(["better", "worse", "unclear", "too-few"]),
  /** Why the verdict is what it is, in a sentence. */
  reason: z.string(),
  tasks: z.array(
    z.object({
      task: z.string(),
      a: estimateSchema,
      b: estimateSchema,
      difference: differenceSchema,
      /** Pairs of rollouts in which B got less, the same, more. */
      less: z.number(),
      same: z.number(),
      more: z.number(),
    }),
  ),
  pairs: z.array(pairSchema),
  /** Tasks that only one side has a reward for. */
  leftOut: z.array(z.string()),
});
export type Comparison = z.infer<typeof comparisonSchema>;

/** Rows: harnesses trained in; columns: harnesses evaluated in. One matrix a base policy. */
export const transferSchema = z.object({
  base: z.string(),
  harnesses: z.array(z.string()),
  rows: z.array(
    z.object({
      /** Empty = the policy as it came. */
      trained: z.array(z.string()),
      runs: z.array(z.string()),
      cells: z.array(estimateSchema.extend({ harness: z.string(), seeds: z.number() })),
    }),
  ),
});
export type TransferMatrix = z.infer<typeof transferSchema>;
