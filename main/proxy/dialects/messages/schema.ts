/** What the proxy relies on in an Anthropic Messages request. Everything else passes unchecked and unchanged. */
import { z } from "zod";

const optional = <T extends z.ZodType>(type: T) => type.nullish();

const block = z.looseObject({ type: z.string() });
const content = z.union([z.string(), z.array(block)]);

export const messagesRequestSchema = z.looseObject({
  model: z.string().default(""),
  messages: z.array(z.looseObject({ role: z.string(), content })),
  system: optional(content),
  tools: optional(z.array(z.looseObject({ name: optional(z.string()) }))),
  tool_choice: optional(z.looseObject({ type: z.string(), name: optional(z.string()), disable_parallel_tool_use: optional(z.boolean()) })),
  stream: optional(z.boolean()),
  temperature: optional(z.number()),
  top_p: optional(z.number()),
  top_k: optional(z.number()),
  max_tokens: optional(z.number().int().positive()),
  stop_sequences: optional(z.array(z.string())),
});

export type MessagesRequest = z.infer<typeof messagesRequestSchema>;
export type MessagesBlock = z.infer<typeof block>;

/** Members that have a place of their own in the internal form; the others are kept as `extra`. */
export const messagesMembers: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "stream",
  "temperature",
  "top_p",
  "top_k",
  "max_tokens",
  "stop_sequences",
]);
