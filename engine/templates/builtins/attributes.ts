/**
 * `object.name` and `object[index]` as the reference's immutable sandbox resolves them: attributes before entries after a
 * dot, entries before attributes in brackets, and nothing private or changing.
 */

import { TemplateError } from "../template-error.ts";
import { equal } from "../values/comparison.ts";
import { characterAt, isPlace, itemAt } from "../values/slicing.ts";
import { isText, plainText } from "../values/text.ts";
import { Callable, Dict, DictView, isList, iterate, Range, TemplateObject, Tuple, typeName, Undefined, type Value } from "../values/values.ts";
import type { Builtin, Runtime } from "./runtime.ts";
import { asIndex, at, bindArguments } from "./signature.ts";
import { textMethods } from "./text-methods.ts";

const changingListMethods: ReadonlySet<string> = new Set(["append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"]);
const changingDictMethods: ReadonlySet<string> = new Set(["clear", "pop", "popitem", "setdefault", "update"]);
/** Attributes that every Python object has. */
const privateAttributes =
  /^__(?:class|doc|init|new|repr|str|eq|ne|lt|le|gt|ge|hash|dir|format|reduce|reduce_ex|getattribute|setattr|delattr|sizeof|subclasshook|init_subclass)__$/;

const dictMethods: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ["keys", (_runtime, positional, keywords) => view("dict_keys", positional, keywords)],
  ["values", (_runtime, positional, keywords) => view("dict_values", positional, keywords)],
  ["items", (_runtime, positional, keywords) => view("dict_items", positional, keywords)],
  [
    "get",
    (_runtime, [dict, ...rest], keywords) => {
      const bound = bindArguments("get", [["key"], ["default", null]], rest, keywords);
      const found = dict instanceof Dict ? dict.get(at(bound, 0)) : undefined;
      return found === undefined ? at(bound, 1) : found;
    },
  ],
  ["copy", (_runtime, [dict]) => dict ?? null],
  [
    "fromkeys",
    (_runtime, [, ...rest], keywords) => {
      const bound = bindArguments("fromkeys", [["iterable"], ["value", null]], rest, keywords);
      return Dict.of([...iterate(at(bound, 0))].map((key) => [key, at(bound, 1)] as const));
    },
  ],
]);

function view(kind: DictView["kind"], [dict, ...rest]: readonly Value[], keywords: ReadonlyMap<string, Value>): Value {
  bindArguments(kind.slice("dict_".length), [], rest, keywords);
  return new DictView(kind, dict instanceof Dict ? dict : new Dict());
}

function itemsOf(sequence: Value | undefined): readonly Value[] {
  return sequence instanceof Tuple ? sequence.items : sequence !== undefined && isList(sequence) ? sequence : [];
}

const sequenceMethods: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ["count", ({ effort }, [sequence, wanted = null]) => BigInt(itemsOf(sequence).filter((item) => equal(item, wanted, effort)).length)],
  [
    "index",
    ({ effort }, [sequence, wanted = null]) => {
      const index = itemsOf(sequence).findIndex((item) => equal(item, wanted, effort));
      if (index < 0) throw new TemplateError("ValueError", "value is not in list");
      return BigInt(index);
    },
  ],
  ["copy", (_runtime, [sequence = null]) => sequence],
]);

function method(owner: Value, name: string, body: Builtin, runtime: Runtime): Value {
  return new Callable(
    `${name} of ${typeName(owner)} object`,
    (positional, keywords) => body(runtime, [owner, ...positional], keywords),
    "builtin_function_or_method",
  );
}

function numberAttribute(value: bigint | number | boolean, name: string): Value | undefined {
  const number = typeof value === "boolean" ? BigInt(value) : value;
  if (name === "real") return number;
  if (name === "imag") return typeof number === "bigint" ? 0n : 0;
  if (name === "numerator" && typeof number === "bigint") return number;
  if (name === "denominator" && typeof number === "bigint") return 1n;
  if (name === "is_integer") return new Callable(name, () => typeof number === "bigint" || Number.isInteger(number), "builtin_function_or_method");
  if (name === "bit_length" && typeof number === "bigint") {
    return new Callable(name, () => BigInt(number === 0n ? 0 : (number < 0n ? -number : number).toString(2).length), "builtin_function_or_method");
  }
  return undefined;
}

