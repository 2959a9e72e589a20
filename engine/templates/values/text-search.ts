/** Splitting, searching, stripping and replacing in texts, as Python's str methods do; marks are kept. */
import { characters, concatTexts, isSpace, plainText, sliceText, type Text, textLength, unitOffset } from "./text.ts";

/** `split(separator, limit)`; a negative limit is none. The separator is not empty. */
export function splitText(text: Text, separator: string, limit: number): Text[] {
  const plain = plainText(text);
  const parts: Text[] = [];
  let done = 0;
  for (let found = plain.indexOf(separator); found >= 0 && parts.length !== limit; found = plain.indexOf(separator, done)) {
    parts.push(sliceText(text, done, found));
    done = found + separator.length;
  }
  parts.push(sliceText(text, done, plain.length));
  return parts;
}

export function splitTextFromEnd(text: Text, separator: string, limit: number): Text[] {
  const plain = plainText(text);
  const parts: Text[] = [];
  let end = plain.length;
  while (parts.length !== limit) {
    const found = end < separator.length ? -1 : plain.lastIndexOf(separator, end - separator.length);
    if (found < 0) break;
    parts.unshift(sliceText(text, found + separator.length, end));
    end = found;
  }
  parts.unshift(sliceText(text, 0, end));
  return parts;
}

/** `split()` at runs of white space; with a limit the rest keeps its space. */
export function splitAtSpace(text: Text, limit: number): Text[] {
  const plain = plainText(text);
  const parts: Text[] = [];
  let start = 0;
  for (;;) {
    while (start < plain.length && isSpace(plain.charAt(start))) start++;
    if (start >= plain.length) return parts;
    if (parts.length === limit) return [...parts, sliceText(text, start, plain.length)];
    let end = start;
    while (end < plain.length && !isSpace(plain.charAt(end))) end++;
    parts.push(sliceText(text, start, end));
    start = end;
  }
}

/** `rsplit(None, limit)`. */
export function splitAtSpaceFromEnd(text: Text, limit: number): Text[] {
  const plain = plainText(text);
  const parts: Text[] = [];
  let end = plain.length;
  for (;;) {
    while (end > 0 && isSpace(plain.charAt(end - 1))) end--;
    if (end === 0) return parts;
    if (parts.length === limit) return [sliceText(text, 0, end), ...parts];
    let start = end;
    while (start > 0 && !isSpace(plain.charAt(start - 1))) start--;
    parts.unshift(sliceText(text, start, end));
    end = start;
  }
}

/** Split so that no control character stands in a regular expression. */
const lineEnd = new RegExp(`\\r\\n|[\\n-\\r${"\u001c-\u001e\u0085"}\\u2028\\u2029]`, "g");

export function splitLines(text: Text, keepEnds: boolean): Text[] {
  const plain = plainText(text);
  const lines: Text[] = [];
  let done = 0;
  for (const match of plain.matchAll(lineEnd)) {
    const end = match.index + match[0].length;
    lines.push(sliceText(text, done, keepEnds ? end : match.index));
    done = end;
  }
  if (done < plain.length) lines.push(sliceText(text, done, plain.length));
  return lines;
}

/** `strip(characters)`; null strips white space. */
export function stripText(text: Text, stripped: string | null, atStart: boolean, atEnd: boolean): Text {
  const plain = plainText(text);
  const set = stripped === null ? null : new Set(stripped);
  const isStripped = (character: string): boolean => (set === null ? isSpace(character) : set.has(character));
  let [start, end] = [0, plain.length];
  while (atStart && start < end) {
    const character = String.fromCodePoint(plain.codePointAt(start) ?? 0);
    if (!isStripped(character)) break;
    start += character.length;
  }
  while (atEnd && end > start) {
    const character = lastCharacter(plain, end);
    if (!isStripped(character)) break;
    end -= character.length;
  }
  return start === 0 && end === plain.length ? text : sliceText(text, start, end);
}

/** The code point that ends at an offset. */
function lastCharacter(plain: string, end: number): string {
  const pair = plain.slice(Math.max(0, end - 2), end);
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(pair) ? pair : plain.charAt(end - 1);
}

/** `replace(old, replacement, limit)`; a negative limit is none. An empty `old` stands before every character and at the end. */
export function replaceText(text: Text, old: string, replacement: Text, limit: number): Text {
  const pieces = old === "" ? splitEverywhere(text, limit) : splitText(text, old, limit);
  return joinTexts(pieces, replacement);
}

function splitEverywhere(text: Text, limit: number): Text[] {
  const pieces: Text[] = ["", ...characters(text), ""];
  return limit < 0 || limit >= pieces.length ? pieces : [...pieces.slice(0, limit), concatTexts(pieces.slice(limit))];
}

export function joinTexts(parts: readonly Text[], separator: Text): Text {
  return concatTexts(parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part])));
}

/** Start and end (code points) of a search range as UTF-16 offsets, clamped as Python slices are; null when empty by order. */
export function searchRange(text: Text, start: number | null, end: number | null): { start: number; end: number } | null {
  const length = textLength(text);
  const clamp = (value: number): number => Math.max(0, Math.min(length, value < 0 ? value + length : value));
  const from = start === null ? 0 : start > length ? length + 1 : clamp(start);
  const to = end === null ? length : clamp(end);
  if (from > to) return null;
  const plain = plainText(text);
  return { start: unitOffset(plain, from), end: unitOffset(plain, to) };
}

/** How often `needle` occurs without overlap; an empty one once more than there are characters. */
export function countOccurrences(plain: string, needle: string): number {
  return needle === "" ? textLength(plain) + 1 : plain.split(needle).length - 1;
}
