/**
 * What a tokenizer promises. Ids, offsets and decoding are those of the reference (Hugging Face `tokenizers`), except
 * that an id outside the vocabulary is an error here and never vanishes. Text spans are UTF-16 units, as JavaScript
 * counts; only `offsets` count Unicode code points, as the reference does.
 */

/** Half-open, in UTF-16 units of the text. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

export interface EncodeOptions {
  /** Adds what the post-processor adds (a BOS token …). Default: false, since chat templates write their own. */
  readonly specialTokens?: boolean;
  /** false: nothing in the text is taken for an added token. Default: true. */
  readonly matchAddedTokens?: boolean;
  /** Spans where no added token may lie, not even partly: message content inside the text of a chat template. */
  readonly contentSpans?: readonly TextSpan[];
}

export interface DecodeOptions {
  /** Leaves special tokens out of the text. Default: false. */
  readonly skipSpecialTokens?: boolean;
}

/** Ids with their place in the text: `offsets[2i]` to `offsets[2i+1]`, code points; 0, 0 for what the post-processor added. */
export interface EncodingWithOffsets {
  readonly ids: Int32Array;
  readonly offsets: Int32Array;
}

/** Gives text out as ids come in, holding back what is not a whole character yet. */
export interface StreamingDecoder {
  /** Text that is certain now; "" while a character is incomplete. Throws RangeError for an unknown id. */
  push(id: number): string;
  /** What was still held back. */
  flush(): string;
}

export interface SpecialIds {
  readonly bos: number | null;
  readonly eos: number | null;
  readonly pad: number | null;
  readonly unknown: number | null;
}

export interface Tokenizer {
  /** Highest id + 1. */
  readonly vocabularySize: number;
  readonly special: SpecialIds;
  /** bos_token, eos_token … of tokenizer_config.json as text, for the chat template's variables. */
  readonly specialTexts: Readonly<Record<string, string>>;
  encode(text: string, options?: EncodeOptions): Int32Array;
  encodeWithOffsets(text: string, options?: EncodeOptions): EncodingWithOffsets;
  /** Throws RangeError when an id is not in the vocabulary. */
  decode(ids: ArrayLike<number>, options?: DecodeOptions): string;
  /** Text per id; joined it is `decode(ids)`. A character of several ids is given to the id that completes it. */
  decodePieces(ids: ArrayLike<number>, options?: DecodeOptions): string[];
  streamingDecoder(options?: DecodeOptions): StreamingDecoder;
  /** The vocabulary's entry (`Ġthe`, `<0x0A>`), undefined when there is none. */
  tokenOf(id: number): string | undefined;
  idOf(token: string): number | undefined;
  isSpecial(id: number): boolean;
}
