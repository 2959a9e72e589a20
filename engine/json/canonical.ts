/** One spelling for equal JSON. */
import { parseJson } from "./read.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "./value.ts";
import { compareByCodePoint, floatText } from "./write.ts";

/**
 * Compact JSON of a value: no spaces, key order kept, half characters as escapes so that any UTF-8 can carry it, a float
 * too large for one as `1e999` so that it reads back the same.
 */
export function compactJson(value: JsonValue): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
      // JSON.stringify escapes half characters and nothing that `dumpJson` leaves; it is the fast one.
      return JSON.stringify(value);
    case "bigint":
    case "boolean":
      return String(value);
    case "number":
      return compactNumber(value);
  }
  if (isJsonArray(value)) return `[${value.map(compactJson).join(",")}]`;
  return objectText([...value], compactJson);
}

/** Compact JSON of a text that holds JSON in any spelling; see `compactJson`. Throws `JsonSyntaxError`. */
export function canonicalJson(text: string): string {
  return compactJson(parseJson(text));
}

/**
 * Equal for two JSON texts that mean the same to a client that reads numbers as doubles and reorders keys: `1.0` and `1`,
 * long integers that a client rounded, sorted keys. Text that is no JSON is its own key.
 */
export function equivalenceKey(value: JsonValue): string {
  if (typeof value === "bigint" || typeof value === "number") return String(Number(value) + 0);
  if (isJsonArray(value)) return `[${value.map(equivalenceKey).join(",")}]`;
  if (isJsonObject(value))
    return objectText(
      [...value].sort(([left], [right]) => compareByCodePoint(left, right)),
      equivalenceKey,
    );
  return compactJson(value);
}

function compactNumber(value: number): string {
  if (Number.isFinite(value)) return floatText(value);
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "1e999" : "-1e999";
}

function objectText(entries: readonly (readonly [string, JsonValue])[], itemText: (item: JsonValue) => string): string {
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${itemText(item)}`).join(",")}}`;
}
