/** The files of a tokenizer as they lie on disk, checked once. What this product cannot do exactly is refused by name. */
import { z } from "zod";

const addedTokenSchema = z.object({
  id: z.number().int().nonnegative(),
  content: z.string().min(1),
  single_word: z.boolean().default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
  normalized: z.boolean().optional(),
  special: z.boolean().default(false),
});
export type AddedTokenDefinition = z.infer<typeof addedTokenSchema>;

const patternSchema = z.union([z.object({ String: z.string() }), z.object({ Regex: z.string() })]);
export type PatternDefinition = z.infer<typeof patternSchema>;

const normalizerSchema = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["NFC", "NFD", "NFKC", "NFKD"]) }),
  z.object({ type: z.literal("Lowercase") }),
  /** `first` is this product's own: only at the beginning of the whole text, as sentencepiece does. */
  z.object({ type: z.literal("Prepend"), prepend: z.string(), first: z.boolean().default(false) }),
  z.object({ type: z.literal("Replace"), pattern: patternSchema, content: z.string() }),
  z.object({ type: z.literal("Strip"), strip_left: z.boolean(), strip_right: z.boolean() }),
  z.object({
    type: z.literal("Sequence"),
    get normalizers(): z.ZodArray<typeof normalizerSchema> {
      return z.array(normalizerSchema);
    },
  }),
]);
export type NormalizerDefinition = z.infer<typeof normalizerSchema>;

const splitBehaviors = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"] as const;
export type SplitBehavior = (typeof splitBehaviors)[number];

const preTokenizerSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ByteLevel"), add_prefix_space: z.boolean().default(true), use_regex: z.boolean().default(true) }),
  z.object({ type: z.literal("Split"), pattern: patternSchema, behavior: z.enum(splitBehaviors), invert: z.boolean().default(false) }),
  z.object({ type: z.literal("Digits"), individual_digits: z.boolean().default(false) }),
  z.object({ type: z.literal("Punctuation"), behavior: z.enum(splitBehaviors).default("Isolated") }),
  z.object({
    type: z.literal("Metaspace"),
    replacement: z.string().default("▁"),
    prepend_scheme: z.enum(["always", "first", "never"]).optional(),
    add_prefix_space: z.boolean().optional(),
    split: z.boolean().default(true),
  }),
  z.object({
    type: z.literal("Sequence"),
    get pretokenizers(): z.ZodArray<typeof preTokenizerSchema> {
      return z.array(preTokenizerSchema);
    },
  }),
]);
export type PreTokenizerDefinition = z.infer<typeof preTokenizerSchema>;

const templatePartSchema = z.union([z.object({ SpecialToken: z.object({ id: z.string() }) }), z.object({ Sequence: z.object({ id: z.string() }) })]);
const endToken = z.tuple([z.string(), z.number()]);
const postProcessorSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ByteLevel"), add_prefix_space: z.boolean().default(true), trim_offsets: z.boolean().default(true) }),
  z.object({
    type: z.literal("TemplateProcessing"),
    single: z.array(templatePartSchema),
    special_tokens: z.record(z.string(), z.object({ ids: z.array(z.number()) })),
  }),
  z.object({
    type: z.literal("RobertaProcessing"),
    sep: endToken,
    cls: endToken,
    trim_offsets: z.boolean().default(true),
    add_prefix_space: z.boolean().default(true),
  }),
  z.object({ type: z.literal("BertProcessing"), sep: endToken, cls: endToken }),
  z.object({
    type: z.literal("Sequence"),
    get processors(): z.ZodArray<typeof postProcessorSchema> {
      return z.array(postProcessorSchema);
    },
  }),
]);
export type PostProcessorDefinition = z.infer<typeof postProcessorSchema>;

const decoderSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ByteLevel") }),
  z.object({ type: z.literal("Replace"), pattern: patternSchema, content: z.string() }),
  z.object({ type: z.literal("ByteFallback") }),
  z.object({ type: z.literal("Fuse") }),
  z.object({ type: z.literal("Strip"), content: z.string(), start: z.number(), stop: z.number() }),
  z.object({
    type: z.literal("Metaspace"),
    replacement: z.string().default("▁"),
    prepend_scheme: z.enum(["always", "first", "never"]).optional(),
    add_prefix_space: z.boolean().optional(),
  }),
  z.object({
    type: z.literal("Sequence"),
    get decoders(): z.ZodArray<typeof decoderSchema> {
      return z.array(decoderSchema);
    },
  }),
]);
export type DecoderDefinition = z.infer<typeof decoderSchema>;

const modelSchema = z.object({
  /** Old files leave it out. */
  type: z.literal("BPE").default("BPE"),
  /** Not walked by zod: a real one has 150,000 entries. */
  vocab: z.custom<Readonly<Record<string, number>>>((value) => typeof value === "object" && value !== null && !Array.isArray(value), "no vocabulary"),
  /** `"a b"` in old files, `["a", "b"]` in new ones. */
  merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])),
  unk_token: z.string().nullish(),
  fuse_unk: z.boolean().nullish(),
  byte_fallback: z.boolean().nullish(),
  ignore_merges: z.boolean().nullish(),
  /** This product's own: merges with one result have one rank, as in sentencepiece, so that the leftmost comes first. */
  rank_by_result: z.boolean().nullish(),
  continuing_subword_prefix: z.literal("", { error: "subword prefixes are not supported" }).nullish(),
  end_of_word_suffix: z.literal("", { error: "end-of-word suffixes are not supported" }).nullish(),
});
export type ModelDefinition = z.infer<typeof modelSchema>;

const tokenizerSchema = z.object({
  added_tokens: z.array(addedTokenSchema).default([]),
  normalizer: normalizerSchema.nullish(),
  pre_tokenizer: preTokenizerSchema.nullish(),
  post_processor: postProcessorSchema.nullish(),
  decoder: decoderSchema.nullish(),
  model: modelSchema,
});
export type TokenizerDefinition = z.infer<typeof tokenizerSchema>;

const specialTextSchema = z.union([z.string(), z.object({ content: z.string() }).transform((token) => token.content)]).nullish();
const configSchema = z.object({
  bos_token: specialTextSchema,
  eos_token: specialTextSchema,
  pad_token: specialTextSchema,
  unk_token: specialTextSchema,
  sep_token: specialTextSchema,
  cls_token: specialTextSchema,
  mask_token: specialTextSchema,
  added_tokens_decoder: z.record(z.string(), addedTokenSchema.omit({ id: true })).nullish(),
});
export type TokenizerConfig = z.infer<typeof configSchema>;

/** Reads `tokenizer.json`. Throws an Error whose message names the first thing that is wrong or not supported. */
export function readTokenizerDefinition(text: string): TokenizerDefinition {
  return read(tokenizerSchema, text, "tokenizer.json");
}

/** Reads `tokenizer_config.json`; the same errors. */
export function readTokenizerConfig(text: string): TokenizerConfig {
  return read(configSchema, text, "tokenizer_config.json");
}

function read<T extends z.ZodType>(schema: T, text: string, name: string): z.infer<T> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const place = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
  throw new Error(`${name} cannot be used${place}: ${issue?.message ?? "it has another form"}`);
}
