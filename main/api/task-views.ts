/** Task packages as they leave the service: what they are, their faults, how their checks ended. */
import { z } from "zod";

const taskFaultSchema = z.object({ file: z.string(), line: z.number(), severity: z.enum(["error", "warning"]), message: z.string() });
export const taskCheckViewSchema = z.object({
  path: z.string(),
  digest: z.string().nullable(),
  valid: z.boolean(),
  faults: z.array(taskFaultSchema),
  /** What the task needs and this machine lacks, one sentence each. */
  wants: z.array(z.string()),
});
export type TaskCheckView = z.infer<typeof taskCheckViewSchema>;
export type TaskImportView = TaskCheckView;
export const taskRunViewSchema = z.object({
  reward: z.number().nullable(),
  rewards: z.record(z.string(), z.number()).nullable(),
  status: z.string(),
  cause: z.string().nullable(),
  seconds: z.number(),
  /** Expectation met: gold = max, empty = 0. */
  ok: z.boolean(),
  detail: z.string().nullable(),
});
export type TaskRunView = z.infer<typeof taskRunViewSchema>;
export const cheatRunViewSchema = z.object({
  results: z.array(z.object({ name: z.string(), reward: z.number().nullable(), status: z.string(), cause: z.string().nullable() })),
});

export const taskViewSchema = z.object({
  path: z.string(),
  name: z.string(),
  family: z.string().nullable(),
  digest: z.string().nullable(),
  valid: z.boolean(),
  description: z.string().nullable(),
  instruction: z.string(),
  network: z.string(),
  starter: z.boolean(),
  faults: z.array(taskFaultSchema),
});
export type TaskView = z.infer<typeof taskViewSchema>;
