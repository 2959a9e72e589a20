/** Normalizers, with the places that the reference gives to what it changes. */
import { AlignedEdit, type AlignedText, sliceAligned } from "./aligned-text.ts";
import type { NormalizerDefinition } from "./definition.ts";
import { compilePattern, stretches, whiteSpace } from "./patterns.ts";

export type Normalizer = (text: AlignedText) => AlignedText;

export function createNormalizer(definition: NormalizerDefinition): Normalizer {
  switch (definition.type) {
    case "NFC":
    case "NFD":
    case "NFKC":
    case "NFKD":
      return (text) => normalizeUnicode(text, definition.type);
    case "Lowercase":
      return lowercase;
    case "Prepend":
      return (text) => (definition.first && !text.atStart ? text : prepend(text, definition.prepend));
    case "Replace": {
      const pattern = compilePattern(definition.pattern);
      return (text) => replace(text, pattern, definition.content);
    }
    case "Strip":
      return (text) => strip(text, definition.strip_left, definition.strip_right);
    case "Sequence": {
      const steps = definition.normalizers.map(createNormalizer);
      return (text) => steps.reduce((changed, step) => step(changed), text);
    }
  }
}

/** Puts `added` in front, at the place of the first character. Empty text stays empty. */
export function prepend(source: AlignedText, added: string): AlignedText {
  if (source.text === "") return source;
  if (source.places === null) return { ...source, text: added + source.text };
  const edit = new AlignedEdit(source);
  edit.insert(added, 0);
  edit.keep(0, source.text.length);
  return edit.result();
}

/** Replaces every match; the new text takes the place of the match's last character. */
export function replace(source: AlignedText, pattern: RegExp, content: string): AlignedText {
  if (source.places === null) return { ...source, text: source.text.replace(pattern, () => content) };
  const edit = new AlignedEdit(source);
  for (const stretch of stretches(source.text, pattern)) {
    if (stretch.matched) edit.insert(content, stretch.end - 1);
    else edit.keep(stretch.start, stretch.end);
  }
  return edit.result();
}

const leadingSpace = new RegExp(`^${whiteSpace}*`, "u");
const trailingSpace = new RegExp(`${whiteSpace}*$`, "u");

function strip(source: AlignedText, left: boolean, right: boolean): AlignedText {
  const start = left ? (leadingSpace.exec(source.text)?.[0].length ?? 0) : 0;
  const end = right ? (trailingSpace.exec(source.text)?.index ?? source.text.length) : source.text.length;
  return sliceAligned(source, start, Math.max(start, end));
}

/** Character by character, as the reference does: no rule here looks at neighbours. */
function lowercase(source: AlignedText): AlignedText {
  const edit = new AlignedEdit(source);
  let unit = 0;
  for (const character of source.text) {
    edit.insert(character.toLowerCase(), unit);
    unit += character.length;
  }
  return edit.result();
}

type UnicodeForm = "NFC" | "NFD" | "NFKC" | "NFKD";
/** What joins the character before it under normalization: marks, Hangul vowels and finals, half-width voicing marks. */
const joinsPrevious = /[\p{M}\u1160-\u11ff\ud7b0-\ud7ff\uff9e\uff9f]/u;

function normalizeUnicode(source: AlignedText, form: UnicodeForm): AlignedText {
  const whole = source.text.normalize(form);
  if (source.places === null) return whole === source.text ? source : { ...source, text: whole };
  if (whole === source.text) return source;
  const edit = new AlignedEdit(source);
  let start = 0;
  let end = 0;
  for (const character of source.text) {
    if (end > start && !joinsPrevious.test(character)) {
      normalizeCluster(edit, source.text.slice(start, end), start, form);
      start = end;
    }
    end += character.length;
  }
  normalizeCluster(edit, source.text.slice(start, end), start, form);
  return edit.result();
}

/**
 * One character and its marks, placed as the reference does: it counts, for each character that comes out, how many it
 * replaces. Marks that were put in another order keep the places of the old order.
 */
function normalizeCluster(edit: AlignedEdit, cluster: string, start: number, form: UnicodeForm): void {
  const before = Array.from(cluster);
  const after = Array.from(cluster.normalize(form));
  const units: number[] = [];
  let unit = start;
  for (const character of before) {
    units.push(unit);
    unit += character.length;
  }
  const decomposed = form === "NFC" || form === "NFD" ? "NFD" : "NFKD";
  // Each part of a decomposed character: the first replaces the character, the others are new.
  const parts = before.flatMap((character) =>
    Array.from(character.normalize(decomposed), (part, index) => ({ part, replaced: index === 0 ? 1 : 0 })),
  );
  let consumed = 0;
  for (const character of after) {
    let replaced = 0;
    for (const part of character.normalize(decomposed)) {
      const index = parts.findIndex((candidate) => candidate.part === part);
      replaced += parts[index]?.replaced ?? 0;
      parts.splice(index, 1);
    }
    edit.insert(character, units[replaced > 0 ? consumed : Math.max(0, consumed - 1)] ?? start);
    consumed += replaced;
  }
}
