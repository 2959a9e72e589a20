/** Values written as text take the type that the tool's JSON Schema gives them, where they fit it. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../json/index.ts";
import type { ToolSchema } from "./contract.ts";
import { readPythonLiteral } from "./python-literal.ts";
import { readJson } from "./written-call.ts";

/** Reads a parameter of one tool; without a schema for it a value stays text. */
export function parameterReader(tool: ToolSchema | undefined): (name: string, written: string) => JsonValue {
  const schema = tool?.parameters === undefined ? undefined : readJson(tool.parameters);
  const properties = isJsonObject(schema) ? schema.get("properties") : undefined;
  return (name, written) => {
    const property = isJsonObject(properties) ? properties.get(name) : undefined;
    return readTyped(written, isJsonObject(property) ? typesOf(property) : new Set());
  };
}

/** The types that a schema allows, through `anyOf`, `oneOf`, `allOf` and `enum`. */
function typesOf(schema: JsonObject): ReadonlySet<string> {
  const types = new Set<string>();
  const type = schema.get("type");
  for (const one of isJsonArray(type) ? type : [type]) if (typeof one === "string") types.add(one);
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const branches = schema.get(key);
    if (isJsonArray(branches)) for (const branch of branches) if (isJsonObject(branch)) for (const one of typesOf(branch)) types.add(one);
  }
  const values = schema.get("enum");
  if (types.size === 0 && isJsonArray(values)) for (const value of values) types.add(typeOf(value));
  if (schema.get("nullable") === true) types.add("null");
  return types;
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (typeof value === "bigint") return "integer";
  if (isJsonArray(value)) return "array";
  return isJsonObject(value) ? "object" : typeof value;
}

function readTyped(written: string, types: ReadonlySet<string>): JsonValue {
  const plain = written.trim();
  if (types.has("null") && /^(?:null|none)$/i.test(plain)) return null;
  if (types.has("boolean") && /^(?:true|false)$/i.test(plain)) return plain.toLowerCase() === "true";
  if (types.has("integer") && /^[+-]?[0-9]{1,4000}$/.test(plain)) return BigInt(plain.replace(/^\+/, ""));
  if (types.has("number")) {
    const value = readJson(plain);
    if (typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value))) return value;
  }
  if (types.has("object") || types.has("array")) {
    const value = readJson(plain) ?? readPythonLiteral(plain);
    if ((types.has("object") && isJsonObject(value)) || (types.has("array") && isJsonArray(value))) return value;
  }
  return written;
}
