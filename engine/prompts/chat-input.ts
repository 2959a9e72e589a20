/** Fitted messages and tools as `apply_chat_template` takes them. */
import type { ToolCall, ToolDefinition } from "../conversation/index.ts";
import { isJsonObject, type JsonObject, JsonSyntaxError, type JsonValue, parseJson, replaceLoneSurrogates } from "../json/index.ts";
import type { ConversationRules } from "./contract.ts";
import type { FittedMessage } from "./fit-conversation.ts";

function record(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  return new Map(entries);
}

export function messageInput(message: FittedMessage, rules: ConversationRules): JsonObject {
  switch (message.role) {
    case "assistant": {
      const entries: (readonly [string, JsonValue])[] = [
        ["role", "assistant"],
        ["content", message.text],
      ];
      if (message.reasoning !== null) entries.push(["reasoning_content", message.reasoning]);
      if (message.calls.length > 0) entries.push(["tool_calls", message.calls.map((call) => callInput(call, rules))]);
      return record(entries);
    }
    case "tool": {
      const entries: (readonly [string, JsonValue])[] = [
        ["role", "tool"],
        ["tool_call_id", callId(message.callId, rules)],
        ["content", message.text],
      ];
      if (message.name !== null) entries.push(["name", message.name]);
      return record(entries);
    }
    default:
      return record([
        ["role", message.role],
        ["content", message.text],
      ]);
  }
}

function callInput(call: ToolCall, rules: ConversationRules): JsonObject {
  const name = replaceLoneSurrogates(call.name);
  return record([
    ["id", callId(call.id, rules)],
    ["type", "function"],
    [
      "function",
      record([
        ["name", name],
        ["arguments", argumentsInput(call)],
      ]),
    ],
  ]);
}

/** Arguments as the object they are; a call that was cut off, or free text, keeps its text under a name of its own. */
function argumentsInput(call: ToolCall): JsonValue {
  const text = replaceLoneSurrogates(call.arguments);
  if (call.kind === "custom") return record([["input", text]]);
  if (text.trim() === "") return record([]);
  const value = parseOrNull(text);
  return isJsonObject(value ?? undefined) ? value : record([["arguments", text]]);
}

/** Escapes of half characters come out whole too. */
function parseOrNull(text: string): JsonValue {
  try {
    return withoutHalves(parseJson(text, { nonFinite: true }));
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
}

function withoutHalves(value: JsonValue): JsonValue {
  if (typeof value === "string") return replaceLoneSurrogates(value);
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(withoutHalves);
  if (!isJsonObject(value)) return value;
  return new Map([...value].map(([key, item]) => [replaceLoneSurrogates(key), withoutHalves(item)]));
}

const idLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Some templates take ids of nine letters and digits only; any other id gives one that is always the same. */
function callId(id: string, rules: ConversationRules): string {
  if (rules.callIds === "as-sent" || /^[0-9A-Za-z]{9}$/.test(id)) return replaceLoneSurrogates(id);
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(id)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  let letters = "";
  for (let place = 0; place < 9; place++) {
    letters += idLetters.charAt(Number(hash % 62n));
    hash /= 62n;
  }
  return letters;
}

/** Tools as templates list them; null when there are none. */
export function toolsInput(tools: readonly ToolDefinition[]): readonly JsonObject[] | null {
  const functions = tools.flatMap((tool) => (tool.kind === "function" ? [tool] : []));
  if (functions.length === 0) return null;
  return functions.map(({ name, description, parameters }) => {
    const entries: (readonly [string, JsonValue])[] = [["name", replaceLoneSurrogates(name)]];
    if (description !== undefined) entries.push(["description", replaceLoneSurrogates(description)]);
    if (parameters !== undefined) entries.push(["parameters", parseOrNull(parameters)]);
    return record([
      ["type", "function"],
      ["function", record(entries)],
    ]);
  });
}
