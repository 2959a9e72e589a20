/** Policies as they leave the service: what they give, and what they cost. */
import { z } from "zod";
import { captureLevels } from "../../engine/conversation/index.ts";

/** For a million tokens each, in any one currency. */
export const policyPricesSchema = z.object({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  /** Of prompt tokens that the server had cached; left out = as `input`. */
  cachedInput: z.number().nonnegative().optional(),
});
export type PolicyPrices = z.infer<typeof policyPricesSchema>;

/** A model that was taken in from a file or folder of the machine. */
export const importedPolicySchema = z.object({
  /** What it is called where a policy is chosen. */
  policy: z.string(),
  folder: z.string(),
  layers: z.number(),
  vocabulary: z.number(),
});
export type ImportedPolicyView = z.infer<typeof importedPolicySchema>;

/** Kinds of servers that a policy can be. */
export const serverKinds = ["vllm", "sglang", "llama.cpp", "ollama", "openai-compatible", "anthropic-compatible"] as const;

export const policyViewSchema = z.object({
  id: z.string(),
  kind: z.enum([...serverKinds, "scripted", "replay", "embedded"]),
  address: z.string(),
  capture: z.enum(captureLevels).nullable(),
  takesTokenIds: z.boolean(),
  builtIn: z.boolean(),
  /** What a person set on a saved server, for a form that changes it; null = it is none. */
  settings: z
    .object({
      model: z.string().nullable(),
      keyVariable: z.string().nullable(),
      tokenizer: z.string().nullable(),
      contextWindow: z.number().nullable(),
      prices: policyPricesSchema.nullable(),
      spendingLimit: z.number().nullable(),
    })
    .nullable(),
  /** Of all its calls so far, where it has prices. `limit` and `cost` are in the currency of the prices; null = no limit. */
  spending: z
    .object({
      calls: z.number(),
      promptTokens: z.number(),
      cachedTokens: z.number(),
      completionTokens: z.number(),
      cost: z.number(),
      limit: z.number().nullable(),
    })
    .nullable(),
});
export type PolicyView = z.infer<typeof policyViewSchema>;
