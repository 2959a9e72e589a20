/**
 * JSON values as Python reads them, so that what a template prints is what the reference prints.
 * An integer is a `bigint` of any size, a float is a `number` and stays one (`1.0` is not `1`), an object is a `Map`
 * in the order of the text (digit keys keep their place).
 */

export type JsonObject = ReadonlyMap<string, JsonValue>;
export type JsonValue = null | boolean | bigint | number | string | readonly JsonValue[] | JsonObject;

/** JSON that cannot be read: what is wrong and where. `offset` counts UTF-16 units of the text. */
export class JsonSyntaxError extends Error {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  constructor(problem: string, text: string, offset: number) {
    const before = text.slice(0, offset);
    const line = before.split("\n").length;
    const column = offset - (before.lastIndexOf("\n") + 1) + 1;
    super(`broken JSON at character ${offset} (line ${line}, column ${column}): ${problem}`);
    this.name = "JsonSyntaxError";
    this.offset = offset;
    this.line = line;
    this.column = column;
  }
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map;
}

export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
