/** Model calls as they leave the service: in lists, and one with its messages. */
import { z } from "zod";
import { captureLevels } from "../../engine/conversation/index.ts";

const stringRecord = z.record(z.string(), z.string());

export const callViewSchema = z.object({
  id: z.string(),
  rollout: z.string(),
  attempt: z.number(),
  index: z.number(),
  dialect: z.enum(["chat", "responses", "messages", "gemini", "unknown"]),
  method: z.string(),
  path: z.string(),
  /** `not-found` and `counted` are no model calls: the proxy answered them itself. */
  status: z.enum(["ok", "error", "aborted", "partial", "not-found", "counted"]),
  httpStatus: z.number(),
  /** 0-based chain that owns this call's sampled tokens; null when it is in none. */
  chain: z.number().nullable(),
  promptTokens: z.number(),
  completionTokens: z.number(),
  capture: z.enum(captureLevels),
  aborted: z.boolean(),
  late: z.boolean(),
  retries: z.number(),
  replays: z.number(),
  quarantined: z.string().nullable(),
  breakCause: z.string().nullable(),
  /** What the harness made it for beside its main loop; null = its main loop. */
  side: z.string().nullable(),
  startedAt: z.number(),
  seconds: z.number(),
  model: z.string(),
  stream: z.boolean(),
  tokenMode: z.enum(["as-sampled", "as-template", "text-in"]),
  finishReason: z.string().nullable(),
  unparsedToolCall: z.boolean(),
  session: stringRecord,
  /** One line: tool and its arguments, or the start of the text. */
  summary: z.string(),
  error: z.string().nullable(),
});
export type CallView = z.infer<typeof callViewSchema>;

const contentPartView = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), blob: z.string().nullable(), url: z.string().nullable(), mediaType: z.string().nullable() }),
  z.object({ type: z.literal("file"), blob: z.string().nullable(), name: z.string().nullable() }),
  z.object({ type: z.literal("other"), raw: z.string() }),
]);
const toolCallView = z.object({ id: z.string(), name: z.string(), arguments: z.string() });
/** A message as it is read: in the request, or the answer. */
const messageViewSchema = z.object({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "other"]),
  content: z.array(contentPartView),
  reasoning: z.string().nullable(),
  toolCalls: z.array(toolCallView),
  toolCallId: z.string().nullable(),
  /** Sampled by the policy earlier in this rollout. */
  sampled: z.boolean(),
});
export type MessageView = z.infer<typeof messageViewSchema>;

export const callDetailSchema = callViewSchema.extend({
  messages: z.array(messageViewSchema),
  tools: z.array(z.object({ name: z.string(), description: z.string().nullable(), parameters: z.string().nullable() })),
  sampling: z.record(z.string(), z.unknown()),
  answer: messageViewSchema.nullable(),
  /** What a person says that the policy should have answered. */
  correction: z.string().nullable(),
  requestHeaders: stringRecord,
  bodies: z.object({
    request: z.number().nullable(),
    response: z.number().nullable(),
    upstreamRequest: z.number().nullable(),
    upstreamResponse: z.number().nullable(),
  }),
});
export type CallDetail = z.infer<typeof callDetailSchema>;
