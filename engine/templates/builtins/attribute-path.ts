/** `attribute="a.b.0"` of filters: looking up parts one after another. */

import { isText, plainText } from "../values/text.ts";
import { Undefined, type Value } from "../values/values.ts";
import type { Runtime } from "./runtime.ts";

function pathParts(attribute: Value): readonly Value[] {
  if (attribute === null) return [];
  if (!isText(attribute)) return [attribute];
  return plainText(attribute)
    .split(".")
    .map((part) => (/^\d+$/.test(part) ? BigInt(part) : part));
}

/** A function that looks the attribute up in a value; `fallback` takes the place of what is undefined. */
export function attributeGetter(attribute: Value, runtime: Runtime, fallback: Value = null): (item: Value) => Value {
  const parts = pathParts(attribute);
  return (item) => {
    runtime.effort.spend();
    let value = item;
    for (const part of parts) {
      value = runtime.item(value, part);
      if (fallback !== null && value instanceof Undefined) value = fallback;
    }
    return value;
  };
}

/** Several attributes with commas between: one value each. */
export function attributesGetter(attribute: Value, runtime: Runtime): (item: Value) => Value[] {
  const paths: readonly Value[] = isText(attribute) ? plainText(attribute).split(",") : [attribute];
  const getters = paths.map((path) => attributeGetter(path, runtime));
  return (item) => getters.map((get) => get(item));
}
