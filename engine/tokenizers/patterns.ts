/** Patterns of tokenizer files: Oniguruma's regular expressions, or plain strings. */
import { SplitPreTokenizer } from "@huggingface/tokenizers";
import type { PatternDefinition } from "./definition.ts";

// The library's own types name their files without an ending, which Node's resolution does not find.
declare module "@huggingface/tokenizers" {
  class SplitPreTokenizer {
    constructor(config: { type: "Split"; pattern: PatternDefinition; behavior: "Isolated"; invert: boolean });
    readonly pattern: RegExp | null;
  }
}

/** White space as the reference counts it (Unicode's property; JavaScript's `\s` differs at U+0085 and U+FEFF). */
export const whiteSpace = "\\p{White_Space}";

/** A global, Unicode RegExp that matches what the reference matches. Throws when the expression cannot be translated. */
export function compilePattern(pattern: PatternDefinition): RegExp {
  // The library's translation of Oniguruma's syntax is only reachable through its Split pre-tokenizer.
  const compiled = new SplitPreTokenizer({ type: "Split", pattern, behavior: "Isolated", invert: true }).pattern;
  if (compiled === null) throw new Error(`tokenizer.json has a pattern that cannot be read: ${JSON.stringify(pattern)}`);
  return compiled;
}

/** A stretch of a text, in UTF-16 units, that a pattern matched or that lies between two matches. */
export interface Stretch {
  readonly start: number;
  end: number;
  readonly matched: boolean;
}

/** Covers the whole text with matches and what lies between them. Empty matches are left out. */
export function stretches(text: string, pattern: RegExp): Stretch[] {
  const found: Stretch[] = [];
  let previous = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const end = match.index + match[0].length;
    if (end === match.index) {
      pattern.lastIndex += (text.codePointAt(match.index) ?? 0) > 0xffff ? 2 : 1;
      continue;
    }
    if (previous < match.index) found.push({ start: previous, end: match.index, matched: false });
    found.push({ start: match.index, end, matched: true });
    previous = end;
  }
  if (previous < text.length) found.push({ start: previous, end: text.length, matched: false });
  return found;
}
