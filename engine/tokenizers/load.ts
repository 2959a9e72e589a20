import { BytePairEncoding } from "./byte-pair-encoding.ts";
import type { DecodeOptions, SpecialIds, StreamingDecoder, Tokenizer } from "./contract.ts";
import { createDecoder } from "./decoder.ts";
import { type AddedTokenDefinition, readTokenizerConfig, readTokenizerDefinition, type TokenizerConfig } from "./definition.ts";
import { Encoder } from "./encoder.ts";
import { createNormalizer } from "./normalizers.ts";
import { createPostProcessor } from "./post-processor.ts";
import { createPreTokenizer } from "./pre-tokenizers.ts";
import { createStreamingDecoder } from "./streaming-decoder.ts";

/**
 * Reads `tokenizer.json` and, if given, `tokenizer_config.json`. Throws an Error with one clear sentence for what is not a
 * tokenizer or has parts that this product cannot do exactly.
 */
export function loadTokenizer(tokenizerJson: string, configJson?: string): Tokenizer {
  const definition = readTokenizerDefinition(tokenizerJson);
  const config = configJson === undefined ? {} : readTokenizerConfig(configJson);
  const addedTokens = allAddedTokens(definition.added_tokens, config);
  const modelVocabulary = new Map(Object.entries(definition.model.vocab));
  const vocabulary = new Vocabulary(modelVocabulary, addedTokens);
  const preTokenizer = createPreTokenizer(definition.pre_tokenizer);
  const encoder = new Encoder({
    addedTokens,
    normalizer: definition.normalizer === null || definition.normalizer === undefined ? null : createNormalizer(definition.normalizer),
    preTokenizer,
    model: new BytePairEncoding(definition.model, modelVocabulary, preTokenizer.byteLevel, new Set(addedTokens.map((token) => token.id))),
    postProcessor: createPostProcessor(definition.post_processor),
    tokenOf: (id) => vocabulary.tokenOf(id),
  });
  const decoder = createDecoder(definition.decoder);
  const hasToken = (character: string) => modelVocabulary.has(character);
  const streaming = (options: DecodeOptions | undefined, wholeRuns: boolean): StreamingDecoder =>
    createStreamingDecoder({ decoder, tokenOf: (id) => vocabulary.textToken(id, options), hasToken, wholeRuns });

  return {
    vocabularySize: vocabulary.size,
    special: specialIds(config, vocabulary),
    specialTexts: specialTexts(config),
    encode: (text, options) => encoder.encode(text, options),
    encodeWithOffsets: (text, options) => encoder.encodeWithOffsets(text, options),
    decode: (ids, options) => decoder.decode(vocabulary.textTokens(ids, options), true),
    decodePieces(ids, options) {
      const whole = decoder.decode(vocabulary.textTokens(ids, options), true);
      const pieces = piecesOf(ids, streaming(options, false));
      return pieces.join("") === whole ? pieces : piecesOf(ids, streaming(options, true));
    },
    streamingDecoder: (options) => streaming(options, false),
    tokenOf: (id) => vocabulary.tokenOf(id),
    idOf: (token) => vocabulary.idOf(token),
    isSpecial: (id) => vocabulary.isSpecial(id),
  };
}

/** Tokens that only tokenizer_config.json knows are added too, as the reference's owners do. */
function allAddedTokens(own: readonly AddedTokenDefinition[], config: Partial<TokenizerConfig>): readonly AddedTokenDefinition[] {
  const known = new Set(own.map((token) => token.id));
  const further = Object.entries(config.added_tokens_decoder ?? {}).map(([id, token]) => ({ ...token, id: Number(id) }));
  return [...own, ...further.filter((token) => Number.isInteger(token.id) && !known.has(token.id))];
}

class Vocabulary {
  readonly size: number;
  readonly #tokens: (string | undefined)[] = [];
  readonly #model: ReadonlyMap<string, number>;
  readonly #added: ReadonlyMap<string, number>;
  readonly #special: ReadonlySet<number>;

  constructor(model: ReadonlyMap<string, number>, addedTokens: readonly AddedTokenDefinition[]) {
    for (const [token, id] of model) {
      if (!Number.isInteger(id) || id < 0) throw new Error(`tokenizer.json cannot be used: the id of ${JSON.stringify(token)} is ${id}`);
      this.#tokens[id] = token;
    }
    for (const token of addedTokens) this.#tokens[token.id] = token.content;
    this.#model = model;
    this.#added = new Map(addedTokens.map((token) => [token.content, token.id]));
    this.#special = new Set(addedTokens.filter((token) => token.special).map((token) => token.id));
    this.size = this.#tokens.length;
  }

  tokenOf(id: number): string | undefined {
    return this.#tokens[id];
  }

  idOf(token: string): number | undefined {
    return this.#added.get(token) ?? this.#model.get(token);
  }

  isSpecial(id: number): boolean {
    return this.#special.has(id);
  }

  /** Null for a special token that is to be skipped. */
  textToken(id: number, options: DecodeOptions | undefined): string | null {
    const token = this.#tokens[id];
    if (token === undefined) throw new RangeError(`token id ${id} is not in the vocabulary, which ends at ${this.size - 1}`);
    return options?.skipSpecialTokens === true && this.#special.has(id) ? null : token;
  }

  textTokens(ids: ArrayLike<number>, options: DecodeOptions | undefined): string[] {
    const tokens: string[] = [];
    for (let index = 0; index < ids.length; index++) {
      const token = this.textToken(ids[index] ?? -1, options);
      if (token !== null) tokens.push(token);
    }
    return tokens;
  }
}

/** One text an id; what is held back to the end belongs to the last one. */
function piecesOf(ids: ArrayLike<number>, decoder: StreamingDecoder): string[] {
  const pieces = Array.from(ids, (id) => decoder.push(id));
  const last = pieces.pop();
  return last === undefined ? [] : [...pieces, last + decoder.flush()];
}

function specialIds(config: Partial<TokenizerConfig>, vocabulary: Vocabulary): SpecialIds {
  const idOf = (token: string | null | undefined) => (token === null || token === undefined ? null : (vocabulary.idOf(token) ?? null));
  return { bos: idOf(config.bos_token), eos: idOf(config.eos_token), pad: idOf(config.pad_token), unknown: idOf(config.unk_token) };
}

const specialNames = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"] as const;

function specialTexts(config: Partial<TokenizerConfig>): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const name of specialNames) {
    const text = config[name];
    if (text !== null && text !== undefined) texts[name] = text;
  }
  return texts;
}
