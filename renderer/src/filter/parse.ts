/**
 * The filter language: `outcome:failed reward:0 tokens>20k -harness:react "text"`. Words are joined by "and"; a leading minus
 * turns one around; quotes hold spaces. Every span of the text is named, so that it can be coloured and a mistake underlined.
 */
import { type Field, fields } from "./fields.ts";

const operators = [">=", "<=", ">", "<", "=", ":"] as const;
export type Operator = (typeof operators)[number];

type SpanKind = "key" | "operator" | "value" | "text" | "space";
interface FilterSpan {
  readonly kind: SpanKind;
  readonly from: number;
  readonly to: number;
}

export type Term =
  | { readonly kind: "words"; readonly negated: boolean; readonly text: string }
  | { readonly kind: "text"; readonly negated: boolean; readonly field: string; readonly exact: boolean; readonly text: string }
  | { readonly kind: "number"; readonly negated: boolean; readonly field: string; readonly operator: Operator; readonly value: number }
  | { readonly kind: "yes-no"; readonly negated: boolean; readonly field: string; readonly value: boolean };

interface FilterMistake {
  readonly from: number;
  readonly to: number;
  /** Which part is wrong, in the language's own words. */
  readonly subject: string;
  readonly message: string;
  readonly example: string | null;
}

export interface ParsedFilter {
  readonly terms: readonly Term[];
  readonly spans: readonly FilterSpan[];
  readonly mistake: FilterMistake | null;
}

const scales: Readonly<Record<string, number>> = { "": 1, k: 1e3, M: 1e6, s: 1, m: 60, h: 3600 };

/** 20k, 2M, 5m, 0.5, .5, 90s; null when it is none of these. */
export function parseAmount(text: string): number | null {
  const match = /^(-?(?:\d+\.?\d*|\.\d+))([kMsmh]?)$/.exec(text);
  const scale = scales[match?.[2] ?? ""];
  return match?.[1] === undefined || scale === undefined ? null : Number(match[1]) * scale;
}

interface Word {
  readonly from: number;
  readonly to: number;
  readonly negated: boolean;
  /** Where the value begins; for plain words where the word does. */
  readonly valueFrom: number;
  readonly key: string | null;
  readonly operator: Operator | null;
  readonly value: string;
  readonly quoted: boolean;
}

function wordsOf(text: string): Word[] {
  const found: Word[] = [];
  const pattern = /(-?)(?:([A-Za-z][\w.]*)(>=|<=|[:=<>]))?("(?:[^"\\]|\\.)*"?|[^\s"]*)/gy;
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at] ?? "")) {
      at += 1;
      continue;
    }
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null || match[0].length === 0) {
      at += 1;
      continue;
    }
    const raw = match[4] ?? "";
    const quoted = raw.startsWith('"');
    const value = quoted ? raw.slice(1, raw.length > 1 && raw.endsWith('"') ? -1 : undefined).replace(/\\(.)/g, "$1") : raw;
    const to = at + match[0].length;
    found.push({
      from: at,
      to,
      negated: match[1] === "-",
      valueFrom: to - raw.length,
      key: match[2] ?? null,
      operator: operators.find((operator) => operator === match[3]) ?? null,
      value,
      quoted,
    });
    at = to;
  }
  return found;
}

function spansOf(word: Word): FilterSpan[] {
  const { from, to, negated, valueFrom, key, operator, quoted } = word;
  const keyFrom = from + (negated ? 1 : 0);
  const spans: FilterSpan[] = negated ? [{ kind: "operator", from, to: keyFrom }] : [];
  if (key !== null && operator !== null) {
    spans.push({ kind: "key", from: keyFrom, to: keyFrom + key.length }, { kind: "operator", from: keyFrom + key.length, to: valueFrom });
  }
  if (valueFrom < to) spans.push({ kind: quoted || key === null ? "text" : "value", from: valueFrom, to });
  return spans;
}

type Read = { readonly term: Term } | { readonly mistake: FilterMistake } | null;

function readTerm(word: Word, field: Field, key: string, operator: Operator): Read {
  const { negated, value, valueFrom, to } = word;
  const wrong = (message: string): Read => ({ mistake: { from: valueFrom, to, subject: key, message, example: field.example } });
  if (field.kind === "text") {
    if (operator !== ":" && operator !== "=") return wrong("is text and takes :");
    return { term: { kind: "text", negated, field: key, exact: operator === "=", text: value.toLowerCase() } };
  }
  if (field.kind === "yes-no") {
    if (value !== "yes" && value !== "no") return wrong("is yes or no");
    return { term: { kind: "yes-no", negated, field: key, value: value === "yes" } };
  }
  const amount = parseAmount(value);
  return amount === null ? wrong("needs a number") : { term: { kind: "number", negated, field: key, operator, value: amount } };
}

function read(word: Word): Read {
  const { key, operator, negated, value } = word;
  if (key === null || operator === null) return value === "" ? null : { term: { kind: "words", negated, text: value.toLowerCase() } };
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
  const keyFrom = word.from + (negated ? 1 : 0);
  if (field === undefined) {
    return {
      mistake: { from: keyFrom, to: keyFrom + key.length, subject: key, message: "is no key", example: 'outcome:failed, or "text" in quotes' },
    };
  }
  if (value === "" && !word.quoted) return null;
  return readTerm(word, field, key, operator);
}

/** Reads a filter. With a mistake the terms before and after it are still there; the caller decides what to show. */
export function parseFilter(text: string): ParsedFilter {
  const terms: Term[] = [];
  const spans: FilterSpan[] = [];
  let mistake: FilterMistake | null = null;
  let at = 0;
  for (const word of wordsOf(text)) {
    if (word.from > at) spans.push({ kind: "space", from: at, to: word.from });
    spans.push(...spansOf(word));
    at = word.to;
    const result = read(word);
    if (result === null) continue;
    if ("term" in result) terms.push(result.term);
    else mistake ??= result.mistake;
  }
  if (at < text.length) spans.push({ kind: "space", from: at, to: text.length });
  return { terms, spans, mistake };
}
