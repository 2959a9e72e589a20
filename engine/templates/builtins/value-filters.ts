/** Filters of any value: default, attr, JSON, HTML. */

import { TemplateError } from "../template-error.ts";
import { jsonText } from "../values/json-text.ts";
import { reprOf, textOf } from "../values/printing.ts";
import { asSafe, escapeHtml } from "../values/safe-text.ts";
import { concatTexts, isText, MarkedText, plainText, type Text, transformText } from "../values/text.ts";
import { Dict, iterate, truthy, typeName, Undefined, type Value } from "../values/values.ts";
import { attributeOnly } from "./attributes.ts";
import type { Builtin } from "./runtime.ts";
import { asIndex, asText, at, bindArguments } from "./signature.ts";

const defaultTo: Builtin = (_runtime, positional, keywords) => {
  const bound = bindArguments("do_default", [["value"], ["default_value", ""], ["boolean", false]], positional, keywords);
  const value = at(bound, 0);
  return value instanceof Undefined || (truthy(at(bound, 2)) && !truthy(value)) ? at(bound, 1) : value;
};

/** The reference's own `tojson`: nothing escaped for HTML. */
const toJson: Builtin = ({ effort }, positional, keywords) => {
  const bound = bindArguments(
    "tojson",
    [["x"], ["ensure_ascii", false], ["indent", null], ["separators", null], ["sort_keys", false]],
    positional,
    keywords,
  );
  const indent = indentText(at(bound, 2));
  const [item = indent === null ? ", " : ",", colon = ": "] = separatorTexts(at(bound, 3));
  return jsonText(at(bound, 0), { indent, item, colon, ensureAscii: truthy(at(bound, 1)), sortKeys: truthy(at(bound, 4)) }, effort);
};

function indentText(value: Value): string | null {
  if (value === null) return null;
  if (isText(value)) return plainText(value);
  return " ".repeat(Math.max(0, Math.min(asIndex(value), 10_000)));
}

function separatorTexts(value: Value): readonly string[] {
  if (value === null) return [];
  const parts = [...iterate(value)].map((part) => plainText(asText(part, "separators")));
  if (parts.length !== 2) throw new TemplateError("ValueError", `expected two separators, got ${parts.length}`);
  return parts;
}

function isSafe(value: Value): boolean {
  return value instanceof MarkedText && value.safe;
}

const escapeFilter: Builtin = ({ effort }, positional, keywords) => {
  const value = at(bindArguments("escape", [["s"]], positional, keywords), 0);
  return isSafe(value) ? value : asSafe(escapeHtml(textOf(value, effort)));
};

const forceEscape: Builtin = ({ effort }, positional, keywords) =>
  asSafe(escapeHtml(textOf(at(bindArguments("do_forceescape", [["value"]], positional, keywords), 0), effort)));

const safe: Builtin = ({ effort }, positional, keywords) =>
  asSafe(textOf(at(bindArguments("do_mark_safe", [["value"]], positional, keywords), 0), effort));

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Everything from an opening to the next closing taken out, in linear time. */
function withoutSpans(plain: string, opening: string, closing: string): string {
  let kept = "";
  let done = 0;
  for (let start = plain.indexOf(opening); start >= 0; start = plain.indexOf(opening, done)) {
    const end = plain.indexOf(closing, start + opening.length);
    if (end < 0) break;
    kept += plain.slice(done, start);
    done = end + closing.length;
  }
  return kept + plain.slice(done);
}

function stripTags(plain: string): string {
  const text = withoutSpans(withoutSpans(plain, "<!--", "-->"), "<", ">");
  const words = text.split(/\s+/).filter((word) => word !== "");
  return words.join(" ").replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal?: string, hex?: string, name = "") => {
    if (decimal !== undefined || hex !== undefined)
      return String.fromCodePoint(Number.parseInt(decimal ?? hex ?? "0", decimal === undefined ? 16 : 10));
    return entities[name] ?? whole;
  });
}

const stripTagsFilter: Builtin = ({ effort }, positional, keywords) =>
  transformText(textOf(at(bindArguments("do_striptags", [["value"]], positional, keywords), 0), effort), stripTags);

const attr: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_attr", [["obj"], ["name"]], positional, keywords);
  return attributeOnly(at(bound, 0), plainText(asText(at(bound, 1), "attr")), runtime);
};

const xmlAttributes: Builtin = ({ effort }, positional, keywords) => {
  const bound = bindArguments("do_xmlattr", [["d"], ["autospace", true]], positional, keywords);
  const dict = at(bound, 0);
  if (!(dict instanceof Dict)) throw new TemplateError("AttributeError", `'${typeName(dict)}' object has no attribute 'items'`);
  const parts: Text[] = [];
  for (const [key, value] of dict.items()) {
    if (value === null || value instanceof Undefined) continue;
    if (/[\s/>=]/.test(plainText(asText(key, "xmlattr"))))
      throw new TemplateError("ValueError", `Invalid character in attribute name: ${plainText(reprOf(key, effort))}`);
    if (parts.length > 0 || truthy(at(bound, 1))) parts.push(" ");
    parts.push(escapeHtml(textOf(key, effort)), '="', isSafe(value) ? textOf(value, effort) : escapeHtml(textOf(value, effort)), '"');
  }
  return concatTexts(parts);
};

/** Only what fits on one line of 80 characters: longer values are laid out there, which no chat template needs. */
const prettyPrint: Builtin = ({ effort }, positional, keywords) => {
  const printed = reprOf(at(bindArguments("do_pprint", [["value"]], positional, keywords), 0), effort);
  if (plainText(printed).length > 80) throw new TemplateError("LimitError", "pprint of values longer than one line is not supported");
  return printed;
};

export const valueFilters: readonly (readonly [string, Builtin])[] = [
  ["default", defaultTo],
  ["d", defaultTo],
  ["tojson", toJson],
  ["escape", escapeFilter],
  ["e", escapeFilter],
  ["forceescape", forceEscape],
  ["safe", safe],
  ["striptags", stripTagsFilter],
  ["attr", attr],
  ["xmlattr", xmlAttributes],
  ["pprint", prettyPrint],
];
