/** Filters of numbers: abs, int, float, round, sum and sizes of files. */

import { TemplateError } from "../template-error.ts";
import { arithmetic } from "../values/arithmetic.ts";
import { asNumber } from "../values/comparison.ts";
import { formatFloat, roundFloat, roundInteger, truncated } from "../values/number-format.ts";
import { isText, plainText, trimEnd, trimStart } from "../values/text.ts";
import { iterate, truthy, typeName, Undefined, type Value } from "../values/values.ts";
import { attributeGetter } from "./attribute-path.ts";
import type { Builtin } from "./runtime.ts";
import { asIndex, at, bindArguments } from "./signature.ts";

const digitRuns = (base: number): RegExp => {
  const digits = "0123456789abcdefghijklmnopqrstuvwxyz".slice(0, base);
  return new RegExp(`^[${digits}]+(?:_[${digits}]+)*$`, "i");
};
const prefixes: Readonly<Record<number, string>> = { 2: "0b", 8: "0o", 16: "0x" };

/** Python's `int(text, base)`; null for a ValueError. */
function parseInteger(text: string, base: number): bigint | null {
  const [, sign = "", spelled = ""] = /^([-+]?)(.*)$/s.exec(trimStart(trimEnd(text)).toLowerCase()) ?? [];
  const named = base === 0 ? (Object.entries(prefixes).find(([, prefix]) => spelled.startsWith(prefix))?.[0] ?? "10") : base;
  const radix = Number(named);
  const prefix = prefixes[radix];
  const digits = prefix !== undefined && spelled.startsWith(prefix) ? spelled.slice(2).replace(/^_/, "") : spelled;
  if (radix < 2 || radix > 36 || digits.length > 4300 || !digitRuns(radix).test(digits)) return null;
  let value = 0n;
  for (const digit of digits.replaceAll("_", "")) value = value * BigInt(radix) + BigInt(Number.parseInt(digit, 36));
  return sign === "-" ? -value : value;
}

/** Python's `float(text)`; null for a ValueError. */
function parseFloatText(text: string): number | null {
  const spelled = trimStart(trimEnd(text)).toLowerCase();
  if (/^[-+]?(?:inf|infinity)$/.test(spelled)) return spelled.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^[-+]?nan$/.test(spelled)) return Number.NaN;
  if (!/^[-+]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[-+]?\d+(?:_\d+)*)?$/.test(spelled)) return null;
  return Number(spelled.replaceAll("_", ""));
}

/** Python's `float(value)`; null for TypeError and ValueError. */
function floatOf(value: Value): number | null {
  if (value instanceof Undefined) value.fail();
  if (isText(value)) return parseFloatText(plainText(value));
  const number = asNumber(value);
  return number === null ? null : Number(number);
}

const int: Builtin = (_runtime, positional, keywords) => {
  const bound = bindArguments("do_int", [["value"], ["default", 0n], ["base", 10n]], positional, keywords);
  const value = at(bound, 0);
  if (isText(value)) {
    const parsed = parseInteger(plainText(value), asIndex(at(bound, 2)));
    if (parsed !== null) return parsed;
  } else if (typeof value === "bigint" || typeof value === "boolean") return BigInt(value);
  else if (typeof value === "number" && !Number.isNaN(value)) return truncated(value);
  const float = floatOf(value);
  return float === null || !Number.isFinite(float) ? at(bound, 1) : truncated(float);
};

const float: Builtin = (_runtime, positional, keywords) => {
  const bound = bindArguments("do_float", [["value"], ["default", 0]], positional, keywords);
  return floatOf(at(bound, 0)) ?? at(bound, 1);
};

const abs: Builtin = (_runtime, positional, keywords) => {
  const value = at(bindArguments("abs", [["x"]], positional, keywords), 0);
  if (value instanceof Undefined) value.fail();
  const number = asNumber(value);
  if (number === null) throw new TemplateError("TypeError", `bad operand type for abs(): '${typeName(value)}'`);
  if (typeof number === "number") return Math.abs(number);
  return number < 0n ? -number : number;
};

const round: Builtin = ({ effort }, positional, keywords) => {
  const bound = bindArguments("do_round", [["value"], ["precision", 0n], ["method", "common"]], positional, keywords);
  const [value, precision, method] = [at(bound, 0), at(bound, 1), at(bound, 2)];
  const name = isText(method) ? plainText(method) : "";
  if (value instanceof Undefined) value.fail();
  const number = asNumber(value);
  if (number === null) throw new TemplateError("TypeError", `type ${typeName(value)} doesn't define __round__ method`);
  if (name === "common") return typeof number === "bigint" ? roundInteger(number, asIndex(precision)) : roundFloat(number, asIndex(precision));
  if (name !== "ceil" && name !== "floor") throw new TemplateError("FilterArgumentError", "method must be common, ceil or floor");
  const scale = arithmetic(10n, "**", precision, effort);
  const scaled = asNumber(arithmetic(number, "*", scale, effort)) ?? 0;
  const whole = typeof scaled === "bigint" ? scaled : BigInt(name === "ceil" ? Math.ceil(scaled) : Math.floor(scaled));
  return arithmetic(whole, "/", scale, effort);
};

const sum: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_sum", [["iterable"], ["attribute", null], ["start", 0n]], positional, keywords);
  const get = attributeGetter(at(bound, 1), runtime);
  let total = at(bound, 2);
  for (const item of iterate(at(bound, 0))) total = arithmetic(total, "+", get(item), runtime.effort);
  return total;
};

const fileSize: Builtin = (_runtime, positional, keywords) => {
  const bound = bindArguments("do_filesizeformat", [["value"], ["binary", false]], positional, keywords);
  const binary = truthy(at(bound, 1));
  const bytes = floatOf(at(bound, 0));
  if (bytes === null) throw new TemplateError("ValueError", "could not convert to float");
  const base = binary ? 1024 : 1000;
  if (bytes === 1) return "1 Byte";
  if (bytes < base) return `${truncated(bytes)} Bytes`;
  const units = ["K", "M", "G", "T", "P", "E", "Z", "Y"];
  let index = 0;
  while (index < units.length - 1 && bytes >= base ** (index + 2)) index++;
  const letter = !binary && index === 0 ? "k" : units[index];
  return `${formatFloat((base * bytes) / base ** (index + 2), "f", 1)} ${letter}${binary ? "iB" : "B"}`;
};

export const numberFilters: readonly (readonly [string, Builtin])[] = [
  ["int", int],
  ["float", float],
  ["abs", abs],
  ["round", round],
  ["sum", sum],
  ["filesizeformat", fileSize],
];
