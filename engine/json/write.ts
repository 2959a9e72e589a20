/** Writes JSON as Python's `json.dumps` does, byte for byte. */
import { isJsonArray, type JsonObject, type JsonValue } from "./value.ts";

export interface JsonWriteOptions {
  /** Spaces, or the text itself, put before each level; absent = one line. */
  readonly indent?: number | string;
  /** Between items and between key and value; Python's defaults are `, ` (`,` with an indent) and `: `. */
  readonly separators?: readonly [string, string];
  /** Write every character outside ASCII as `\uXXXX`. */
  readonly ensureAscii?: boolean;
  readonly sortKeys?: boolean;
}

/** A float as Python's `repr` writes it: shortest digits, exponent below 1e-4 and from 1e16 on. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const negative = value < 0 || Object.is(value, -0);
  const [mantissa = "0", exponentText = "0"] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  const exponent = Number(exponentText);
  return (negative ? "-" : "") + placePoint(digits, exponent);
}

function placePoint(digits: string, exponent: number): string {
  if (exponent < -4 || exponent >= 16) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${digits[0]}${fraction}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${whole}.${digits.slice(exponent + 1) || "0"}`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\f": "\\f",
  "\b": "\\b",
};
/** Quotes, backslashes and control characters; for ASCII also all that lies outside it. */
const escaped = /[^ !#-[\]-\uffff]/g;
const escapedForAscii = /[^ !#-[\]-~]/g;

function unitEscape(unit: string): string {
  return shortEscapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A string in JSON quotes, as Python writes it. */
function stringText(value: string, ensureAscii = false): string {
  return `"${value.replace(ensureAscii ? escapedForAscii : escaped, unitEscape)}"`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return floatText(value);
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

interface Layout {
  readonly item: string;
  readonly colon: string;
  readonly indent: string | null;
  readonly ensureAscii: boolean;
  readonly sortKeys: boolean;
}

/** Compares by code point, as Python sorts strings. */
export function compareByCodePoint(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a === b) continue;
    const surrogates = Number(isSurrogate(a)) - Number(isSurrogate(b));
    return surrogates === 0 ? a - b : surrogates;
  }
  return left.length - right.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function wrapped(open: string, parts: readonly string[], close: string, layout: Layout, depth: number): string {
  if (parts.length === 0) return open + close;
  if (layout.indent === null) return open + parts.join(layout.item) + close;
  const inner = `\n${layout.indent.repeat(depth + 1)}`;
  return `${open}${inner}${parts.join(layout.item + inner)}\n${layout.indent.repeat(depth)}${close}`;
}

function objectText(value: JsonObject, layout: Layout, depth: number): string {
  const entries = [...value];
  if (layout.sortKeys) entries.sort(([left], [right]) => compareByCodePoint(left, right));
  const parts = entries.map(([key, item]) => stringText(key, layout.ensureAscii) + layout.colon + valueText(item, layout, depth + 1));
  return wrapped("{", parts, "}", layout, depth);
}

function valueText(value: JsonValue, layout: Layout, depth: number): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
      return stringText(value, layout.ensureAscii);
    case "bigint":
    case "boolean":
      return String(value);
    case "number":
      return numberText(value);
  }
  if (isJsonArray(value)) {
    const parts = value.map((item) => valueText(item, layout, depth + 1));
    return wrapped("[", parts, "]", layout, depth);
  }
  return objectText(value, layout, depth);
}

/** `json.dumps(value, ensure_ascii=False)` with Python's options. */
export function dumpJson(value: JsonValue, options: JsonWriteOptions = {}): string {
  const indent = options.indent === undefined ? null : typeof options.indent === "number" ? " ".repeat(Math.max(0, options.indent)) : options.indent;
  const [item, colon] = options.separators ?? [indent === null ? ", " : ",", ": "];
  return valueText(value, { item, colon, indent, ensureAscii: options.ensureAscii ?? false, sortKeys: options.sortKeys ?? false }, 0);
}
