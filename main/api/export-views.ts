/** Exports and imports as they leave the service: to the window, the command line (`--json`) and scripts. */
import { z } from "zod";

export const exportFormats = ["atif", "harbor", "trl-sft", "verl-sft", "verl-rl", "slime", "html", "har", "csv"] as const;

export const exportRequestSchema = z.object({
  /** An experiment, a rollout or a training run. */
  id: z.string(),
  format: z.enum(exportFormats),
  /** Absolute. A folder for `harbor`, and for `atif` and `html` of more than one rollout. */
  path: z.string(),
  /** Replaces what is there. */
  force: z.boolean().default(false),
  /** Whose advantages rows of an experiment carry; a training run has its own. */
  algorithm: z.string().default("grpo"),
  /** Rows for supervised training: failures too. */
  all: z.boolean().default(false),
});
export type ExportRequest = z.infer<typeof exportRequestSchema>;

export const exportReportSchema = z.object({
  path: z.string(),
  format: z.enum(exportFormats),
  /** Rows, trajectories, trials, pages or calls written. */
  count: z.number(),
  unit: z.string(),
  bytes: z.number(),
  /** Rollouts that are not in it, by reason. */
  leftOut: z.array(z.object({ reason: z.string(), count: z.number() })),
  /** Sentences about what a reader should know. */
  notes: z.array(z.string()),
});
export type ExportReport = z.infer<typeof exportReportSchema>;
/** What was read from someone else's files. */
export const importReportSchema = z.object({
  experiment: z.string(),
  name: z.string(),
  /** As in `Harbor job`. */
  kind: z.string(),
  rollouts: z.number(),
  calls: z.number(),
  /** Sentences about what could not be carried over. */
  notes: z.array(z.string()),
});
export type ImportReport = z.infer<typeof importReportSchema>;
