/** A call written as a JSON object with a name and arguments. */
import { compactJson, isJsonObject, type JsonObject, JsonSyntaxError, type JsonValue, parseJson } from "../json/index.ts";
import type { ParsedToolCall } from "./contract.ts";

/** The value of a JSON text; undefined when it is none, or too large to be read. */
export function readJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** The call that an object stands for; null when it lacks a name or arguments that are an object. */
export function callFromObject(value: JsonValue | undefined, argumentKeys: readonly string[]): ParsedToolCall | null {
  if (!isJsonObject(value)) return null;
  const name = value.get("name");
  const key = argumentKeys.find((candidate) => value.has(candidate));
  const given = key === undefined ? null : argumentsObject(value.get(key));
  return typeof name === "string" && name !== "" && given !== null ? { name, arguments: compactJson(given) } : null;
}

/** Arguments that are a string holding a JSON object are decoded once more. */
function argumentsObject(value: JsonValue | undefined): JsonObject | null {
  const decoded = typeof value === "string" ? readJson(value) : value;
  return isJsonObject(decoded) ? decoded : null;
}
