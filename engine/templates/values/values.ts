/**
 * The values of the template language: Python's. An int is a `bigint`, a float a `number`, a list an array.
 * All are immutable, as in the reference's sandbox; only namespaces can be written to.
 */
import { TemplateError } from "../template-error.ts";
import { characters, isText, MarkedText, plainText, type Text, textLength } from "./text.ts";

export type Value = null | boolean | bigint | number | Text | readonly Value[] | Tuple | Dict | DictView | Range | Lazy | Undefined | TemplateObject;
export type Keywords = ReadonlyMap<string, Value>;

export class Tuple {
  readonly items: readonly Value[];
  /** Names of a named tuple's places (`groupby`). */
  readonly names: readonly string[];
  constructor(items: readonly Value[], names: readonly string[] = []) {
    this.items = items;
    this.names = names;
  }
}

/** Keys that are equal in Python (`1`, `1.0`, `True`) are one key; the first spelling stays. */
export class Dict {
  readonly #entries = new Map<unknown, readonly [Value, Value]>();

  static of(entries: Iterable<readonly [Value, Value]>): Dict {
    const result = new Dict();
    for (const [key, value] of entries) result.put(key, value);
    return result;
  }

  /** Only while the dictionary is being built. */
  put(key: Value, value: Value): void {
    const hash = hashKey(key);
    const known = this.#entries.get(hash);
    this.#entries.set(hash, [known === undefined ? key : known[0], value]);
  }

  get size(): number {
    return this.#entries.size;
  }
  get(key: Value): Value | undefined {
    return this.#entries.get(hashKey(key))?.[1];
  }
  has(key: Value): boolean {
    return this.#entries.has(hashKey(key));
  }
  items(): Iterable<readonly [Value, Value]> {
    return this.#entries.values();
  }
  *keys(): Generator<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }
  *values(): Generator<Value> {
    for (const [, value] of this.#entries.values()) yield value;
  }
}

export class DictView {
  readonly kind: "dict_keys" | "dict_values" | "dict_items";
  readonly dict: Dict;
  constructor(kind: DictView["kind"], dict: Dict) {
    this.kind = kind;
    this.dict = dict;
  }
  *[Symbol.iterator](): Generator<Value> {
    if (this.kind === "dict_keys") yield* this.dict.keys();
    else if (this.kind === "dict_values") yield* this.dict.values();
    else for (const entry of this.dict.items()) yield new Tuple(entry);
  }
}

export class Range {
  readonly start: bigint;
  readonly stop: bigint;
  readonly step: bigint;
  readonly length: number;
  constructor(start: bigint, stop: bigint, step: bigint) {
    this.start = start;
    this.stop = stop;
    this.step = step;
    const span = step > 0n ? stop - start : start - stop;
    const size = step > 0n ? step : -step;
    this.length = span <= 0n ? 0 : Number((span + size - 1n) / size);
  }
  at(index: number): bigint {
    return this.start + BigInt(index) * this.step;
  }
  *[Symbol.iterator](): Generator<Value> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }
}

/** A Python iterator: can be gone through once. */
export class Lazy {
  readonly typeName: string;
  readonly #source: Iterator<Value>;
  constructor(typeName: string, source: Iterable<Value>) {
    this.typeName = typeName;
    this.#source = source[Symbol.iterator]();
  }
  next(): IteratorResult<Value> {
    return this.#source.next();
  }
  /** Stopping early leaves the rest to be had. */
  [Symbol.iterator](): Iterator<Value> {
    return { next: () => this.next() };
  }
}

/** The absent value: prints nothing, is false, is empty; anything else fails with its message. */
export class Undefined {
  readonly message: string;
  readonly kind: "UndefinedError" | "SecurityError";
  constructor(message: string, kind: Undefined["kind"] = "UndefinedError") {
    this.message = message;
    this.kind = kind;
  }
  fail(): never {
    throw new TemplateError(this.kind, this.message);
  }
}

