/** Filters of lists and dictionaries. */

import { TemplateError } from "../template-error.ts";
import { compare, equal, orderOf } from "../values/comparison.ts";
import { textOf } from "../values/printing.ts";
import { characters, concatTexts, isText, plainText, type Text, transformText } from "../values/text.ts";
import { joinTexts } from "../values/text-search.ts";
import { Dict, DictView, hashKey, isList, iterate, Lazy, lengthOf, Range, Tuple, truthy, typeName, Undefined, type Value } from "../values/values.ts";
import { attributeGetter, attributesGetter } from "./attribute-path.ts";
import type { Builtin, Runtime } from "./runtime.ts";
import { asIndex, at, bindArguments } from "./signature.ts";

function ignoreCase(value: Value): Value {
  return isText(value) ? transformText(value, (plain) => plain.toLowerCase()) : value;
}

function collect(value: Value, runtime: Runtime): Value[] {
  const items: Value[] = [];
  for (const item of iterate(value)) {
    runtime.effort.spend();
    items.push(item);
  }
  return items;
}

/** Stable, as Python's `sorted`; with `reverse` equal items keep their order too. */
function sorted<T>(items: readonly T[], key: (item: T) => Value, reverse: Value, runtime: Runtime): T[] {
  const keyed = items.map((item) => ({ item, key: key(item) }));
  const direction = asIndex(reverse) === 0 ? 1 : -1;
  return keyed.sort((left, right) => direction * orderOf(left.key, right.key, "<", runtime.effort)).map(({ item }) => item);
}

const join: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_join", [["value"], ["d", ""], ["attribute", null]], positional, keywords);
  const get = attributeGetter(at(bound, 2), runtime);
  const parts: Text[] = [];
  for (const item of iterate(at(bound, 0))) {
    const part = textOf(get(item), runtime.effort);
    runtime.effort.spendText(plainText(part).length);
    parts.push(part);
  }
  return joinTexts(parts, textOf(at(bound, 1), runtime.effort));
};

const first: Builtin = (_runtime, positional, keywords) => {
  const [sequence] = bindArguments("do_first", [["seq"]], positional, keywords);
  for (const item of iterate(sequence ?? null)) return item;
  return new Undefined("No first item, sequence was empty.");
};

/** The items from the end, or null for what Python's `reversed` refuses. */
function reversedItems(value: Value): Value[] | null {
  if (isText(value)) return characters(value).reverse();
  if (isList(value)) return [...value].reverse();
  if (value instanceof Tuple) return [...value.items].reverse();
  if (value instanceof Dict || value instanceof DictView || value instanceof Range) return [...iterate(value)].reverse();
  return value instanceof Undefined ? [] : null;
}

const last: Builtin = (_runtime, positional, keywords) => {
  const [sequence = null] = bindArguments("do_last", [["seq"]], positional, keywords);
  const items = reversedItems(sequence);
  if (items === null) throw new TemplateError("TypeError", `'${typeName(sequence)}' object is not reversible`);
  const [item] = items;
  return item === undefined ? new Undefined("No last item, sequence was empty.") : item;
};

const reverse: Builtin = (runtime, positional, keywords) => {
  const [value = null] = bindArguments("do_reverse", [["value"]], positional, keywords);
  if (isText(value)) return concatTexts(characters(value).reverse());
  const items = reversedItems(value);
  return items === null ? collect(value, runtime).reverse() : new Lazy("list_reverseiterator", items);
};

const length: Builtin = (_runtime, positional, keywords) => {
  const [value = null] = bindArguments("len", [["obj"]], positional, keywords);
  const size = lengthOf(value);
  if (size === null) throw new TemplateError("TypeError", `object of type '${typeName(value)}' has no len()`);
  return BigInt(size);
};

const list: Builtin = (runtime, positional, keywords) => collect(at(bindArguments("do_list", [["value"]], positional, keywords), 0), runtime);

const items: Builtin = (_runtime, positional, keywords) => {
  const [value = null] = bindArguments("do_items", [["value"]], positional, keywords);
  if (value instanceof Undefined) return new Lazy("generator", []);
  if (!(value instanceof Dict)) throw new TemplateError("TypeError", "Can only get item pairs from a mapping.");
  return new Lazy("generator", new DictView("dict_items", value));
};

const sort: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_sort", [["value"], ["reverse", false], ["case_sensitive", false], ["attribute", null]], positional, keywords);
  const get = attributesGetter(at(bound, 3), runtime);
  const fold = truthy(at(bound, 2)) ? (value: Value) => value : ignoreCase;
  return sorted(collect(at(bound, 0), runtime), (item) => get(item).map(fold), at(bound, 1), runtime);
};

