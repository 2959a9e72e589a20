/** The service itself: its machine, its events, its long work. */
import { z } from "zod";

export const doctorRowSchema = z.object({
  name: z.string(),
  status: z.enum(["ready", "missing", "degraded"]),
  detail: z.string(),
  remedy: z.string().nullable(),
});
export type DoctorRow = z.infer<typeof doctorRowSchema>;

export const eventViewSchema = z.object({
  sequence: z.number(),
  at: z.number(),
  experiment: z.string().nullable(),
  rollout: z.string().nullable(),
  type: z.string(),
  payload: z.string(),
});
export type EventView = z.infer<typeof eventViewSchema>;

export const systemInfoSchema = z.object({
  version: z.string(),
  dataFolder: z.string(),
  proxyAddress: z.string(),
  /** No experiment yet: the first-run screen. */
  empty: z.boolean(),
  databaseBytes: z.number(),
  packBytes: z.number(),
  platform: z.string(),
  node: z.string(),
  cpus: z.number(),
});
export type SystemInfo = z.infer<typeof systemInfoSchema>;

/** Long work: any number of progress lines, then one result. */
export function progressOf<T extends z.ZodType>(result: T) {
  return z.discriminatedUnion("type", [z.object({ type: z.literal("progress"), line: z.string() }), z.object({ type: z.literal("result"), result })]);
}
