/** Filters that call filters and tests by name on each item: map, select, reject and their kin. */

import { TemplateError } from "../template-error.ts";
import { isText, plainText } from "../values/text.ts";
import { iterate, type Keywords, Lazy, truthy, type Value } from "../values/values.ts";
import { attributeGetter } from "./attribute-path.ts";
import type { Builtin, Runtime } from "./runtime.ts";

function nameOf(value: Value): string {
  return isText(value) ? plainText(value) : "";
}

function mapper(runtime: Runtime, positional: readonly Value[], keywords: Keywords): (item: Value) => Value {
  if (positional.length === 0 && keywords.has("attribute")) {
    const unknown = [...keywords.keys()].find((name) => name !== "attribute" && name !== "default");
    if (unknown !== undefined) throw new TemplateError("FilterArgumentError", `Unexpected keyword argument '${unknown}'`);
    return attributeGetter(keywords.get("attribute") ?? null, runtime, keywords.get("default") ?? null);
  }
  const [filter, ...rest] = positional;
  if (filter === undefined) throw new TemplateError("FilterArgumentError", "map requires a filter argument");
  return (item) => runtime.filter(nameOf(filter), item, rest, keywords);
}

function* mapped(value: Value, make: () => (item: Value) => Value, runtime: Runtime): Generator<Value> {
  if (!truthy(value)) return;
  const change = make();
  for (const item of iterate(value)) {
    runtime.effort.spend();
    yield change(item);
  }
}

const map: Builtin = (runtime, [value = null, ...rest], keywords) =>
  new Lazy(
    "generator",
    mapped(value, () => mapper(runtime, rest, keywords), runtime),
  );

function selector(runtime: Runtime, positional: readonly Value[], keywords: Keywords, byAttribute: boolean): (item: Value) => boolean {
  const [attribute] = positional;
  if (byAttribute && attribute === undefined) throw new TemplateError("FilterArgumentError", "Missing parameter for attribute name");
  const get = byAttribute ? attributeGetter(attribute ?? null, runtime) : (item: Value) => item;
  const [test, ...rest] = byAttribute ? positional.slice(1) : positional;
  if (test === undefined) return (item) => truthy(get(item));
  return (item) => runtime.test(nameOf(test), get(item), rest, keywords);
}

function* selected(value: Value, make: () => (item: Value) => boolean, wanted: boolean, runtime: Runtime): Generator<Value> {
  if (!truthy(value)) return;
  const test = make();
  for (const item of iterate(value)) {
    runtime.effort.spend();
    if (test(item) === wanted) yield item;
  }
}

function selection(byAttribute: boolean, wanted: boolean): Builtin {
  return (runtime, [value = null, ...rest], keywords) =>
    new Lazy(
      "generator",
      selected(value, () => selector(runtime, rest, keywords, byAttribute), wanted, runtime),
    );
}

export const selectionFilters: readonly (readonly [string, Builtin])[] = [
  ["map", map],
  ["select", selection(false, true)],
  ["reject", selection(false, false)],
  ["selectattr", selection(true, true)],
  ["rejectattr", selection(true, false)],
];
