/** `json.dumps` of template values, with the marks of the strings inside kept. */
import { dumpJson, type JsonWriteOptions } from "../../json/index.ts";
import { TemplateError } from "../template-error.ts";
import { orderOf } from "./comparison.ts";
import type { Effort } from "./limits.ts";
import { concatTexts, isText, plainText, type Text, transformText } from "./text.ts";
import { Dict, isList, Tuple, typeName, type Value } from "./values.ts";

export interface JsonLayout {
  readonly indent: string | null;
  readonly item: string;
  readonly colon: string;
  readonly ensureAscii: boolean;
  readonly sortKeys: boolean;
}

export function jsonText(value: Value, layout: JsonLayout, effort: Effort): Text {
  const parts: Text[] = [];
  write(value, layout, 0, parts, effort);
  return concatTexts(parts);
}

function write(value: Value, layout: JsonLayout, depth: number, parts: Text[], effort: Effort): void {
  effort.spend(4);
  if (isText(value)) parts.push('"', stringInside(value, layout, effort), '"');
  else if (value === null || typeof value === "boolean" || typeof value === "bigint" || typeof value === "number") parts.push(dumpJson(value));
  else if (isList(value)) writeItems(value, layout, depth, parts, effort);
  else if (value instanceof Tuple) writeItems(value.items, layout, depth, parts, effort);
  else if (value instanceof Dict) writeEntries(value, layout, depth, parts, effort);
  else throw new TemplateError("TypeError", `Object of type ${typeName(value)} is not JSON serializable`);
}

function stringInside(value: Text, layout: JsonLayout, effort: Effort): Text {
  effort.spendText(plainText(value).length);
  const options: JsonWriteOptions = { ensureAscii: layout.ensureAscii };
  return transformText(value, (part) => dumpJson(part, options).slice(1, -1));
}

function lineBreak(layout: JsonLayout, depth: number): string {
  return layout.indent === null ? "" : `\n${layout.indent.repeat(depth)}`;
}

function writeItems(items: readonly Value[], layout: JsonLayout, depth: number, parts: Text[], effort: Effort): void {
  if (items.length === 0) {
    parts.push("[]");
    return;
  }
  const before = lineBreak(layout, depth + 1);
  items.forEach((item, index) => {
    parts.push(index === 0 ? `[${before}` : layout.item + before);
    write(item, layout, depth + 1, parts, effort);
  });
  parts.push(`${lineBreak(layout, depth)}]`);
}

function writeEntries(value: Dict, layout: JsonLayout, depth: number, parts: Text[], effort: Effort): void {
  if (value.size === 0) {
    parts.push("{}");
    return;
  }
  const entries = [...value.items()];
  if (layout.sortKeys) entries.sort(([left], [right]) => orderOf(left, right, "<", effort));
  const before = lineBreak(layout, depth + 1);
  entries.forEach(([key, item], index) => {
    parts.push(index === 0 ? `{${before}` : layout.item + before, '"', stringInside(keyText(key), layout, effort), `"${layout.colon}`);
    write(item, layout, depth + 1, parts, effort);
  });
  parts.push(`${lineBreak(layout, depth)}}`);
}

function keyText(key: Value): Text {
  if (isText(key)) return key;
  if (key === null || typeof key === "boolean" || typeof key === "bigint" || typeof key === "number") return dumpJson(key);
  throw new TemplateError("TypeError", `keys must be str, int, float, bool or None, not ${typeName(key)}`);
}
