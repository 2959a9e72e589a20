/** A policy endpoint as a person declares it and as the store keeps it. Keys are named by environment variable, never stored. */
import { z } from "zod";

const id = z.string().regex(/^[a-z0-9][a-z0-9._-]*$/i, "letters, digits, dots, hyphens and underscores, as in qwen-local");
const messageRules = z.strictObject({
  /** Role that `developer` messages are given before a template sees them. */
  developer: z.enum(["system", "user", "developer"]).default("system"),
  /** System messages at the start become one. */
  mergeSystem: z.boolean().default(true),
  /** User messages in a row become one. */
  mergeUser: z.boolean().default(false),
});

const server = {
  id,
  /** With or without `/v1`. */
  url: z.url({ protocol: /^https?$/ }),
  /** Name sent as `model`; left out = the first that the server lists. */
  model: z.string().optional(),
  /** Environment variable that holds the key. */
  keyVariable: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of an environment variable, not the key itself")
    .optional(),
  messageRules: messageRules.prefault({}),
};

export const embeddedDefinitionSchema = z.strictObject({
  kind: z.literal("embedded"),
  id,
  /** Hugging Face folder of the model, with its tokenizer. */
  folder: z.string(),
  /** Left out = by the memory of this machine. */
  lanes: z.number().int().positive().optional(),
  contextWindow: z.number().int().positive().optional(),
  /** Tokens of one answer at most, whatever a harness asks for: small models do not always end by themselves. */
  maxTokens: z.number().int().positive().optional(),
  /** Repeats to the bit whatever the order of calls; somewhat slower. */
  deterministic: z.boolean().default(false),
  /** Draws at this temperature from all tokens, whatever a harness asks for: what is trained on must be drawn so. */
  temperature: z.number().nonnegative().optional(),
});

export const upstreamDefinitionSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("vllm"),
    ...server,
    /** Folder with tokenizer.json and tokenizer_config.json (chat template); needed for token-in. */
    tokenizer: z.string().optional(),
    /** How this model writes tool calls. */
    toolFormat: z.enum(["hermes", "llama3_json", "mistral", "pythonic", "qwen3_coder"]).default("hermes"),
  }),
  z.strictObject({ kind: z.literal("openai-compatible"), ...server }),
  z.strictObject({
    kind: z.literal("scripted"),
    id,
    /** Rule file (docs/scripted-policy.md). */
    file: z.string(),
    /** Tokenizer folder; left out = the one that ships. */
    tokenizer: z.string().optional(),
  }),
  embeddedDefinitionSchema,
]);

export type EmbeddedDefinition = z.infer<typeof embeddedDefinitionSchema>;
export type UpstreamDefinition = z.infer<typeof upstreamDefinitionSchema>;
export type MessageRules = z.infer<typeof messageRules>;
