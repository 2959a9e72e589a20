/** The tokens of a chain as they leave the service. */
import { z } from "zod";

/** A run of tokens of one kind on a chain. */
const tokenSpanSchema = z.object({
  callIndex: z.number(),
  kind: z.enum(["prompt", "sampled"]),
  /** 1 = trained here; 0 = not. One number for the span. */
  mask: z.union([z.literal(0), z.literal(1)]),
  ids: z.array(z.number()),
  /** Decoded text, one entry an id; null when no tokenizer is known. */
  texts: z.array(z.string()).nullable(),
  /** null where none was captured. */
  logprobs: z.array(z.number().nullable()).nullable(),
});
export type TokenSpan = z.infer<typeof tokenSpanSchema>;
export const chainTokensSchema = z.object({
  chain: z.number(),
  total: z.number(),
  trained: z.number(),
  breakCause: z.string().nullable(),
  spans: z.array(tokenSpanSchema),
});
export type ChainTokens = z.infer<typeof chainTokensSchema>;
