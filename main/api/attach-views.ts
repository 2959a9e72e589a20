/** Programs outside any sandbox, as they leave the service. */
import { z } from "zod";
import { outcomeCauses } from "../../engine/outcome/index.ts";

export const attachedSchema = z.object({
  id: z.string(),
  experiment: z.string(),
  key: z.string(),
  baseUrl: z.string(),
  dialects: z.object({ chat: z.string(), responses: z.string(), messages: z.string(), gemini: z.string() }),
});
/** An address that is open now. The key was told when it was opened. */
export const attachmentSchema = attachedSchema.omit({ key: true }).extend({
  name: z.string(),
  policy: z.string(),
  startedAt: z.number(),
  sessions: z.number(),
  calls: z.number(),
});
export type Attachment = z.infer<typeof attachmentSchema>;
export const attachCountsSchema = z.object({ sessions: z.number(), calls: z.number() });
/** `id` = the session's rollout. */
export const sessionVerdictSchema = z.object({
  id: z.string(),
  status: z.enum(["succeeded", "failed"]),
  cause: z.enum(outcomeCauses).nullable().default(null),
  note: z.string().nullable().default(null),
});
