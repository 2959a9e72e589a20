/**
 * A tokenizer for a small, closed language, learned from its texts: the pieces that a pattern cuts, each as one token; what is rare stays bytes. Written as
 * a byte-level BPE without merges (`ignore_merges` takes whole pieces from the vocabulary), which every reader of `tokenizer.json` knows.
 */
import { characterOfByte } from "./byte-alphabet.ts";
import { compilePattern, stretches } from "./patterns.ts";

export interface LearnOptions {
  readonly texts: Iterable<string>;
  /** Oniguruma's form; cuts a text that holds no special token into pieces. */
  readonly pattern: string;
  /** Control tokens; among those that begin at one place the longest is taken. */
  readonly specialTokens: readonly string[];
  /** Pieces seen less often are not learned. */
  readonly leastCount: number;
  readonly endOfTurn: string;
  readonly padding: string;
}

/** `tokenizer.json` and `tokenizer_config.json`. Equal texts give equal files. */
export function learnTokenizer(options: LearnOptions): { readonly tokenizerJson: string; readonly configJson: string } {
  const { pattern, specialTokens, leastCount, endOfTurn, padding } = options;
  const counts = countPieces(options);
  const learned = [...counts].filter(([piece, count]) => count >= leastCount && writtenIn(piece).length > 1);
  learned.sort(([left, ofLeft], [right, ofRight]) => ofRight - ofLeft || (left < right ? -1 : 1));
  const entries = [...characterOfByte, ...learned.map(([piece]) => writtenIn(piece))];
  const addedTokens = specialTokens.map((content, index) => ({
    ...{ id: entries.length + index, content, special: true },
    ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
  }));
  const tokenizer = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: addedTokens,
    normalizer: null,
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      ...{ type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: "", end_of_word_suffix: "" },
      ...{ fuse_unk: false, byte_fallback: false, ignore_merges: true },
      vocab: Object.fromEntries(entries.map((entry, id) => [entry, id])),
      merges: [],
    },
  };
  const config = { tokenizer_class: "PreTrainedTokenizerFast", eos_token: endOfTurn, pad_token: padding, clean_up_tokenization_spaces: false };
  return { tokenizerJson: `${JSON.stringify(tokenizer, null, 1)}\n`, configJson: `${JSON.stringify(config, null, 2)}\n` };
}

function countPieces({ texts, pattern, specialTokens }: LearnOptions): ReadonlyMap<string, number> {
  const cut = compilePattern({ Regex: pattern });
  const longestFirst = specialTokens.toSorted((left, right) => right.length - left.length);
  const special = new RegExp(longestFirst.map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "u");
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const part of text.split(special)) {
      for (const { start, end } of stretches(part, cut)) {
        const piece = part.slice(start, end);
        counts.set(piece, (counts.get(piece) ?? 0) + 1);
      }
    }
  }
  return counts;
}

const encoder = new TextEncoder();

function writtenIn(piece: string): string {
  return Array.from(encoder.encode(piece), (byte) => characterOfByte[byte] ?? "").join("");
}
