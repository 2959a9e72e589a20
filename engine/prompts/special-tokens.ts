/** The control tokens of a tokenizer: where they stand in a text, and where content only spells them. */
import type { ContentSpan } from "../templates/index.ts";
import type { Tokenizer } from "../tokenizers/index.ts";

export interface FoundToken {
  readonly id: number;
  readonly text: string;
  /** Half-open, UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

export class SpecialTokens {
  readonly #ids = new Map<string, number>();
  readonly #pattern: RegExp;

  constructor(tokenizer: Tokenizer) {
    for (let id = 0; id < tokenizer.vocabularySize; id++) {
      const text = tokenizer.isSpecial(id) ? tokenizer.tokenOf(id) : undefined;
      if (text !== undefined && text !== "") this.#ids.set(text, id);
    }
    const longestFirst = [...this.#ids.keys()].sort((left, right) => right.length - left.length);
    const escaped = longestFirst.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    this.#pattern = new RegExp(escaped.join("|") || "(?!)", "g");
  }

  /** Control tokens between two places that lie wholly outside the content spans, in order. */
  *between(text: string, start: number, end: number, spans: readonly ContentSpan[]): Generator<FoundToken> {
    for (const match of text.slice(start, end).matchAll(this.#pattern)) {
      const token = { id: this.#ids.get(match[0]) ?? -1, text: match[0], start: start + match.index, end: start + match.index + match[0].length };
      if (!spans.some((span) => span.start < token.end && token.start < span.end)) yield token;
    }
  }

  /** How many control tokens are spelled in content or with its help. */
  countIn(text: string, spans: readonly ContentSpan[]): number {
    let count = 0;
    for (const match of text.matchAll(this.#pattern)) {
      const end = match.index + match[0].length;
      if (spans.some((span) => span.start < end && match.index < span.end)) count++;
    }
    return count;
  }
}
