/**
 * Tool definitions, kept as written. Chat wraps a function in `function`, Responses lays it flat and has namespaces, Messages calls the
 * parameters `input_schema`, Gemini lists functions in `functionDeclarations`.
 */
import type { ToolDefinition } from "../../../engine/conversation/index.ts";
import { type JsonSlice, sliceJson } from "../../../engine/json/index.ts";
import type { DialectId } from "./dialect.ts";
import { textOf } from "./json-bytes.ts";

interface ReadTools {
  readonly dialect: DialectId;
  readonly written: Uint8Array;
  readonly tools: readonly ToolDefinition[];
}

/** A harness sends the same tools with every call: the last few texts keep their reading. Comparing is cheaper than hashing. */
const read: ReadTools[] = [];
const remembered = 16;

/** `written` is the valid JSON of the `tools` member, or undefined when there is none. */
export function readTools(written: Uint8Array | undefined, dialect: DialectId): readonly ToolDefinition[] {
  if (written === undefined) return [];
  const known = read.find(
    (each) => each.dialect === dialect && each.written.length === written.length && Buffer.compare(each.written, written) === 0,
  );
  if (known !== undefined) return known.tools;
  const text = textOf(written);
  const tools = sliceJson(text)
    .items()
    .flatMap((tool) => readTool(tool, dialect));
  // A copy: the bytes are a part of a whole request.
  read.unshift({ dialect, written: Uint8Array.from(written), tools });
  read.length = Math.min(read.length, remembered);
  return tools;
}

function readTool(tool: JsonSlice, dialect: DialectId): readonly ToolDefinition[] {
  const members = tool.entries();
  const type = text(members.get("type"));
  if (dialect === "chat") {
    const inner = members.get("function")?.entries();
    if (inner === undefined || (type !== "function" && type !== undefined) || text(inner.get("name")) === undefined) return [other(tool)];
    return [functionTool(inner, [...unknown(members, chatWrapper), ...unknown(inner, functionMembers)])];
  }
  if (dialect === "messages") return [readMessagesTool(tool, members, type)];
  if (dialect === "gemini") return readGeminiTool(tool, members);
  if (type === "function" && text(members.get("name")) !== undefined) return [functionTool(members, unknown(members, flatMembers))];
  if (type !== "namespace") return [other(tool)];
  const namespace = text(members.get("name"));
  const inner = (members.get("tools")?.items() ?? []).map((item) => item.entries());
  const known = inner.every((item) => text(item.get("type")) === "function" && text(item.get("name")) !== undefined);
  if (namespace === undefined || !known || unknown(members, namespaceMembers).length > 0) return [other(tool)];
  const namespaceDescription = text(members.get("description"));
  const place = { namespace, ...(namespaceDescription === undefined ? {} : { namespaceDescription }) };
  return inner.map((item) => ({ ...functionTool(item, unknown(item, flatMembers)), ...place }));
}

/** Tools that the maker's own models know by their `type` have no schema: they stay as they are. */
function readMessagesTool(tool: JsonSlice, members: Members, type: string | undefined): ToolDefinition {
  if ((type !== undefined && type !== "custom") || text(members.get("name")) === undefined) return other(tool);
  return functionTool(members, unknown(members, messagesMembers), "input_schema");
}

function readGeminiTool(tool: JsonSlice, members: Members): readonly ToolDefinition[] {
  const declared = members.get("functionDeclarations");
  if (declared === undefined || members.size !== 1) return [other(tool)];
  return declared.items().map((item) => {
    const inner = item.entries();
    if (text(inner.get("name")) === undefined) return other(item);
    const asSchema = inner.has("parametersJsonSchema");
    const made = functionTool(inner, unknown(inner, geminiMembers), asSchema ? "parametersJsonSchema" : "parameters");
    if (asSchema || made.kind !== "function" || made.parameters === undefined) return made;
    return { ...made, parameters: lowerTypes(made.parameters) };
  });
}

/** `"type": "OBJECT"` as JSON Schema says it. */
function lowerTypes(schema: string): string {
  return schema.replaceAll(/("type"\s*:\s*")([A-Z]+)"/g, (_whole, head: string, name: string) => `${head}${name.toLowerCase()}"`);
}

function other(tool: JsonSlice): ToolDefinition {
  return { kind: "other", raw: tool.text };
}

const chatWrapper: ReadonlySet<string> = new Set(["type", "function"]);
const functionMembers: ReadonlySet<string> = new Set(["name", "description", "parameters", "strict"]);
const flatMembers: ReadonlySet<string> = new Set(["type", ...functionMembers]);
const messagesMembers: ReadonlySet<string> = new Set(["type", "name", "description", "input_schema", "strict", "cache_control"]);
const geminiMembers: ReadonlySet<string> = new Set(["name", "description", "parameters", "parametersJsonSchema"]);
const namespaceMembers: ReadonlySet<string> = new Set(["type", "name", "description", "tools"]);

type Members = ReadonlyMap<string, JsonSlice>;

function unknown(members: Members, known: ReadonlySet<string>): readonly string[] {
  return [...members].filter(([name]) => !known.has(name)).map(([name, slice]) => `${JSON.stringify(name)}:${slice.text}`);
}

function text(slice: JsonSlice | undefined): string | undefined {
  const value = slice?.kind === "string" ? slice.value() : undefined;
  return typeof value === "string" ? value : undefined;
}

function functionTool(members: Members, extra: readonly string[], schema = "parameters"): ToolDefinition {
  const description = text(members.get("description"));
  const parameters = members.get(schema);
  const strict = members.get("strict")?.value();
  return {
    kind: "function",
    name: text(members.get("name")) ?? "",
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined || parameters.kind !== "object" ? {} : { parameters: parameters.text }),
    ...(typeof strict === "boolean" ? { strict } : {}),
    ...(extra.length === 0 ? {} : { extra: `{${extra.join(",")}}` }),
  };
}