/** Everything else that a template can hold: functions, macros, namespaces, the loop. */
export abstract class TemplateObject {
  abstract readonly typeName: string;
  abstract readonly callable: boolean;
  abstract readonly printed: string;
  attribute(_name: string): Value | undefined {
    return undefined;
  }
  call(_positional: readonly Value[], _keywords: Keywords): Value {
    throw new TemplateError("TypeError", `'${this.typeName}' object is not callable`);
  }
}

/** A function or a bound method. */
export class Callable extends TemplateObject {
  readonly typeName: string;
  readonly callable = true;
  readonly printed: string;
  readonly #body: (positional: readonly Value[], keywords: Keywords) => Value;
  constructor(name: string, body: (positional: readonly Value[], keywords: Keywords) => Value, typeName = "function") {
    super();
    this.typeName = typeName;
    this.printed = `<${typeName} ${name}>`;
    this.#body = body;
  }
  override call(positional: readonly Value[], keywords: Keywords): Value {
    return this.#body(positional, keywords);
  }
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function typeName(value: Value): string {
  if (value === null) return "NoneType";
  if (isText(value)) return value instanceof MarkedText && value.safe ? "Markup" : "str";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "float";
  if (isList(value)) return "list";
  if (value instanceof Tuple) return "tuple";
  if (value instanceof Dict) return "dict";
  if (value instanceof DictView) return value.kind;
  if (value instanceof Range) return "range";
  if (value instanceof Undefined) return "Undefined";
  return value.typeName;
}

/** One primitive (or the object itself) per equality class of hashable values. */
export function hashKey(key: Value): unknown {
  if (isText(key)) return `s${plainText(key)}`;
  if (typeof key === "boolean") return key ? "n1" : "n0";
  if (typeof key === "bigint") return `n${key}`;
  if (typeof key === "number") return Number.isInteger(key) ? `n${BigInt(key)}` : `f${key}`;
  if (key === null) return "none";
  if (key instanceof Undefined) return "undefined";
  if (key instanceof Tuple) return `t${JSON.stringify(key.items.map((item) => String(hashKey(item))))}`;
  if (isList(key) || key instanceof Dict || key instanceof DictView) throw new TemplateError("TypeError", `unhashable type: '${typeName(key)}'`);
  return key;
}

/** What Python's `iter()` gives. Throws TypeError for what cannot be iterated. */
export function iterate(value: Value): Iterable<Value> {
  if (isList(value)) return value;
  if (isText(value)) return characters(value);
  if (value instanceof Tuple) return value.items;
  if (value instanceof Dict) return value.keys();
  if (value instanceof DictView || value instanceof Range || value instanceof Lazy) return value;
  if (value instanceof Undefined) return [];
  throw new TemplateError("TypeError", `'${typeName(value)}' object is not iterable`);
}

export function isIterable(value: Value): boolean {
  return (
    isList(value) ||
    isText(value) ||
    value instanceof Tuple ||
    value instanceof Dict ||
    value instanceof DictView ||
    value instanceof Range ||
    value instanceof Lazy ||
    value instanceof Undefined
  );
}

/** What Python's `len()` gives, or null where there is none. */
export function lengthOf(value: Value): number | null {
  if (isText(value)) return textLength(value);
  if (isList(value)) return value.length;
  if (value instanceof Tuple) return value.items.length;
  if (value instanceof Dict) return value.size;
  if (value instanceof DictView) return value.dict.size;
  if (value instanceof Range) return value.length;
  if (value instanceof Undefined) return 0;
  return null;
}

export function truthy(value: Value): boolean {
  if (typeof value === "boolean") return value;
  if (value === null) return false;
  if (typeof value === "bigint") return value !== 0n;
  if (typeof value === "number") return value !== 0;
  if (isText(value)) return plainText(value) !== "";
  return lengthOf(value) !== 0;
}
