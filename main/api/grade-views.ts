/** How work was graded, as it leaves the service: the steps of a rollout, and grades that a changed verifier gave later. */
import { z } from "zod";
import { outcomeCauses, outcomeStatuses } from "../../engine/outcome/index.ts";

const rewardsSchema = z.record(z.string(), z.number()).nullable();

/** One step of a task of several steps, in order. A task of one step has none. */
export const stepViewSchema = z.object({
  name: z.string(),
  /** How the step ended by itself; null = it runs, or was never begun (`startedAt` tells). */
  status: z.enum(outcomeStatuses).nullable(),
  cause: z.enum(outcomeCauses).nullable(),
  detail: z.string().nullable(),
  /** null = none was given, never 0. */
  reward: z.number().nullable(),
  rewards: rewardsSchema,
  /** What the step's rewards had to reach for the next one to begin, by name; null = nothing. */
  minReward: z.record(z.string(), z.number()).nullable(),
  /** Index of its first model call, and how many there are: `calls.slice(firstCall, firstCall + calls)`. */
  firstCall: z.number(),
  calls: z.number(),
  /** null = not begun. Its artifacts are named `steps/NAME/…`. */
  startedAt: z.number().nullable(),
  agentSeconds: z.number().nullable(),
  verifierSeconds: z.number().nullable(),
});
export type StepView = z.infer<typeof stepViewSchema>;

/** A grade beside the one that the rollout got when it ran. Grades are added, never changed. */
export const gradeViewSchema = z.object({
  rollout: z.string(),
  at: z.number(),
  /** The verifier's word. */
  status: z.enum(["succeeded", "failed", "verifier-failure"]),
  cause: z.enum(outcomeCauses).nullable(),
  detail: z.string().nullable(),
  reward: z.number().nullable(),
  rewards: rewardsSchema,
  steps: z.array(stepViewSchema),
  seconds: z.number(),
  /** What was graded: the kept final state of the sandbox, or only the declared artifacts. */
  source: z.enum(["workspace", "artifacts"]),
  taskPath: z.string(),
  taskDigest: z.string(),
  /** Names the verifier: its files and settings. */
  verifierDigest: z.string(),
});
export type GradeView = z.infer<typeof gradeViewSchema>;

const verdictSchema = z.object({ verdict: z.enum(["passed", "failed", "none"]), reward: z.number().nullable(), rewards: rewardsSchema });

/** One rollout of a regrade: its grade when it ran, and the newest of a later verifier. */
const regradeRowSchema = z.object({
  rollout: z.string(),
  task: z.string(),
  harness: z.string(),
  policy: z.string(),
  before: verdictSchema,
  /** null = it was not graded again; `skipped` says why. */
  after: verdictSchema.extend({ cause: z.enum(outcomeCauses).nullable(), detail: z.string().nullable(), verifierDigest: z.string() }).nullable(),
  /** The verdict is another one. */
  flipped: z.boolean(),
  skipped: z.string().nullable(),
});
export type RegradeRow = z.infer<typeof regradeRowSchema>;

/** Flipped rows first. */
export const regradeReportSchema = z.object({ graded: z.number(), flipped: z.number(), skipped: z.number(), rows: z.array(regradeRowSchema) });
export type RegradeReport = z.infer<typeof regradeReportSchema>;
