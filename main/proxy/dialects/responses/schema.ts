/** What the proxy relies on in a Responses request. Everything else passes unchecked and unchanged. */
import { z } from "zod";

const optional = <T extends z.ZodType>(type: T) => type.nullish();

const part = z.looseObject({ type: z.string() });
const content = z.union([z.string(), z.array(part)]);
const item = z.looseObject({
  type: optional(z.string()),
  role: optional(z.string()),
  content: optional(content),
  call_id: optional(z.string()),
  name: optional(z.string()),
  namespace: optional(z.string()),
  arguments: optional(z.string()),
  input: optional(z.string()),
  /** A screenshot is one part, not a list of parts. */
  output: optional(z.union([content, part])),
  action: z.unknown().optional(),
  summary: optional(z.array(part)),
  encrypted_content: optional(z.string()),
});

export const responsesRequestSchema = z.looseObject({
  model: z.string().default(""),
  input: z.union([z.string(), z.array(item)]),
  instructions: optional(z.string()),
  tools: optional(z.array(z.looseObject({ type: z.string() }))),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: optional(z.boolean()),
  stream: optional(z.boolean()),
  include: optional(z.array(z.string())),
  temperature: optional(z.number()),
  top_p: optional(z.number()),
  max_output_tokens: optional(z.number().int().positive()),
  previous_response_id: optional(z.string()),
});

export type ResponsesItem = z.infer<typeof item>;
export type ResponsesPart = z.infer<typeof part>;

/** Members that have a place of their own in the internal form; the others are kept as `extra`. */
export const responsesMembers: ReadonlySet<string> = new Set([
  "model",
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "stream",
  "include",
  "temperature",
  "top_p",
  "max_output_tokens",
  "previous_response_id",
]);
