/** From text to ids: added tokens are cut out, the rest is normalized, cut into pieces and encoded. */
import { type AddedTokenMatch, AddedTokenMatcher } from "./added-tokens.ts";
import { type AlignedText, alignedWithItself, sliceAligned } from "./aligned-text.ts";
import type { BytePairEncoding } from "./byte-pair-encoding.ts";
import type { EncodeOptions, EncodingWithOffsets, TextSpan } from "./contract.ts";
import type { AddedTokenDefinition } from "./definition.ts";
import type { Normalizer } from "./normalizers.ts";
import { type PostProcessor, trimOffsets } from "./post-processor.ts";
import type { PreTokenizer } from "./pre-tokenizers.ts";

export interface EncoderParts {
  readonly addedTokens: readonly AddedTokenDefinition[];
  readonly normalizer: Normalizer | null;
  readonly preTokenizer: PreTokenizer;
  readonly model: BytePairEncoding;
  readonly postProcessor: PostProcessor;
  readonly tokenOf: (id: number) => string | undefined;
}

/** Ids so far, with offsets when they are wanted. */
interface Output {
  readonly ids: number[];
  readonly offsets: number[] | null;
}

type Allowed = (start: number, end: number) => boolean;

export class Encoder {
  readonly #parts: EncoderParts;
  readonly #plain: AddedTokenMatcher;
  readonly #normalized: AddedTokenMatcher;

  constructor(parts: EncoderParts) {
    this.#parts = parts;
    const isNormalized = (token: AddedTokenDefinition) => token.normalized ?? !token.special;
    this.#plain = new AddedTokenMatcher(parts.addedTokens.filter((token) => !isNormalized(token)).map((token) => ({ text: token.content, token })));
    this.#normalized = new AddedTokenMatcher(
      parts.addedTokens.filter(isNormalized).map((token) => ({ text: this.#normalize({ ...plainText(token.content), atStart: false }).text, token })),
    );
  }

  encode(text: string, options: EncodeOptions = {}): Int32Array {
    const output: Output = { ids: [], offsets: null };
    this.#run(text, options, output);
    return Int32Array.from(this.#withSpecials(output, options).ids);
  }

  encodeWithOffsets(text: string, options: EncodeOptions = {}): EncodingWithOffsets {
    const output: Output = { ids: [], offsets: [] };
    this.#run(text, options, output);
    const { ids, offsets } = this.#withSpecials(output, options);
    return { ids: Int32Array.from(ids), offsets: Int32Array.from(offsets ?? []) };
  }

  #run(text: string, options: EncodeOptions, output: Output): void {
    const wellFormed = text.replace(/\p{Surrogate}/gu, "\ufffd");
    const spans = options.contentSpans ?? [];
    const matching = options.matchAddedTokens ?? true;
    // Tokens that are looked for in normalized text need places to tell whether they lie in a content span.
    const needsPlaces = output.offsets !== null || (matching && spans.length > 0 && !this.#normalized.empty);
    const source = needsPlaces ? alignedWithItself(wellFormed) : plainText(wellFormed);
    if (!matching) {
      this.#encodeSection(source, never, output);
      return;
    }
    const allowedInText = outside(spans);
    const allowedInPoints = source.places === null ? always : outside(spans.map((span) => toPoints(source, span)));
    this.#cutOut(source, this.#plain, allowedInText, output, (section) =>
      this.#encodeSection(section, (places) => (start, end) => allowedInPoints(places?.starts[start] ?? 0, places?.ends[end - 1] ?? 0), output),
    );
  }

  #encodeSection(section: AlignedText, allowedIn: (places: AlignedText["places"]) => Allowed, output: Output): void {
    const normalized = this.#normalize(section);
    this.#cutOut(normalized, this.#normalized, allowedIn(normalized.places), output, (part) => {
      for (const piece of this.#parts.preTokenizer.cut(part)) this.#encodePiece(piece, output);
    });
  }

  #normalize(text: AlignedText): AlignedText {
    return this.#parts.normalizer === null ? text : this.#parts.normalizer(text);
  }

  #cutOut(source: AlignedText, matcher: AddedTokenMatcher, allowed: Allowed, output: Output, between: (text: AlignedText) => void): void {
    let free = 0;
    const matches: readonly AddedTokenMatch[] = matcher.empty ? [] : matcher.find(source.text, allowed);
    for (const match of matches) {
      if (free < match.start) between(sliceAligned(source, free, match.start));
      output.ids.push(match.id);
      output.offsets?.push(source.places?.starts[match.start] ?? 0, source.places?.ends[match.end - 1] ?? 0);
      free = match.end;
    }
    if (free < source.text.length) between(sliceAligned(source, free, source.text.length));
  }

  #encodePiece(piece: AlignedText, output: Output): void {
    if (output.offsets === null || piece.places === null) {
      for (const id of this.#parts.model.encode(piece.text)) output.ids.push(id);
      return;
    }
    const { ids, starts, ends } = this.#parts.model.symbols(piece.text);
    ids.forEach((id, index) => {
      output.ids.push(id);
      output.offsets?.push(piece.places?.starts[starts[index] ?? 0] ?? 0, piece.places?.ends[(ends[index] ?? 0) - 1] ?? 0);
    });
  }

  #withSpecials(output: Output, options: EncodeOptions): Output {
    const { before, after, trim } = this.#parts.postProcessor;
    if (trim !== null && output.offsets !== null) this.#trim(output.ids, output.offsets, trim.keepsPrefixSpace);
    if (options.specialTokens !== true) return output;
    const nowhere = (ids: readonly number[]) => ids.flatMap(() => [0, 0]);
    return {
      ids: [...before, ...output.ids, ...after],
      offsets: output.offsets === null ? null : [...nowhere(before), ...output.offsets, ...nowhere(after)],
    };
  }

  #trim(ids: readonly number[], offsets: number[], keepsPrefixSpace: boolean): void {
    ids.forEach((id, index) => {
      const token = this.#parts.tokenOf(id) ?? "";
      const [start, end] = trimOffsets(token, index === 0, offsets[2 * index] ?? 0, offsets[2 * index + 1] ?? 0, keepsPrefixSpace);
      offsets[2 * index] = start;
      offsets[2 * index + 1] = end;
    });
  }
}

const always: Allowed = () => true;
const never = () => () => false;

function plainText(text: string): AlignedText {
  return { text, places: null, atStart: true };
}

function toPoints(source: AlignedText, span: TextSpan): TextSpan {
  if (span.end <= span.start) return { start: 0, end: 0 };
  return { start: source.places?.starts[span.start] ?? 0, end: source.places?.ends[Math.min(span.end, source.text.length) - 1] ?? 0 };
}

/** Whether a stretch touches none of the spans. */
function outside(spans: readonly TextSpan[]): Allowed {
  const sorted = spans.filter((span) => span.start < span.end).sort((left, right) => left.start - right.start);
  if (sorted.length === 0) return always;
  // Highest end among the spans up to each one, so that overlapping spans are handled too.
  let highest = 0;
  const reach = sorted.map((span) => (highest = Math.max(highest, span.end)));
  return (start, end) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle]?.start ?? 0) < end) low = middle + 1;
      else high = middle;
    }
    return low === 0 || (reach[low - 1] ?? 0) <= start;
  };
}
