/**
 * The tokenizer in a GGUF file's metadata as the files that `loadTokenizer` reads. Byte-level BPE comes with its merges and the name of its
 * pre-tokenizer; sentencepiece vocabularies ("llama") come with scores, from which the merges follow.
 */
import type { GgufValue } from "../weights/index.ts";

export interface GgufTokenizerFiles {
  readonly tokenizerJson: string;
  /** Special tokens and, where the file has one, the chat template. */
  readonly configJson: string;
  readonly chatTemplate: string | null;
}

type Metadata = ReadonlyMap<string, GgufValue>;

/** Token types of ggml: 2 unknown, 3 control, 4 user-defined. */
const controlType = 3;
const userType = 4;

/** Throws an Error with one clear sentence for a tokenizer that this product cannot do exactly. */
export function tokenizerFromGguf(metadata: Metadata): GgufTokenizerFiles {
  const vocabulary = new GgufVocabulary(metadata);
  const model = metadata.get("tokenizer.ggml.model");
  if (model !== "gpt2" && model !== "llama") {
    throw new Error(`the GGUF file has a ${JSON.stringify(model ?? null)} tokenizer; supported are gpt2 (byte-level BPE) and llama (sentencepiece)`);
  }
  const parts = model === "gpt2" ? byteLevelParts(metadata, vocabulary) : sentencePieceParts(metadata, vocabulary);
  const bos = vocabulary.special("bos");
  const addsBos = metadata.get("tokenizer.ggml.add_bos_token") ?? parts.addsBos;
  const template = {
    type: "TemplateProcessing",
    single: [{ SpecialToken: { id: bos, type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
    pair: [],
    special_tokens: bos === null ? {} : { [bos]: { id: bos, ids: [vocabulary.idOf(bos)], tokens: [bos] } },
  };
  const tokenizer = {
    version: "1.0",
    added_tokens: vocabulary.addedTokens(model === "llama"),
    normalizer: parts.normalizer,
    pre_tokenizer: parts.preTokenizer,
    post_processor: addsBos === true && bos !== null ? template : null,
    decoder: parts.decoder,
    model: parts.model,
  };
  const chatTemplate = metadata.get("tokenizer.chat_template");
  const config = {
    bos_token: bos,
    eos_token: vocabulary.special("eos"),
    pad_token: vocabulary.special("padding"),
    unk_token: vocabulary.special("unknown"),
    ...(typeof chatTemplate === "string" ? { chat_template: chatTemplate } : {}),
  };
  return {
    tokenizerJson: JSON.stringify(tokenizer),
    configJson: JSON.stringify(config, null, 2),
    chatTemplate: typeof chatTemplate === "string" ? chatTemplate : null,
  };
}

interface Parts {
  readonly normalizer: unknown;
  readonly preTokenizer: unknown;
  readonly decoder: unknown;
  readonly model: unknown;
  /** Where the file does not say. */
  readonly addsBos: boolean;
}

class GgufVocabulary {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly #metadata: Metadata;

  constructor(metadata: Metadata) {
    this.#metadata = metadata;
    this.tokens = listOf(metadata, "tokenizer.ggml.tokens", (value): value is string => typeof value === "string");
    this.types = metadata.has("tokenizer.ggml.token_type")
      ? listOf(metadata, "tokenizer.ggml.token_type", (value): value is number => typeof value === "number")
      : this.tokens.map(() => 1);
    if (this.types.length !== this.tokens.length) throw new Error("the GGUF file's tokenizer.ggml.token_type has another length than its tokens");
  }

  /** `inNormalized`: user-defined tokens are looked for in the text as it is after normalisation. */
  addedTokens(inNormalized: boolean): readonly unknown[] {
    return this.tokens.flatMap((content, id) => {
      const type = this.types[id];
      if ((type !== controlType && type !== userType) || content === "") return [];
      const special = type === controlType;
      return [{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: inNormalized && !special, special }];
    });
  }

  idOf(token: string): number {
    return this.tokens.indexOf(token);
  }

  special(name: string): string | null {
    const id = this.#metadata.get(`tokenizer.ggml.${name}_token_id`);
    return typeof id === "number" ? (this.tokens[id] ?? null) : null;
  }

  /** The vocabulary of the model; the first of equal tokens counts. */
  get ids(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.tokens.map((token, id) => [token, id] as const).toReversed());
  }
}

function listOf<T extends GgufValue>(metadata: Metadata, key: string, isItem: (value: GgufValue) => value is T): readonly T[] {
  const value = metadata.get(key);
  if (!Array.isArray(value)) throw new Error(`the GGUF file has no list ${key}`);
  return value.map((item: GgufValue) => {
    if (!isItem(item)) throw new Error(`the GGUF file's ${key} holds ${JSON.stringify(String(item))}, which does not belong there`);
    return item;
  });
}

const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const words = (digits: string) =>
  `${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;

interface ByteLevelStyle {
  readonly split: unknown;
  readonly normalizer: unknown;
  /** A piece that is a token as a whole is that token. */
  readonly ignoreMerges: boolean;
  readonly addsBos: boolean;
}

const splitBy = (pattern: string) => ({ type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false });
const byteLevel = (useRegex: boolean) => ({ type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: useRegex });
const sequence = (...pretokenizers: unknown[]) => ({ type: "Sequence", pretokenizers });

const gpt2: ByteLevelStyle = { split: byteLevel(true), normalizer: null, ignoreMerges: false, addsBos: false };
const llama3: ByteLevelStyle = {
  split: sequence(splitBy(words("\\p{N}{1,3}")), byteLevel(false)),
  normalizer: null,
  ignoreMerges: true,
  addsBos: true,
};

/** `tokenizer.ggml.pre` by what it stands for. Source: llama.cpp's vocabulary loader and the tokenizers it was converted from. */
const byteLevelStyles: Readonly<Record<string, ByteLevelStyle>> = {
  "gpt-2": gpt2,
  smollm: { ...gpt2, split: sequence({ type: "Digits", individual_digits: true }, byteLevel(true)) },
  qwen2: { ...gpt2, split: sequence(splitBy(words("\\p{N}")), byteLevel(false)), normalizer: { type: "NFC" } },
  "llama-bpe": llama3,
  "llama-v3": llama3,
  llama3,
};

function byteLevelParts(metadata: Metadata, vocabulary: GgufVocabulary): Parts {
  const name = metadata.get("tokenizer.ggml.pre");
  const style = typeof name === "string" ? byteLevelStyles[name] : undefined;
  if (style === undefined) {
    const known = Object.keys(byteLevelStyles).join(", ");
    throw new Error(`the GGUF file's tokenizer.ggml.pre is ${JSON.stringify(name ?? null)}; how texts are cut is known for ${known}`);
  }
  const merges = listOf(metadata, "tokenizer.ggml.merges", (value): value is string => typeof value === "string");
  return {
    normalizer: style.normalizer,
    preTokenizer: style.split,
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { type: "BPE", vocab: vocabulary.ids, merges, ignore_merges: style.ignoreMerges, byte_fallback: false, fuse_unk: false, unk_token: null },
    addsBos: style.addsBos,
  };
}

