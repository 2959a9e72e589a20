/** Pre-tokenizers cut a text into pieces that merges never cross. */
import { type AlignedText, sliceAligned } from "./aligned-text.ts";
import type { PreTokenizerDefinition, SplitBehavior } from "./definition.ts";
import { prepend, replace } from "./normalizers.ts";
import { compilePattern, type Stretch, stretches, whiteSpace } from "./patterns.ts";

export interface PreTokenizer {
  /** The pieces are written in the byte alphabet before the vocabulary is asked. */
  readonly byteLevel: boolean;
  cut(text: AlignedText): readonly AlignedText[];
}

type Step = (text: AlignedText) => readonly AlignedText[];

export function createPreTokenizer(definition: PreTokenizerDefinition | null | undefined): PreTokenizer {
  const parts = definition === null || definition === undefined ? [] : flatten(definition);
  const byteLevel = parts.findIndex((part) => part.type === "ByteLevel");
  if (byteLevel >= 0 && byteLevel !== parts.length - 1)
    throw new Error("tokenizer.json cannot be used: its ByteLevel pre-tokenizer is not the last one");
  const steps = parts.map(createStep);
  return {
    byteLevel: byteLevel >= 0,
    cut: (text) => {
      let pieces: readonly AlignedText[] = [text];
      for (const step of steps) pieces = pieces.flatMap(step);
      return pieces;
    },
  };
}

function flatten(definition: PreTokenizerDefinition): Exclude<PreTokenizerDefinition, { type: "Sequence" }>[] {
  return definition.type === "Sequence" ? definition.pretokenizers.flatMap(flatten) : [definition];
}

/** GPT-2's expression, with the reference's meaning of white space. */
const byteLevelPattern = `'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^${whiteSpace}\\p{L}\\p{N}]+|${whiteSpace}+(?!\\P{White_Space})|${whiteSpace}+`;

function createStep(definition: Exclude<PreTokenizerDefinition, { type: "Sequence" }>): Step {
  switch (definition.type) {
    case "Split":
      return split(compilePattern(definition.pattern), definition.behavior, definition.invert);
    case "Digits":
      return split(/\p{N}/gu, definition.individual_digits ? "Isolated" : "Contiguous");
    case "Punctuation":
      return split(/[\p{P}!-/:-@[-`{-~]/gu, definition.behavior);
    case "ByteLevel": {
      const cut = definition.use_regex ? split(new RegExp(byteLevelPattern, "gu"), "Isolated") : (text: AlignedText) => [text];
      if (!definition.add_prefix_space) return cut;
      return (text) => cut(text.text.startsWith(" ") ? text : prepend(text, " "));
    }
    case "Metaspace":
      return metaspace(definition.replacement, prependScheme(definition), definition.split);
  }
}

/** Older files say `add_prefix_space` instead of a scheme. */
export function prependScheme(definition: {
  readonly prepend_scheme?: "always" | "first" | "never" | undefined;
  readonly add_prefix_space?: boolean | undefined;
}): "always" | "first" | "never" {
  return definition.prepend_scheme ?? (definition.add_prefix_space === false ? "never" : "always");
}

function metaspace(replacement: string, scheme: "always" | "first" | "never", cut: boolean): Step {
  const atReplacement = split(compilePattern({ String: replacement }), "MergedWithNext");
  return (text) => {
    const replaced = replace(text, / /g, replacement);
    const wanted = scheme === "always" || (scheme === "first" && text.atStart);
    const prefixed = wanted && !replaced.text.startsWith(replacement) ? prepend(replaced, replacement) : replaced;
    return cut ? atReplacement(prefixed) : [prefixed];
  };
}

function split(pattern: RegExp, behavior: SplitBehavior, invert = false): Step {
  return (text) => {
    const found = stretches(text.text, pattern);
    const matched = (stretch: Stretch) => stretch.matched !== invert;
    return arrange(found, matched, behavior).map((stretch) => sliceAligned(text, stretch.start, stretch.end));
  };
}

function arrange(found: Stretch[], matched: (stretch: Stretch) => boolean, behavior: SplitBehavior): readonly Stretch[] {
  switch (behavior) {
    case "Isolated":
      return found;
    case "Removed":
      return found.filter((stretch) => !matched(stretch));
    case "Contiguous":
      return merge(found, (previous, next) => matched(previous) === matched(next));
    case "MergedWithPrevious":
      return merge(found, (previous, next) => matched(next) && !matched(previous));
    case "MergedWithNext":
      return merge(found, (previous, next) => matched(previous) && !matched(next));
  }
}

function merge(found: readonly Stretch[], together: (previous: Stretch, next: Stretch) => boolean): Stretch[] {
  const merged: Stretch[] = [];
  found.forEach((stretch, index) => {
    const previous = found[index - 1];
    const last = merged.at(-1);
    if (previous !== undefined && last !== undefined && together(previous, stretch)) last.end = stretch.end;
    else merged.push({ ...stretch });
  });
  return merged;
}
