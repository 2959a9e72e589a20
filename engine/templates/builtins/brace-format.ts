/** `"{} {name[0]!r:>8}".format(…)`: Python's brace formatting. */

import { floatText } from "../../json/index.ts";
import { TemplateError } from "../template-error.ts";
import { formatFloat, truncated } from "../values/number-format.ts";
import { asciiOf, reprOf, textOf } from "../values/printing.ts";
import { concatTexts, isText, plainText, sliceText, type Text, textLength, unitOffset } from "../values/text.ts";
import { type Keywords, typeName, type Value } from "../values/values.ts";
import type { Runtime } from "./runtime.ts";

interface Fields {
  readonly positional: readonly Value[];
  readonly keywords: Keywords;
  readonly runtime: Runtime;
  /** Number of the next `{}`. */
  next: number;
}

/** Python's `format.format(*positional, **keywords)`. */
export function formatBraces(format: Text, positional: readonly Value[], keywords: Keywords, runtime: Runtime): Text {
  return replaceFields(format, { positional, keywords, runtime, next: 0 }, 0);
}

function replaceFields(format: Text, fields: Fields, depth: number): Text {
  if (depth > 2) throw new TemplateError("ValueError", "Max string recursion exceeded");
  const plain = plainText(format);
  const parts: Text[] = [];
  let position = 0;
  while (position < plain.length) {
    const brace = plain.slice(position).search(/[{}]/);
    if (brace < 0) break;
    const start = position + brace;
    parts.push(sliceText(format, position, start));
    if (plain[start] === plain[start + 1]) {
      parts.push(plain.charAt(start));
      position = start + 2;
      continue;
    }
    if (plain[start] === "}") throw new TemplateError("ValueError", "Single '}' encountered in format string");
    const end = fieldEnd(plain, start);
    parts.push(formatField(sliceText(format, start + 1, end), fields, depth));
    position = end + 1;
  }
  parts.push(sliceText(format, position, plain.length));
  return concatTexts(parts);
}

function fieldEnd(plain: string, start: number): number {
  let depth = 0;
  for (let index = start; index < plain.length; index++) {
    if (plain[index] === "{") depth++;
    else if (plain[index] === "}" && --depth === 0) return index;
  }
  throw new TemplateError("ValueError", "expected '}' before end of string");
}

function formatField(field: Text, fields: Fields, depth: number): Text {
  const match = /^([^!:]*)(?:!([a-z]))?(?::(.*))?$/s.exec(plainText(field));
  if (match === null) throw new TemplateError("ValueError", "expected ':' after conversion specifier");
  const [, name = "", conversion, spec = ""] = match;
  const { effort } = fields.runtime;
  const value = lookUp(name, fields);
  const specText = plainText(replaceFields(spec, fields, depth + 1));
  if (conversion === "r") return formatValue(reprOf(value, effort), specText, fields.runtime);
  if (conversion === "s") return formatValue(textOf(value, effort), specText, fields.runtime);
  if (conversion === "a") return formatValue(asciiOf(value, effort), specText, fields.runtime);
  if (conversion !== undefined) throw new TemplateError("ValueError", `Unknown conversion specifier '${conversion}'`);
  return formatValue(value, specText, fields.runtime);
}

