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

const price = z.number().nonnegative();

const server = {
  id,
  /** With or without `/v1`. */
  url: z.url({ protocol: /^https?$/, error: "an address such as http://127.0.0.1:8000/v1" }),
  /** Name sent as `model`; left out = the first that the server lists. */
  model: z.string().optional(),
  /** Environment variable that holds the key. */
  keyVariable: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of an environment variable, not the key itself")
    .optional(),
  messageRules: messageRules.prefault({}),
  /** For a million tokens each, in any one currency. */
  prices: z
    .strictObject({
      input: price,
      output: price,
      /** Of prompt tokens that the server had cached; left out = as `input`. */
      cachedInput: price.optional(),
    })
    .optional(),
  /** In the currency of the prices: once it is reached, no further call is sent. */
  spendingLimit: z.number().positive().optional(),
};

/** Folder with tokenizer.json and tokenizer_config.json (chat template); needed for token-in. */
const tokenizer = z.string().optional();

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
    tokenizer,
    /** How this model writes tool calls. */
    toolFormat: z.enum(["hermes", "llama3_json", "mistral", "pythonic", "qwen3_coder"]).default("hermes"),
  }),
  z.strictObject({ kind: z.literal("sglang"), ...server, tokenizer }),
  z.strictObject({ kind: z.literal("llama.cpp"), ...server, tokenizer }),
  z.strictObject({
    kind: z.literal("ollama"),
    ...server,
    /** Tokens of prompt and answer together that it keeps for a call; left out = its own default, which is small. */
    contextWindow: z.number().int().positive().optional(),
  }),
  z.strictObject({ kind: z.literal("openai-compatible"), ...server }),
  z.strictObject({ kind: z.literal("anthropic-compatible"), ...server }),
  z.strictObject({
    kind: z.literal("scripted"),
    id,
    /** Rule file (docs/scripted-policy.md). */
    file: z.string(),
    /** Tokenizer folder; left out = the one that ships. */
    tokenizer,
  }),
  embeddedDefinitionSchema,
]);

export type EmbeddedDefinition = z.infer<typeof embeddedDefinitionSchema>;
export type UpstreamDefinition = z.infer<typeof upstreamDefinitionSchema>;
/** Servers that answer over HTTP. */
export type ServerDefinition = Extract<UpstreamDefinition, { readonly url: string }>;
/** Servers that are given prompts as token ids where their tokenizer is known. */
export type TokenServerDefinition = Extract<ServerDefinition, { readonly tokenizer?: string | undefined }>;
export type DefinitionOf<Kind extends UpstreamDefinition["kind"]> = Extract<UpstreamDefinition, { readonly kind: Kind }>;
export type MessageRules = z.infer<typeof messageRules>;
