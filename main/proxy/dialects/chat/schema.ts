/** What the proxy relies on in a Chat Completions request. Everything else passes unchecked and unchanged. */
import { z } from "zod";

const optional = <T extends z.ZodType>(type: T) => type.nullish();

const part = z.looseObject({ type: z.string() });
const toolCall = z.looseObject({
  id: optional(z.string()),
  type: optional(z.string()),
  function: optional(z.looseObject({ name: z.string(), arguments: optional(z.unknown()) })),
  custom: optional(z.looseObject({ name: z.string(), input: optional(z.string()) })),
});
const message = z.looseObject({
  role: z.string(),
  content: optional(z.union([z.string(), z.array(z.union([part, z.string()]))])),
  name: optional(z.string()),
  reasoning_content: optional(z.string()),
  reasoning: optional(z.string()),
  tool_calls: optional(z.array(toolCall)),
  tool_call_id: optional(z.string()),
});

export const chatRequestSchema = z.looseObject({
  model: z.string().default(""),
  messages: z.array(message),
  tools: optional(z.array(z.looseObject({ type: optional(z.string()) }))),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: optional(z.boolean()),
  stream: optional(z.boolean()),
  stream_options: optional(z.looseObject({ include_usage: optional(z.boolean()) })),
  temperature: optional(z.number()),
  top_p: optional(z.number()),
  top_k: optional(z.number()),
  min_p: optional(z.number()),
  max_tokens: optional(z.number().int().positive()),
  max_completion_tokens: optional(z.number().int().positive()),
  stop: optional(z.union([z.string(), z.array(z.string())])),
  seed: optional(z.number().int()),
  n: optional(z.number().int().min(1).max(1, "one answer a call is recorded; ask again for another")),
});

export type ChatMessage = z.infer<typeof message>;
export type ChatPart = z.infer<typeof part>;

/** Members that have a place of their own in the internal form; the others are kept as `extra`. */
export const chatMembers: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "stream",
  "stream_options",
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "seed",
  "n",
]);
