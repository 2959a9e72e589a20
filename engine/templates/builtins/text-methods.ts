/** The methods of `str`. */

import { TemplateError } from "../template-error.ts";
import { asNumber } from "../values/comparison.ts";
import { codePointIndex, concatTexts, isSpace, isText, plainText, sliceText, type Text, textLength, transformText } from "../values/text.ts";
import { capitalize, characterTests, foldCase, isLower, isTitle, isUpper, swapCase, titleCase } from "../values/text-case.ts";
import {
  countOccurrences,
  joinTexts,
  replaceText,
  searchRange,
  splitAtSpace,
  splitAtSpaceFromEnd,
  splitLines,
  splitText,
  splitTextFromEnd,
  stripText,
} from "../values/text-search.ts";
import { Dict, iterate, Tuple, truthy, typeName, type Value } from "../values/values.ts";
import { formatBraces } from "./brace-format.ts";
import type { Builtin, Runtime } from "./runtime.ts";
import { asIndex, asText, at, bindArguments, type ParameterSpec } from "./signature.ts";

type Method = (text: Text, bound: readonly Value[], runtime: Runtime) => Value;

function subject(positional: readonly Value[]): Text {
  const text = positional[0] ?? "";
  return isText(text) ? text : "";
}

function method(name: string, parameters: readonly ParameterSpec[], body: Method): readonly [string, Builtin] {
  return [
    name,
    (runtime, positional, keywords) => {
      const text = subject(positional);
      runtime.effort.spendText(plainText(text).length);
      return body(text, bindArguments(`str.${name}`, parameters, positional.slice(1), keywords), runtime);
    },
  ];
}

function changed(name: string, change: (plain: string) => string): readonly [string, Builtin] {
  return method(name, [], (text) => transformText(text, change));
}

function tested(name: string, test: (plain: string) => boolean): readonly [string, Builtin] {
  return method(name, [], (text) => test(plainText(text)));
}

function stripped(name: string, atStart: boolean, atEnd: boolean): readonly [string, Builtin] {
  return method(name, [["chars", null]], (text, bound) => {
    const chars = at(bound, 0);
    return stripText(text, chars === null ? null : plainText(asText(chars, `str.${name}`)), atStart, atEnd);
  });
}

function split(name: "split" | "rsplit"): readonly [string, Builtin] {
  const parameters: readonly ParameterSpec[] = [
    ["sep", null],
    ["maxsplit", -1n],
  ];
  return method(name, parameters, (text, bound) => {
    const limit = asIndex(at(bound, 1));
    const separator = at(bound, 0);
    if (separator === null) return name === "split" ? splitAtSpace(text, limit) : splitAtSpaceFromEnd(text, limit);
    const plain = plainText(asText(separator, `str.${name}`));
    if (plain === "") throw new TemplateError("ValueError", "empty separator");
    return name === "split" ? splitText(text, plain, limit) : splitTextFromEnd(text, plain, limit);
  });
}

function partition(name: "partition" | "rpartition"): readonly [string, Builtin] {
  return method(name, [["sep"]], (text, bound) => {
    const separator = plainText(asText(at(bound, 0), `str.${name}`));
    if (separator === "") throw new TemplateError("ValueError", "empty separator");
    const plain = plainText(text);
    const found = name === "partition" ? plain.indexOf(separator) : plain.lastIndexOf(separator);
    if (found < 0) return new Tuple(name === "partition" ? [text, "", ""] : ["", "", text]);
    const end = found + separator.length;
    return new Tuple([sliceText(text, 0, found), sliceText(text, found, end), sliceText(text, end, plain.length)]);
  });
}

const rangeParameters: readonly ParameterSpec[] = [["sub"], ["start", null], ["end", null]];

function optionalIndex(value: Value): number | null {
  return value === null ? null : asIndex(value);
}

function affix(name: "startswith" | "endswith"): readonly [string, Builtin] {
  return method(name, rangeParameters, (text, bound) => {
    const range = searchRange(text, optionalIndex(at(bound, 1)), optionalIndex(at(bound, 2)));
    if (range === null) return false;
    const part = plainText(text).slice(range.start, range.end);
    const wanted = at(bound, 0);
    const options = wanted instanceof Tuple ? wanted.items : [wanted];
    return options.some((option) => {
      if (!isText(option)) throw new TemplateError("TypeError", `${name} first arg must be str or a tuple of str, not ${typeName(option)}`);
      return name === "startswith" ? part.startsWith(plainText(option)) : part.endsWith(plainText(option));
    });
  });
}

/** Code point index of the first or last occurrence in the range; -1 for none. */
function findIn(text: Text, bound: readonly Value[], last: boolean, name: string): number {
  const needle = plainText(asText(at(bound, 0), `str.${name}`));
  const range = searchRange(text, optionalIndex(at(bound, 1)), optionalIndex(at(bound, 2)));
  if (range === null) return -1;
  const plain = plainText(text);
  const part = plain.slice(range.start, range.end);
  const found = last ? part.lastIndexOf(needle) : part.indexOf(needle);
  return found < 0 ? -1 : codePointIndex(plain, range.start + found);
}

function finder(name: string, last: boolean, mustExist: boolean): readonly [string, Builtin] {
  return method(name, rangeParameters, (text, bound) => {
    const index = findIn(text, bound, last, name);
    if (index < 0 && mustExist) throw new TemplateError("ValueError", "substring not found");
    return BigInt(index);
  });
}