function sentencePieceParts(metadata: Metadata, vocabulary: GgufVocabulary): Parts {
  const scores = listOf(metadata, "tokenizer.ggml.scores", (value): value is number => typeof value === "number");
  const replace = (from: string, to: string) => ({ type: "Replace", pattern: { String: from }, content: to });
  const prefixed = metadata.get("tokenizer.ggml.add_space_prefix") !== false;
  const prefix = prefixed ? [{ type: "Prepend", prepend: "▁", first: true }] : [];
  const strip = prefixed ? [{ type: "Strip", content: " ", start: 1, stop: 0 }] : [];
  return {
    normalizer: { type: "Sequence", normalizers: [...prefix, replace(" ", "▁")] },
    preTokenizer: null,
    decoder: { type: "Sequence", decoders: [replace("▁", " "), { type: "ByteFallback" }, { type: "Fuse" }, ...strip] },
    model: {
      type: "BPE",
      vocab: vocabulary.ids,
      merges: mergesFromScores(vocabulary, scores),
      rank_by_result: true,
      byte_fallback: true,
      fuse_unk: true,
      unk_token: vocabulary.special("unknown"),
    },
    addsBos: true,
  };
}

/** Sentencepiece joins neighbours whose text is a piece, the best score first: every cut of a piece into two pieces is a merge. */
function mergesFromScores(vocabulary: GgufVocabulary, scores: readonly number[]): readonly (readonly [string, string])[] {
  const normal = vocabulary.tokens.flatMap((token, id) => (vocabulary.types[id] === 1 ? [{ token, score: scores[id] ?? 0, id }] : []));
  const pieces = new Set(normal.map(({ token }) => token));
  const byScore = normal.toSorted((left, right) => right.score - left.score || left.id - right.id);
  return byScore.flatMap(({ token }) => {
    const characters = Array.from(token);
    const cuts = characters.slice(1).map((_character, index) => {
      const left = characters.slice(0, index + 1).join("");
      return [left, token.slice(left.length)] as const;
    });
    return cuts.filter(([left, right]) => pieces.has(left) && pieces.has(right));
  });
}
