/** One spelling for equal JSON: for tool arguments, and for telling whether two requests ask the same. */
import { parseJson } from "./read.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "./value.ts";
import { compareByCodePoint, floatText } from "./write.ts";

/**
 * Compact JSON of a value: no spaces, key order kept, half characters as escapes so that any UTF-8 can carry it, a float
 * too large for one as `1e999` so that it reads back the same.
 */
export function compactJson(value: JsonValue): string {
  return compact(value, false);
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
  if (isJsonObject(value)) return objectText(value, true, equivalenceKey);
  return compactJson(value);
}

/**
 * The equality key of a request body, as canonical text: keys sorted, without `stream`, `stream_options`, cache markers and
 * the fields at `volatilePaths` (keys joined by dots, `*` for any key or index). Throws `JsonSyntaxError`.
 */
export function requestKey(body: string, volatilePaths: readonly string[] = []): string {
  const paths = ["stream", "stream_options", ...volatilePaths].map((path) => path.split("."));
  return compact(prune(parseJson(body, { nonFinite: true }), paths), true);
}

function prune(value: JsonValue, paths: readonly (readonly string[])[]): JsonValue {
  if (isJsonArray(value)) {
    const kept: JsonValue[] = [];
    value.forEach((item, index) => {
      const below = descend(paths, String(index));
      if (!below.dropped) kept.push(prune(item, below.paths));
    });
    return kept;
  }
  if (!isJsonObject(value)) return value;
  const kept = new Map<string, JsonValue>();
  for (const [key, item] of value) {
    const below = descend(paths, key);
    if (!below.dropped && !isCacheMarker(key, item)) kept.set(key, prune(item, below.paths));
  }
  return kept;
}

function descend(paths: readonly (readonly string[])[], key: string): { dropped: boolean; paths: readonly (readonly string[])[] } {
  const matching = paths.filter((path) => path[0] === key || path[0] === "*");
  return { dropped: matching.some((path) => path.length === 1), paths: matching.map((path) => path.slice(1)) };
}

/** `cache_control: {"type": "ephemeral", …}`. A tool's parameter of that name has another type and is kept. */
function isCacheMarker(key: string, value: JsonValue): boolean {
  return key === "cache_control" && (value === null || (isJsonObject(value) && value.get("type") === "ephemeral"));
}

function compact(value: JsonValue, sorted: boolean): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
      // JSON.stringify escapes half characters and nothing that stringText leaves; it is the fast one.
      return JSON.stringify(value);
    case "bigint":
    case "boolean":
      return String(value);
    case "number":
      return compactNumber(value);
  }
  if (isJsonArray(value)) return `[${value.map((item) => compact(item, sorted)).join(",")}]`;
  return objectText(value, sorted, (item) => compact(item, sorted));
}

function compactNumber(value: number): string {
  if (Number.isFinite(value)) return floatText(value);
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "1e999" : "-1e999";
}

function objectText(value: JsonObject, sorted: boolean, itemText: (item: JsonValue) => string): string {
  const entries = [...value];
  if (sorted) entries.sort(([left], [right]) => compareByCodePoint(left, right));
  return `{${entries.map(([key, item]) => `${compact(key, sorted)}:${itemText(item)}`).join(",")}}`;
}