function lookUp(name: string, fields: Fields): Value {
  const [, first = "", rest = ""] = /^([^.[]*)(.*)$/s.exec(name) ?? [];
  let value = /^\d*$/.test(first) ? positionalField(first, fields) : fields.keywords.get(first);
  if (value === undefined) throw new TemplateError("KeyError", `'${first}'`);
  for (const [, attribute, index] of rest.matchAll(/\.([^.[]+)|\[([^\]]*)\]/g)) {
    if (attribute !== undefined) value = fields.runtime.attribute(value, attribute);
    else value = fields.runtime.item(value, /^\d+$/.test(index ?? "") ? BigInt(index ?? 0) : (index ?? ""));
  }
  return value;
}

function positionalField(number: string, fields: Fields): Value {
  const index = number === "" ? fields.next++ : Number(number);
  const value = fields.positional[index];
  if (value === undefined) throw new TemplateError("IndexError", `Replacement index ${index} out of range for positional args tuple`);
  return value;
}

const specPattern = /^(?:(.?)([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([_,])?(?:\.(\d+))?([a-zA-Z%])?$/su;

interface Spec {
  readonly fill: string;
  readonly align: string | null;
  readonly sign: string;
  readonly alternate: boolean;
  readonly width: number;
  readonly grouping: string;
  readonly precision: number | null;
  readonly kind: string;
}

function readSpec(text: string): Spec {
  const match = specPattern.exec(text);
  if (match === null) throw new TemplateError("ValueError", `Invalid format specifier '${text}'`);
  const [, fill, align, sign = "-", hash, zero, width, grouping = "", precision, kind = ""] = match;
  return {
    fill: fill || (zero === undefined ? " " : "0"),
    align: align ?? (zero === undefined ? null : "="),
    sign,
    alternate: hash !== undefined,
    width: Number(width ?? 0),
    grouping,
    precision: precision === undefined ? null : Number(precision),
    kind,
  };
}

function formatValue(value: Value, specText: string, runtime: Runtime): Text {
  if (specText === "") return textOf(value, runtime.effort);
  const spec = readSpec(specText);
  runtime.effort.spendText(spec.width);
  if (isText(value)) return formatText(value, spec);
  if (typeof value === "bigint" || typeof value === "number") return formatNumber(value, spec);
  if (typeof value === "boolean") return formatNumber(value ? 1n : 0n, spec);
  throw new TemplateError("TypeError", `unsupported format string passed to ${typeName(value)}.__format__`);
}

function align(before: string, text: Text, spec: Spec, fallback: string): Text {
  const missing = Math.max(0, spec.width - before.length - textLength(text));
  const where = spec.align ?? fallback;
  if (where === "=") return concatTexts([before, spec.fill.repeat(missing), text]);
  const left = where === ">" ? missing : where === "^" ? Math.floor(missing / 2) : 0;
  return concatTexts([spec.fill.repeat(left), before, text, spec.fill.repeat(missing - left)]);
}

function formatText(value: Text, spec: Spec): Text {
  if (spec.kind !== "" && spec.kind !== "s") throw new TemplateError("ValueError", `Unknown format code '${spec.kind}' for object of type 'str'`);
  if (spec.sign !== "-") throw new TemplateError("ValueError", "Sign not allowed in string format specifier");
  if (spec.grouping !== "") throw new TemplateError("ValueError", `Cannot specify '${spec.grouping}' with 's'.`);
  if (spec.align === "=") throw new TemplateError("ValueError", "'=' alignment not allowed in string format specifier");
  const cut = spec.precision === null ? value : sliceText(value, 0, unitOffset(plainText(value), spec.precision));
  return align("", cut, spec, "<");
}

const bases: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16, X: 16 };

function formatNumber(value: bigint | number, spec: Spec): Text {
  const isNegative = typeof value === "bigint" ? value < 0n : value < 0 || Object.is(value, -0);
  const sign = isNegative ? "-" : spec.sign === "-" ? "" : spec.sign;
  const base = bases[spec.kind];
  if (typeof value === "bigint" && (base !== undefined || spec.kind === "" || spec.kind === "d" || spec.kind === "n" || spec.kind === "c")) {
    if (spec.precision !== null) throw new TemplateError("ValueError", "Precision not allowed in integer format specifier");
    if (spec.kind === "c") return align("", String.fromCodePoint(Number(value)), spec, "<");
    const digits = (isNegative ? -value : value).toString(base ?? 10);
    const prefix = spec.alternate && base !== undefined ? `0${spec.kind}` : "";
    const spelled = spec.kind === "X" ? digits.toUpperCase() : digits;
    return align(sign + prefix, group(spelled, spec, base === undefined ? 3 : 4), spec, ">");
  }
  return align(sign, group(floatDigits(Math.abs(Number(value)), spec), spec, 3), spec, ">");
}

function floatDigits(value: number, spec: Spec): string {
  switch (spec.kind) {
    case "":
      return spec.precision === null ? floatText(value) : shortest(value, spec.precision);
    case "%":
      return `${formatFloat(value * 100, "f", spec.precision ?? 6)}%`;
    case "n":
      return formatFloat(value, "g", spec.precision ?? 6, spec.alternate);
    case "e":
    case "E":
    case "f":
    case "F":
    case "g":
    case "G":
      return formatFloat(value, spec.kind, spec.precision ?? 6, spec.alternate);
    case "d":
      truncated(value);
      break;
  }
  throw new TemplateError("ValueError", `Unknown format code '${spec.kind}' for object of type 'float'`);
}

/** No type but a precision: like `g`, with at least one digit after the point. */
function shortest(value: number, precision: number): string {
  const text = formatFloat(value, "g", precision);
  return /^\d+$/.test(text) ? `${text}.0` : text;
}

function group(digits: string, spec: Spec, size: number): string {
  if (spec.grouping === "") return digits;
  const [, whole = "", rest = ""] = /^([0-9a-fA-F]+)(.*)$/s.exec(digits) ?? [];
  return whole.replace(new RegExp(`\\B(?=(?:[0-9a-fA-F]{${size}})+$)`, "g"), spec.grouping) + rest;
}
