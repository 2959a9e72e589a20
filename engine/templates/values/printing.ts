/** Python's `str()` and `repr()`. */
import { floatText } from "../../json/index.ts";
import { TemplateError } from "../template-error.ts";
import type { Effort } from "./limits.ts";
import { concatTexts, isText, plainText, type Text, transformText } from "./text.ts";
import { Dict, DictView, isList, Lazy, Range, Tuple, Undefined, type Value } from "./values.ts";

const maxIntegerDigits = 4300;

/** What `{{ value }}` prints. */
export function textOf(value: Value, effort: Effort): Text {
  if (isText(value)) return value;
  if (value instanceof Undefined) return "";
  return reprOf(value, effort);
}

export function reprOf(value: Value, effort: Effort): Text {
  effort.spend(4);
  if (value === null) return "None";
  if (isText(value)) return reprOfText(value, effort);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "bigint") return integerText(value);
  if (typeof value === "number") return floatText(value);
  if (isList(value)) return concatTexts(["[", ...commaSeparated(value, effort), "]"]);
  if (value instanceof Tuple) return reprOfTuple(value, effort);
  if (value instanceof Dict) return reprOfDict(value, effort);
  if (value instanceof DictView) return concatTexts([`${value.kind}([`, ...commaSeparated([...value], effort), "])"]);
  if (value instanceof Range) return `range(${value.start}, ${value.stop}${value.step === 1n ? "" : `, ${value.step}`})`;
  if (value instanceof Undefined) return "Undefined";
  if (value instanceof Lazy) return `<${value.typeName} object>`;
  return value.printed;
}

function integerText(value: bigint): string {
  const digits = value.toString();
  if (digits.length > maxIntegerDigits)
    throw new TemplateError("ValueError", `Exceeds the limit (${maxIntegerDigits} digits) for integer string conversion`);
  return digits;
}

function commaSeparated(items: readonly Value[], effort: Effort): Text[] {
  return items.flatMap((item, index) => (index === 0 ? [reprOf(item, effort)] : [", ", reprOf(item, effort)]));
}

function reprOfTuple(value: Tuple, effort: Effort): Text {
  return concatTexts(["(", ...commaSeparated(value.items, effort), value.items.length === 1 ? ",)" : ")"]);
}

function reprOfDict(value: Dict, effort: Effort): Text {
  const parts: Text[] = ["{"];
  for (const [key, item] of value.items()) {
    if (parts.length > 1) parts.push(", ");
    parts.push(reprOf(key, effort), ": ", reprOf(item, effort));
  }
  return concatTexts([...parts, "}"]);
}

function reprOfText(value: Text, effort: Effort): Text {
  const plain = plainText(value);
  effort.spendText(plain.length);
  const quote = plain.includes("'") && !plain.includes('"') ? '"' : "'";
  const inside = transformText(value, (part) => part.replace(/[\\'"]|[\p{C}\p{Z}]/gu, (character) => escapeForRepr(character, quote)));
  return concatTexts([quote, inside, quote]);
}

function escapeForRepr(character: string, quote: string): string {
  if (character === "\\" || character === quote) return `\\${character}`;
  if (character === "'" || character === '"' || character === " ") return character;
  if (character === "\n") return "\\n";
  if (character === "\r") return "\\r";
  if (character === "\t") return "\\t";
  return codePointEscape(character.codePointAt(0) ?? 0);
}

/** `\xhh`, `\uhhhh` or `\Uhhhhhhhh`, whichever is shortest. */
export function codePointEscape(point: number): string {
  const hex = point.toString(16);
  if (point <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  if (point <= 0xffff) return `\\u${hex.padStart(4, "0")}`;
  return `\\U${hex.padStart(8, "0")}`;
}

/** `ascii()`: the repr with everything outside ASCII escaped. */
export function asciiOf(value: Value, effort: Effort): Text {
  return transformText(reprOf(value, effort), (part) => part.replace(/[^ -~]/gu, (character) => codePointEscape(character.codePointAt(0) ?? 0)));
}
