/**
 * Scalars as Harbor's pydantic models take them: numeric text becomes a number, true counts as 1, a date is never text.
 * Each schema says in plain words what it wanted; the caller puts the key in front of it.
 */
import { z } from "zod";
import { TomlDate } from "./toml-source.ts";

/** Rust's and Python's white space; JavaScript's `trim` has another set. */
const rustSpace = "\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const rustTrim = new RegExp(`^[${rustSpace}]+|[${rustSpace}]+$`, "g");
const pythonTrim = new RegExp(`^[${rustSpace}\\x1c-\\x1f]+|[${rustSpace}\\x1c-\\x1f]+$`, "g");

export function pythonStrip(text: string): string {
  return text.replace(pythonTrim, "");
}

/** What a value is, for a message: `"abc"`, `a table`, `12`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return value.length > 60 ? `${JSON.stringify(value.slice(0, 57)).slice(0, -1)}…"` : JSON.stringify(value);
  if (value instanceof TomlDate) return `the date ${value.iso}`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "a table";
  return String(value);
}

type Read<T> = { readonly value: T } | { readonly wanted: string };

function lax<T>(read: (value: unknown) => Read<T>): z.ZodType<T> {
  return z.unknown().transform((value, context) => {
    const result = read(value);
    if ("value" in result) return result.value;
    context.addIssue(value === undefined ? "is missing" : `must be ${result.wanted}, not ${describeValue(value)}`);
    return z.NEVER;
  }) as unknown as z.ZodType<T>;
}

export const text = lax<string>((value) => (typeof value === "string" ? { value } : { wanted: "text" }));

/** Numbers as Rust parses them, single underscores between other characters allowed. */
function floatOfText(source: string): number | null {
  const trimmed = source.replace(rustTrim, "");
  const plain = withoutUnderscores(trimmed);
  if (plain === null) return null;
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(plain);
  if (special) return special[2]?.toLowerCase() === "nan" ? Number.NaN : special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(plain) ? Number(plain) : null;
}

function withoutUnderscores(source: string): string | null {
  if (source.startsWith("_") || source.endsWith("_") || source.includes("__")) return null;
  return source.replaceAll("_", "");
}

/** Integers in text: `+256`, `0256`, `1_000`, `256.00`; null when it is none. */
function integerOfText(source: string): number | null {
  const trimmed = source.replace(rustTrim, "");
  const plain = /^[+-]_/.test(trimmed) ? null : withoutUnderscores(trimmed.replace(/^(.*[^.])\.0+$/, "$1"));
  if (plain === null || !/^[+-]?\d+$/.test(plain) || plain.length > 4300) return null;
  return Number(plain) + 0;
}

export const float = lax<number>((value) => {
  if (typeof value === "number") return { value };
  if (typeof value === "bigint" || typeof value === "boolean") return { value: Number(value) };
  const parsed = typeof value === "string" ? floatOfText(value) : null;
  return parsed === null ? { wanted: "a number" } : { value: parsed };
});

function readInteger(value: unknown): Read<number> {
  if (typeof value === "bigint" || typeof value === "boolean") return { value: Number(value) };
  if (typeof value === "string") {
    const parsed = integerOfText(value);
    return parsed === null ? { wanted: "a whole number" } : { value: parsed };
  }
  // A float counts when it is whole and fits 64 bits.
  if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 63) return { value: value + 0 };
  return { wanted: "a whole number" };
}

export const integer = lax<number>(readInteger);

const trueWords = new Set(["1", "on", "t", "true", "y", "yes"]);
const falseWords = new Set(["0", "off", "f", "false", "n", "no"]);

export const boolean = lax<boolean>((value) => {
  if (typeof value === "boolean") return { value };
  if (value === 1 || (typeof value === "string" && trueWords.has(value.toLowerCase()))) return { value: true };
  if (value === 0 || (typeof value === "string" && falseWords.has(value.toLowerCase()))) return { value: false };
  return { wanted: "true or false" };
});

/** A user is a name or a number: text stays text. */
export const textOrInteger = lax<string | number>((value) => {
  if (typeof value === "string") return { value };
  const number = readInteger(value);
  return "value" in number ? number : { wanted: "a user name or a user number" };
});

/** Processor count: whole when it can be, never NaN or infinite. */
export const processorCount = lax<number>((value) => {
  const parsed =
    typeof value === "string"
      ? (integerOfText(value) ?? floatOfText(value))
      : typeof value === "object" || value === undefined
        ? null
        : Number(value);
  return parsed === null || !Number.isFinite(parsed) ? { wanted: "a finite number of processors" } : { value: parsed + 0 };
});

/** One of a fixed list of words. */
export function word<const T extends readonly string[]>(words: T, normalise: (value: string) => string = (value) => value): z.ZodType<T[number]> {
  const list = words.length === 2 ? words.join(" or ") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  return lax<T[number]>((value) => {
    const found = typeof value === "string" ? words.find((entry) => entry === normalise(value)) : undefined;
    return found === undefined ? { wanted: list } : { value: found };
  });
}