/** What Python's `getattr` finds; undefined when there is no such attribute. */
function pythonAttribute(object: Value, name: string, runtime: Runtime): Value | undefined {
  if (object instanceof TemplateObject) return object.attribute(name);
  if (typeof object === "bigint" || typeof object === "number" || typeof object === "boolean") return numberAttribute(object, name);
  if (object instanceof Tuple && object.names.includes(name)) return object.items[object.names.indexOf(name)];
  if (object instanceof Range && (name === "start" || name === "stop" || name === "step")) return object[name];
  const methods = isText(object)
    ? textMethods
    : object instanceof Dict
      ? dictMethods
      : isList(object) || (object instanceof Tuple && name !== "copy")
        ? sequenceMethods
        : null;
  const body = methods?.get(name);
  return body === undefined ? undefined : method(object, name, body, runtime);
}

function isUnsafe(object: Value, name: string): boolean {
  if (privateAttributes.test(name)) return true;
  if (isList(object)) return changingListMethods.has(name);
  return object instanceof Dict && changingDictMethods.has(name);
}

function unsafe(object: Value, name: string): Undefined {
  return new Undefined(`access to attribute '${name}' of '${typeName(object)}' object is unsafe.`, "SecurityError");
}

function describe(object: Value): string {
  return object === null ? "None" : `${typeName(object)} object`;
}

function entry(object: Value, index: Value): Value | undefined {
  if (object instanceof Dict) return isHashable(index) ? object.get(index) : undefined;
  if (!isPlace(index)) return undefined;
  if (isList(object)) return itemAt(object, index);
  if (object instanceof Tuple) return itemAt(object.items, index);
  if (isText(object)) return characterAt(object, index);
  if (object instanceof Range) {
    const place = asIndex(index) < 0 ? asIndex(index) + object.length : asIndex(index);
    return place >= 0 && place < object.length ? object.at(place) : undefined;
  }
  return undefined;
}

function isHashable(key: Value): boolean {
  if (key instanceof Tuple) return key.items.every(isHashable);
  return !(isList(key) || key instanceof Dict || key instanceof DictView);
}

function attributeOrAbsent(object: Value, name: string, runtime: Runtime): Value {
  const found = pythonAttribute(object, name, runtime);
  return found === undefined ? new Undefined(`'${describe(object)}' has no attribute '${name}'`) : found;
}

export function attributeOf(object: Value, name: string, runtime: Runtime): Value {
  if (object instanceof Undefined) return privateAttributes.test(name) ? unsafe(object, name) : object.fail();
  if (isUnsafe(object, name)) return unsafe(object, name);
  const found = attributeOrAbsent(object, name, runtime);
  if (!(found instanceof Undefined)) return found;
  const kept = entry(object, name);
  return kept === undefined ? found : kept;
}

export function itemOf(object: Value, index: Value, runtime: Runtime): Value {
  if (object instanceof Undefined) object.fail();
  if (isText(object)) runtime.effort.spendText(plainText(object).length);
  const found = entry(object, index);
  if (found !== undefined) return found;
  if (!isText(index))
    return new Undefined(`${describe(object)} has no element ${index === null ? "None" : String(isPlace(index) ? index : typeName(index))}`);
  const name = plainText(index);
  if (isUnsafe(object, name)) return unsafe(object, name);
  return attributeOrAbsent(object, name, runtime);
}

/** `object|attr("name")`: attributes only. */
export function attributeOnly(object: Value, name: string, runtime: Runtime): Value {
  if (object instanceof Undefined) object.fail();
  if (isUnsafe(object, name)) return unsafe(object, name);
  return attributeOrAbsent(object, name, runtime);
}
