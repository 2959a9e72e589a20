/** Filters of strings. */

import { TemplateError } from "../template-error.ts";
import { asNumber } from "../values/comparison.ts";
import { formatPercent } from "../values/percent-format.ts";
import { textOf } from "../values/printing.ts";
import { concatSafely } from "../values/safe-text.ts";
import { concatTexts, isText, plainText, sliceText, type Text, textLength, transformText, unitOffset } from "../values/text.ts";
import { capitalize, titleWords } from "../values/text-case.ts";
import { joinTexts, replaceText, splitLines, splitTextFromEnd, stripText } from "../values/text-search.ts";
import { Dict, isList, iterate, lengthOf, Tuple, truthy, typeName, type Value } from "../values/values.ts";
import type { Builtin, Runtime } from "./runtime.ts";
import { asIndex, asText, at, bindArguments } from "./signature.ts";
import { centered } from "./text-methods.ts";
import { wrapLine } from "./word-wrap.ts";

/** `soft_str`: the text itself, or what would be printed. */
function softText(value: Value, runtime: Runtime): Text {
  const text = textOf(value, runtime.effort);
  runtime.effort.spendText(plainText(text).length);
  return text;
}

function transforming(name: string, change: (plain: string) => string): readonly [string, Builtin] {
  return [
    name,
    (runtime, positional, keywords) => transformText(softText(at(bindArguments(`do_${name}`, [["s"]], positional, keywords), 0), runtime), change),
  ];
}

const trim: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_trim", [["value"], ["chars", null]], positional, keywords);
  const chars = at(bound, 1);
  return stripText(softText(at(bound, 0), runtime), chars === null ? null : plainText(asText(chars, "strip")), true, true);
};

const replace: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_replace", [["s"], ["old"], ["new"], ["count", null]], positional, keywords);
  const limit = at(bound, 3);
  const [text, old, replacement] = [0, 1, 2].map((index) => softText(at(bound, index), runtime));
  return replaceText(text ?? "", plainText(old ?? ""), replacement ?? "", limit === null ? -1 : asIndex(limit));
};

const indent: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_indent", [["s"], ["width", 4n], ["first", false], ["blank", false]], positional, keywords);
  const width = at(bound, 1);
  const indention = isText(width) ? width : " ".repeat(Math.max(0, Math.min(asIndex(width), 10_000)));
  const lines = splitLines(concatSafely(asText(at(bound, 0), "indent"), "\n"), false);
  runtime.effort.spendText(lines.length * plainText(indention).length);
  const indentBlank = truthy(at(bound, 3));
  const indented = lines.map((line, index) => (index > 0 && (indentBlank || plainText(line) !== "") ? concatTexts([indention, line]) : line));
  const body = joinTexts(indented, "\n");
  return truthy(at(bound, 2)) ? concatTexts([indention, body]) : body;
};

const truncate: Builtin = (_runtime, positional, keywords) => {
  const bound = bindArguments("do_truncate", [["s"], ["length", 255n], ["killwords", false], ["end", "..."], ["leeway", null]], positional, keywords);
  const [value, end] = [at(bound, 0), asText(at(bound, 3), "truncate")];
  const length = asIndex(at(bound, 1));
  const leeway = at(bound, 4) === null ? 5 : asIndex(at(bound, 4));
  if (length < textLength(end) || leeway < 0) throw new TemplateError("ValueError", `expected length >= ${textLength(end)}, got ${length}`);
  const size = lengthOf(value);
  if (size === null) throw new TemplateError("TypeError", `object of type '${typeName(value)}' has no len()`);
  if (size <= length + leeway) return value;
  const text = asText(value, "truncate");
  const cut = sliceText(text, 0, unitOffset(plainText(text), length - textLength(end)));
  return concatTexts([truthy(at(bound, 2)) ? cut : (splitTextFromEnd(cut, " ", 1)[0] ?? ""), end]);
};

const wordWrap: Builtin = (_runtime, positional, keywords) => {
  const bound = bindArguments(
    "do_wordwrap",
    [["s"], ["width", 79n], ["break_long_words", true], ["wrapstring", null], ["break_on_hyphens", true]],
    positional,
    keywords,
  );
  const separator = at(bound, 3) === null ? "\n" : asText(at(bound, 3), "wordwrap");
  const options = { width: asIndex(at(bound, 1)), breakLongWords: truthy(at(bound, 2)), breakOnHyphens: truthy(at(bound, 4)) };
  const paragraphs = splitLines(asText(at(bound, 0), "wordwrap"), false);
  const wrapped = paragraphs.map((paragraph) => transformText(paragraph, (line) => wrapLine(line, options).join(plainText(separator))));
  return joinTexts(wrapped, separator);
};

const wordCount: Builtin = (runtime, positional, keywords) => {
  const [value = null] = bindArguments("do_wordcount", [["s"]], positional, keywords);
  return BigInt(plainText(softText(value, runtime)).match(/[\p{L}\p{N}\p{M}_]+/gu)?.length ?? 0);
};

const center: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_center", [["value"], ["width", 80n]], positional, keywords);
  const text = softText(at(bound, 0), runtime);
  const width = asIndex(at(bound, 1));
  runtime.effort.spendText(width);
  const [before, after] = centered(Math.max(0, width - textLength(text)), width);
  return concatTexts([" ".repeat(before), text, " ".repeat(after)]);
};

const format: Builtin = (runtime, [value = null, ...rest], keywords) => {
  if (rest.length > 0 && keywords.size > 0)
    throw new TemplateError("FilterArgumentError", "can't handle positional and keyword arguments at the same time");
  return formatPercent(softText(value, runtime), keywords.size > 0 ? Dict.of(keywords) : new Tuple(rest), runtime.effort);
};

const quoted = /[^A-Za-z0-9_.~-]/gu;

function percentEncode(plain: string, keepSlash: boolean): string {
  return plain.replace(quoted, (character) => {
    if (character === "/" && keepSlash) return character;
    return [...new TextEncoder().encode(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
  });
}

function pairOf(value: Value): readonly [Value, Value] {
  const items = isList(value) ? value : [...iterate(value)];
  const [key, item] = items;
  if (items.length !== 2 || key === undefined || item === undefined)
    throw new TemplateError("ValueError", `not enough values to unpack (expected 2, got ${items.length})`);
  return [key, item];
}

const urlEncode: Builtin = (runtime, positional, keywords) => {
  const [value = null] = bindArguments("do_urlencode", [["value"]], positional, keywords);
  if (isText(value) || value === null || asNumber(value) !== null)
    return transformText(softText(value, runtime), (plain) => percentEncode(plain, true));
  const pairs = value instanceof Dict ? [...value.items()] : [...iterate(value)].map(pairOf);
  const part = (item: Value): Text => transformText(softText(item, runtime), (plain) => percentEncode(plain, false).replaceAll("%20", "+"));
  const texts = pairs.map(([key, item]) => concatTexts([part(key), "=", part(item)]));
  return joinTexts(texts, "&");
};

export const textFilters: readonly (readonly [string, Builtin])[] = [
  transforming("upper", (plain) => plain.toUpperCase()),
  transforming("lower", (plain) => plain.toLowerCase()),
  transforming("capitalize", capitalize),
  transforming("title", titleWords),
  ["trim", trim],
  ["replace", replace],
  ["indent", indent],
  ["truncate", truncate],
  ["wordwrap", wordWrap],
  ["wordcount", wordCount],
  ["center", center],
  ["format", format],
  ["urlencode", urlEncode],
  ["string", (runtime, positional, keywords) => softText(at(bindArguments("soft_str", [["s"]], positional, keywords), 0), runtime)],
];
