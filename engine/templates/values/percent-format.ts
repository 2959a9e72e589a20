/** `"%s" % values`: Python's printf-style formatting. */

import { TemplateError } from "../template-error.ts";
import type { Effort } from "./limits.ts";
import { formatFloat, truncated } from "./number-format.ts";
import { asciiOf, reprOf, textOf } from "./printing.ts";
import { concatTexts, isText, plainText, sliceText, type Text, textLength, unitOffset } from "./text.ts";
import { Dict, isList, Range, Tuple, typeName, Undefined, type Value } from "./values.ts";

const directive = /%(?:\(([^)]{0,1000})\))?([-+ 0#]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?(.)?/gs;

interface Field {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | null;
  readonly kind: string;
}

/** The values in the order they are asked for. */
class Arguments {
  readonly #values: readonly Value[];
  readonly #mapping: Value | null;
  readonly #isTuple: boolean;
  #next = 0;

  constructor(given: Value) {
    this.#isTuple = given instanceof Tuple;
    this.#values = given instanceof Tuple ? given.items : [given];
    this.#mapping = given instanceof Dict || given instanceof Range || given instanceof Undefined || isList(given) ? given : null;
  }

  take(): Value {
    const value = this.#values[this.#next++];
    if (value === undefined) throw new TemplateError("TypeError", "not enough arguments for format string");
    return value;
  }

  named(key: Text): Value {
    if (!(this.#mapping instanceof Dict)) throw new TemplateError("TypeError", "format requires a mapping");
    this.#next = this.#values.length;
    const value = this.#mapping.get(key);
    if (value === undefined) throw new TemplateError("KeyError", `'${plainText(key)}'`);
    return value;
  }

  size(): number {
    const value = this.take();
    if (typeof value !== "bigint") throw new TemplateError("TypeError", "* wants int");
    return Number(value);
  }

  finish(): void {
    if (this.#next < this.#values.length && (this.#isTuple || this.#mapping === null)) {
      throw new TemplateError("TypeError", "not all arguments converted during string formatting");
    }
  }
}

/** Python's `format % given`. */
export function formatPercent(format: Text, given: Value, effort: Effort): Text {
  const plain = plainText(format);
  const values = new Arguments(given);
  const parts: Text[] = [];
  let done = 0;
  for (const match of plain.matchAll(directive)) {
    parts.push(sliceText(format, done, match.index));
    done = match.index + match[0].length;
    parts.push(formatDirective(match, format, values, effort));
  }
  parts.push(sliceText(format, done, plain.length));
  values.finish();
  return concatTexts(parts);
}

function formatDirective(match: RegExpExecArray, format: Text, values: Arguments, effort: Effort): Text {
  const [whole, key, flags = "", widthText, precisionText, kind] = match;
  if (kind === undefined) throw new TemplateError("ValueError", "incomplete format");
  if (kind === "%" && whole.length === 2) return "%";
  const width = widthText === "*" ? values.size() : Number(widthText ?? 0);
  const precision = precisionText === undefined ? null : precisionText === "*" ? values.size() : Number(precisionText);
  const field: Field = { flags: width < 0 ? `${flags}-` : flags, width: Math.abs(width), precision, kind };
  effort.spendText(field.width);
  if (kind === "%") return "%";
  const value = key === undefined ? values.take() : values.named(keyIn(format, match, key));
  return formatValue(value, field, match.index + whole.length - 1, effort);
}

function keyIn(format: Text, match: RegExpExecArray, key: string): Text {
  return sliceText(format, match.index + 2, match.index + 2 + key.length);
}

function formatValue(value: Value, field: Field, position: number, effort: Effort): Text {
  switch (field.kind) {
    case "s":
      return padText(cut(textOf(value, effort), field.precision), field);
    case "r":
      return padText(cut(reprOf(value, effort), field.precision), field);
    case "a":
      return padText(cut(asciiOf(value, effort), field.precision), field);
    case "c":
      return padText(oneCharacter(value), field);
    case "d":
    case "i":
    case "u":
      return padNumber(
        signed(wholeNumber(value, field.kind), (size) => size.toString().padStart(field.precision ?? 0, "0")),
        field,
      );
    case "x":
    case "X":
    case "o":
      return padNumber(inBase(integerOnly(value, field.kind), field), field);
    case "e":
    case "E":
    case "f":
    case "F":
    case "g":
    case "G":
      return padNumber(floatField(value, field), field);
    default:
      throw new TemplateError(
        "ValueError",
        `unsupported format character '${field.kind}' (0x${field.kind.charCodeAt(0).toString(16)}) at index ${position}`,
      );
  }
}

function cut(text: Text, precision: number | null): Text {
  return precision === null ? text : sliceText(text, 0, unitOffset(plainText(text), precision));
}

function padText(text: Text, field: Field): Text {
  const space = " ".repeat(Math.max(0, field.width - textLength(text)));
  return field.flags.includes("-") ? concatTexts([text, space]) : concatTexts([space, text]);
}

interface SignedText {
  readonly negative: boolean;
  readonly prefix: string;
  readonly digits: string;
}

function padNumber(number: SignedText, field: Field): string {
  const sign = number.negative ? "-" : field.flags.includes("+") ? "+" : field.flags.includes(" ") ? " " : "";
  const before = sign + number.prefix;
  const missing = Math.max(0, field.width - before.length - number.digits.length);
  if (field.flags.includes("-")) return before + number.digits + " ".repeat(missing);
  if (field.flags.includes("0")) return before + "0".repeat(missing) + number.digits;
  return " ".repeat(missing) + before + number.digits;
}

function signed(value: bigint, digits: (size: bigint) => string, prefix = ""): SignedText {
  const negative = value < 0n;
  return { negative, prefix, digits: digits(negative ? -value : value) };
}

function wholeNumber(value: Value, kind: string): bigint {
  if (typeof value === "number") return truncated(value);
  if (typeof value === "bigint" || typeof value === "boolean") return BigInt(value);
  if (value instanceof Undefined) value.fail();
  throw new TemplateError("TypeError", `%${kind} format: a real number is required, not ${typeName(value)}`);
}

function integerOnly(value: Value, kind: string): bigint {
  if (typeof value === "bigint" || typeof value === "boolean") return BigInt(value);
  throw new TemplateError("TypeError", `%${kind} format: an integer is required, not ${typeName(value)}`);
}

function inBase(value: bigint, field: Field): SignedText {
  const prefix = field.flags.includes("#") ? `0${field.kind}` : "";
  const digits = (size: bigint): string => {
    const text = size.toString(field.kind === "o" ? 8 : 16).padStart(field.precision ?? 0, "0");
    return field.kind === "X" ? text.toUpperCase() : text;
  };
  return signed(value, digits, prefix);
}

function floatField(value: Value, field: Field): SignedText {
  if (value instanceof Undefined) value.fail();
  if (typeof value !== "number" && typeof value !== "bigint" && typeof value !== "boolean") {
    throw new TemplateError("TypeError", `must be real number, not ${typeName(value)}`);
  }
  const float = Number(value);
  const digits = formatFloat(Math.abs(float), field.kind, field.precision ?? 6, field.flags.includes("#"));
  return { negative: float < 0 || Object.is(float, -0), prefix: "", digits };
}

function oneCharacter(value: Value): Text {
  if (isText(value) && textLength(value) === 1) return value;
  const point = typeof value === "bigint" || typeof value === "boolean" ? BigInt(value) : -1n;
  if (point >= 0n && point < 0x110000n) return String.fromCodePoint(Number(point));
  throw new TemplateError("TypeError", "%c requires int or char");
}