function padded(name: string, pad: (missing: number, width: number) => readonly [number, number]): readonly [string, Builtin] {
  const parameters: readonly ParameterSpec[] = [["width"], ["fillchar", " "]];
  return method(name, parameters, (text, bound, runtime) => {
    const width = asIndex(at(bound, 0));
    const fill = asText(at(bound, 1), `str.${name}`);
    if (textLength(fill) !== 1) throw new TemplateError("TypeError", "The fill character must be exactly one character long");
    const missing = width - textLength(text);
    if (missing <= 0) return text;
    runtime.effort.spendText(width);
    const [before, after] = pad(missing, width);
    return concatTexts([plainText(fill).repeat(before), text, plainText(fill).repeat(after)]);
  });
}

/** Where Python's `center` puts the odd space. */
export function centered(missing: number, width: number): readonly [number, number] {
  const left = Math.floor(missing / 2) + (missing & width & 1);
  return [left, missing - left];
}

const zfill: Method = (text, bound, runtime) => {
  const missing = asIndex(at(bound, 0)) - textLength(text);
  if (missing <= 0) return text;
  runtime.effort.spendText(missing);
  const signLength = /^[-+]/.test(plainText(text)) ? 1 : 0;
  return concatTexts([sliceText(text, 0, signLength), "0".repeat(missing), sliceText(text, signLength, plainText(text).length)]);
};

const join: Method = (text, bound, runtime) => {
  const parts: Text[] = [];
  for (const item of iterate(at(bound, 0))) {
    if (!isText(item)) throw new TemplateError("TypeError", `sequence item ${parts.length}: expected str instance, ${typeName(item)} found`);
    runtime.effort.spendText(plainText(item).length);
    parts.push(item);
  }
  return joinTexts(parts, text);
};

const count: Method = (text, bound) => {
  const range = searchRange(text, optionalIndex(at(bound, 1)), optionalIndex(at(bound, 2)));
  if (range === null) return 0n;
  const needle = plainText(asText(at(bound, 0), "str.count"));
  return BigInt(countOccurrences(plainText(text).slice(range.start, range.end), needle));
};

const replace: Method = (text, bound) => {
  const limit = asNumber(at(bound, 2));
  return replaceText(text, plainText(asText(at(bound, 0), "str.replace")), asText(at(bound, 1), "str.replace"), Number(limit ?? -1n));
};

const expandTabs: Method = (text, bound) => {
  const size = asIndex(at(bound, 0));
  let column = 0;
  const expanded = [...plainText(text)].map((character) => {
    if (character !== "\t") {
      column = character === "\n" || character === "\r" ? 0 : column + 1;
      return character;
    }
    const width = size <= 0 ? 0 : size - (column % size);
    column += width;
    return " ".repeat(width);
  });
  return transformText(text, (part) => (part === plainText(text) ? expanded.join("") : part));
};

export const textMethods: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  changed("upper", (plain) => plain.toUpperCase()),
  changed("lower", (plain) => plain.toLowerCase()),
  changed("casefold", foldCase),
  changed("capitalize", capitalize),
  changed("title", titleCase),
  changed("swapcase", swapCase),
  tested("isupper", isUpper),
  tested("islower", isLower),
  tested("istitle", isTitle),
  tested("isspace", (plain) => plain !== "" && [...plain].every(isSpace)),
  tested("isascii", (plain) => !/[^\0-\x7f]/.test(plain)),
  tested("isprintable", (plain) => !/[\p{C}\p{Z}]/u.test(plain.replaceAll(" ", ""))),
  ...Object.entries(characterTests).map(([name, pattern]) => tested(name, (plain) => pattern.test(plain))),
  stripped("strip", true, true),
  stripped("lstrip", true, false),
  stripped("rstrip", false, true),
  split("split"),
  split("rsplit"),
  partition("partition"),
  partition("rpartition"),
  affix("startswith"),
  affix("endswith"),
  finder("find", false, false),
  finder("rfind", true, false),
  finder("index", false, true),
  finder("rindex", true, true),
  padded("center", centered),
  padded("ljust", (missing) => [0, missing]),
  padded("rjust", (missing) => [missing, 0]),
  method("splitlines", [["keepends", false]], (text, bound) => splitLines(text, truthy(at(bound, 0)))),
  method("zfill", [["width"]], zfill),
  method("join", [["iterable"]], join),
  method("count", rangeParameters, count),
  method("replace", [["old"], ["new"], ["count", -1n]], replace),
  method("expandtabs", [["tabsize", 8n]], expandTabs),
  method("removeprefix", [["prefix"]], (text, bound) => {
    const prefix = plainText(asText(at(bound, 0), "str.removeprefix"));
    return plainText(text).startsWith(prefix) ? sliceText(text, prefix.length, plainText(text).length) : text;
  }),
  method("removesuffix", [["suffix"]], (text, bound) => {
    const suffix = plainText(asText(at(bound, 0), "str.removesuffix"));
    const plain = plainText(text);
    return suffix !== "" && plain.endsWith(suffix) ? sliceText(text, 0, plain.length - suffix.length) : text;
  }),
  ["format", (runtime, positional, keywords) => formatBraces(subject(positional), positional.slice(1), keywords, runtime)],
  method("format_map", [["mapping"]], (text, bound, runtime) => {
    const mapping = at(bound, 0);
    if (!(mapping instanceof Dict)) throw new TemplateError("TypeError", "format_map() argument must be a mapping");
    const named = new Map([...mapping.items()].flatMap(([key, value]) => (isText(key) ? [[plainText(key), value] as const] : [])));
    return formatBraces(text, [], named, runtime);
  }),
]);
