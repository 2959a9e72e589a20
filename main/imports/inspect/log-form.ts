/** What an Inspect log (version 2) holds, as far as we read it. */
import { z } from "zod";

const part = z.looseObject({ type: z.string() });
const message = z.object({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(part)]),
  tool_calls: z
    .array(z.object({ id: z.string(), function: z.string(), arguments: z.union([z.record(z.string(), z.unknown()), z.string()]) }))
    .nullish(),
  tool_call_id: z.string().nullish(),
  function: z.string().nullish(),
  error: z.looseObject({ message: z.string() }).nullish(),
});
export type InspectMessage = z.infer<typeof message>;

const output = z.object({
  model: z.string().optional(),
  choices: z.array(z.object({ message, stop_reason: z.string() })).default([]),
  usage: z.object({ input_tokens: z.number(), output_tokens: z.number() }).nullish(),
});

const modelEvent = z.object({
  event: z.literal("model"),
  timestamp: z.string(),
  completed: z.string().nullish(),
  model: z.string(),
  input: z.array(message),
  /** Half-open ranges of the sample's pool of messages, when `input` is empty. */
  input_refs: z.array(z.tuple([z.number(), z.number()])).nullish(),
  tools: z
    .array(z.object({ name: z.string(), description: z.string().nullish(), parameters: z.record(z.string(), z.unknown()).nullish() }))
    .default([]),
  output,
});
export type InspectModelEvent = z.infer<typeof modelEvent>;
const otherEvent = z.looseObject({ event: z.string().refine((name) => name !== "model") });

const scoreValue: z.ZodType<ScoreValue> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(scoreValue), z.record(z.string(), scoreValue)]),
);
export type ScoreValue = string | number | boolean | null | ScoreValue[] | { [name: string]: ScoreValue };

export const sampleSchema = z.object({
  id: z.union([z.string(), z.number()]),
  epoch: z.number(),
  messages: z.array(message).default([]),
  output: output.optional(),
  scores: z.record(z.string(), z.object({ value: scoreValue })).nullish(),
  events: z.array(z.union([modelEvent, otherEvent])).default([]),
  events_data: z.object({ messages: z.array(message).default([]) }).nullish(),
  error: z.looseObject({ message: z.string() }).nullish(),
  limit: z.looseObject({ type: z.string() }).nullish(),
  started_at: z.string().nullish(),
  completed_at: z.string().nullish(),
  total_time: z.number().nullish(),
});
export type InspectSample = z.infer<typeof sampleSchema>;

export const headerSchema = z.object({
  version: z.number(),
  status: z.string(),
  eval: z.object({
    eval_id: z.string().optional(),
    run_id: z.string().optional(),
    task: z.string(),
    task_version: z.union([z.number(), z.string()]).optional(),
    model: z.string(),
    created: z.string(),
    solver: z.string().nullish(),
    sandbox: z.looseObject({ type: z.string() }).nullish(),
  }),
  stats: z.object({ started_at: z.string().nullish(), completed_at: z.string().nullish() }).nullish(),
  plan: z.object({ steps: z.array(z.object({ solver: z.string() })).default([]) }).nullish(),
});
export type InspectHeader = z.infer<typeof headerSchema>;
