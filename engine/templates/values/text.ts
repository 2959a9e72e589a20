/**
 * Strings of a template that know which of their parts came from the conversation.
 * Every operation on strings keeps the marks, so that control tokens can be told from content that spells them, whatever
 * the template does to content (trimming, splitting, JSON, joins). A string without marks is a plain JavaScript string.
 * Positions here are UTF-16 units; indexes of the template language are Unicode code points.
 */
import { TemplateError } from "../template-error.ts";

/** UTF-16 units that any one text may have. */
export const maxTextLength = 64 * 1024 * 1024;

/** Half-open; `source` says where it came from (see `ContentSpan`). */
export interface Mark {
  readonly start: number;
  readonly end: number;
  readonly source: number;
}

/** A string with marks, or one that a filter declared safe (markupsafe's Markup). */
export class MarkedText {
  readonly plain: string;
  readonly marks: readonly Mark[];
  readonly safe: boolean;
  constructor(plain: string, marks: readonly Mark[], safe = false) {
    this.plain = plain;
    this.marks = marks;
    this.safe = safe;
  }
}

export type Text = string | MarkedText;

export function isText(value: unknown): value is Text {
  return typeof value === "string" || value instanceof MarkedText;
}

export function plainText(text: Text): string {
  return typeof text === "string" ? text : text.plain;
}

function marksOf(text: Text): readonly Mark[] {
  return typeof text === "string" ? [] : text.marks;
}

/** How many marks an operation on the text has to carry along. */
export function markCount(text: Text): number {
  return marksOf(text).length;
}

function withMarks(plain: string, marks: readonly Mark[]): Text {
  return marks.length === 0 ? plain : new MarkedText(plain, marks);
}

/** The whole string as coming from `source`. */
export function markText(plain: string, source: number): Text {
  return plain === "" ? plain : new MarkedText(plain, [{ start: 0, end: plain.length, source }]);
}

/** Throws `TemplateError` when the whole would be longer than any text may be. */
export function concatTexts(parts: readonly Text[]): Text {
  let plain = "";
  const marks: Mark[] = [];
  for (const part of parts) {
    for (const mark of marksOf(part)) pushMark(marks, { start: mark.start + plain.length, end: mark.end + plain.length, source: mark.source });
    plain += plainText(part);
    if (plain.length > maxTextLength) throw new TemplateError("LimitError", `the template makes a text of more than ${maxTextLength} characters`);
  }
  return withMarks(plain, marks);
}

function pushMark(marks: Mark[], mark: Mark): void {
  const last = marks.at(-1);
  if (last !== undefined && last.end === mark.start && last.source === mark.source) marks[marks.length - 1] = { ...last, end: mark.end };
  else marks.push(mark);
}

/** UTF-16 units from `start` to `end`. */
export function sliceText(text: Text, start: number, end: number): Text {
  if (typeof text === "string") return text.slice(start, end);
  const plain = text.plain.slice(start, end);
  const marks: Mark[] = [];
  for (const mark of text.marks) {
    const from = Math.max(mark.start, start) - start;
    const to = Math.min(mark.end, end) - start;
    if (from < to) marks.push({ start: from, end: to, source: mark.source });
  }
  return text.safe ? new MarkedText(plain, marks, true) : withMarks(plain, marks);
}

/**
 * Applies a function of plain strings. Marked and unmarked runs are done one by one; where that gives another result than
 * the whole, all of the result is marked.
 */
export function transformText(text: Text, change: (plain: string) => string): Text {
  if (typeof text === "string") return change(text);
  const whole = change(text.plain);
  if (text.marks.length === 0) return text.safe ? new MarkedText(whole, [], true) : whole;
  const pieces: Text[] = [];
  let done = 0;
  for (const mark of text.marks) {
    pieces.push(change(text.plain.slice(done, mark.start)), markText(change(text.plain.slice(mark.start, mark.end)), mark.source));
    done = mark.end;
  }
  pieces.push(change(text.plain.slice(done)));
  const joined = concatTexts(pieces);
  return plainText(joined) === whole ? joined : markText(whole, text.marks[0]?.source ?? 0);
}

function hasSurrogates(plain: string): boolean {
  return /[\ud800-\udfff]/.test(plain);
}

/** Length in code points. */
export function textLength(text: Text): number {
  const plain = plainText(text);
  return hasSurrogates(plain) ? countCodePoints(plain) : plain.length;
}

function countCodePoints(plain: string): number {
  let count = 0;
  for (const _ of plain) count++;
  return count;
}

/** UTF-16 offset of a code point index between 0 and the length. */
export function unitOffset(plain: string, index: number): number {
  if (!hasSurrogates(plain)) return index;
  let offset = 0;
  for (let passed = 0; passed < index && offset < plain.length; passed++) offset += (plain.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  return offset;
}

/** Code point index of a UTF-16 offset. */
export function codePointIndex(plain: string, offset: number): number {
  return textLength(plain.slice(0, offset));
}

/** One text per code point. */
export function characters(text: Text): Text[] {
  if (typeof text === "string") return [...text];
  const result: Text[] = [];
  let offset = 0;
  for (const character of text.plain) {
    result.push(sliceText(text, offset, offset + character.length));
    offset += character.length;
  }
  return result;
}

/** What Python's `str.isspace` and `\s` take for white space. */
export const whiteSpace = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const leadingSpace = new RegExp(`^[${whiteSpace}]*`);
const spaceOnly = new RegExp(`^[${whiteSpace}]$`);

/** Whether one UTF-16 unit is white space to Python. */
export function isSpace(character: string): boolean {
  return spaceOnly.test(character);
}

export function trimStart(plain: string): string {
  return plain.slice(leadingSpace.exec(plain)?.[0].length ?? 0);
}

export function trimEnd(plain: string): string {
  let end = plain.length;
  while (end > 0 && isSpace(plain.charAt(end - 1))) end--;
  return plain.slice(0, end);
}