const dictSort: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_dictsort", [["value"], ["case_sensitive", false], ["by", "key"], ["reverse", false]], positional, keywords);
  const [value, by] = [at(bound, 0), at(bound, 2)];
  const place = isText(by) ? ["key", "value"].indexOf(plainText(by)) : -1;
  if (place < 0) throw new TemplateError("FilterArgumentError", 'You can only sort by either "key" or "value"');
  if (value instanceof Undefined) value.fail();
  if (!(value instanceof Dict)) throw new TemplateError("AttributeError", `'${typeName(value)}' object has no attribute 'items'`);
  const fold = truthy(at(bound, 1)) ? (key: Value) => key : ignoreCase;
  return sorted([...value.items()], (entry) => fold(entry[place] ?? null), at(bound, 3), runtime).map((entry) => new Tuple(entry));
};

const unique: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_unique", [["value"], ["case_sensitive", false], ["attribute", null]], positional, keywords);
  const get = attributeGetter(at(bound, 2), runtime);
  const fold = truthy(at(bound, 1)) ? (value: Value) => value : ignoreCase;
  return new Lazy(
    "generator",
    uniqueItems(at(bound, 0), (item) => hashKey(fold(get(item)))),
  );
};

function* uniqueItems(value: Value, key: (item: Value) => unknown): Generator<Value> {
  const seen = new Set<unknown>();
  for (const item of iterate(value)) {
    const hash = key(item);
    if (seen.has(hash)) continue;
    seen.add(hash);
    yield item;
  }
}

function extreme(name: "min" | "max"): Builtin {
  return (runtime, positional, keywords) => {
    const bound = bindArguments(`do_${name}`, [["value"], ["case_sensitive", false], ["attribute", null]], positional, keywords);
    const get = attributeGetter(at(bound, 2), runtime);
    const fold = truthy(at(bound, 1)) ? (value: Value) => value : ignoreCase;
    const operator = name === "min" ? "<" : ">";
    let best: { item: Value; key: Value } | null = null;
    for (const item of iterate(at(bound, 0))) {
      const key = fold(get(item));
      if (best === null || compare(key, operator, best.key, runtime.effort)) best = { item, key };
    }
    return best === null ? new Undefined("No aggregated item, sequence was empty.") : best.item;
  };
}

const groupBy: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_groupby", [["value"], ["attribute"], ["default", null], ["case_sensitive", false]], positional, keywords);
  const get = attributeGetter(at(bound, 1), runtime, at(bound, 2));
  const fold = truthy(at(bound, 3)) ? (value: Value) => value : ignoreCase;
  const groups: { key: Value; label: Value; items: Value[] }[] = [];
  for (const item of sorted(collect(at(bound, 0), runtime), (candidate) => fold(get(candidate)), false, runtime)) {
    const label = get(item);
    const key = fold(label);
    const group = groups.at(-1);
    if (group !== undefined && equal(group.key, key, runtime.effort)) group.items.push(item);
    else groups.push({ key, label, items: [item] });
  }
  return groups.map(({ label, items: members }) => new Tuple([label, members], ["grouper", "list"]));
};

const batch: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_batch", [["value"], ["linecount"], ["fill_with", null]], positional, keywords);
  const [size, fill] = [asIndex(at(bound, 1)), at(bound, 2)];
  const batches: Value[][] = [];
  for (const item of collect(at(bound, 0), runtime)) {
    const open = batches.at(-1);
    if (open === undefined || open.length === size) batches.push([item]);
    else open.push(item);
  }
  const short = batches.at(-1);
  while (fill !== null && short !== undefined && short.length < size) {
    runtime.effort.spend();
    short.push(fill);
  }
  return new Lazy("generator", batches);
};

const slice: Builtin = (runtime, positional, keywords) => {
  const bound = bindArguments("do_slice", [["value"], ["slices"], ["fill_with", null]], positional, keywords);
  const all = collect(at(bound, 0), runtime);
  const [count, fill] = [asIndex(at(bound, 1)), at(bound, 2)];
  if (count === 0) throw new TemplateError("ZeroDivisionError", "integer division or modulo by zero");
  runtime.effort.spend(Math.max(0, count));
  const size = Math.floor(all.length / count);
  const withExtra = all.length % count;
  const slices = Array.from({ length: Math.max(0, count) }, (_, number) => {
    const start = number * size + Math.min(number, withExtra);
    const part = all.slice(start, start + size + (number < withExtra ? 1 : 0));
    return fill !== null && number >= withExtra ? [...part, fill] : part;
  });
  return new Lazy("generator", slices);
};

export const sequenceFilters: readonly (readonly [string, Builtin])[] = [
  ["join", join],
  ["first", first],
  ["last", last],
  ["reverse", reverse],
  ["length", length],
  ["count", length],
  ["list", list],
  ["items", items],
  ["sort", sort],
  ["dictsort", dictSort],
  ["unique", unique],
  ["min", extreme("min")],
  ["max", extreme("max")],
  ["groupby", groupBy],
  ["batch", batch],
  ["slice", slice],
];
