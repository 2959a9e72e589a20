/**
 * The variables of a template in the reference's normal form: null keys of messages removed, reasoning under the names that
 * templates read, `tools` and `documents` none when absent. Strings of the conversation are marked with where they come
 * from; roles and part types that we know are the template's words, not content.
 */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../json/index.ts";
import { type ChatInput, type TemplateContext, toolsSource } from "./contract.ts";
import { markText } from "./values/text.ts";
import { Dict, type Value } from "./values/values.ts";

const reasoningKeys = ["reasoning_content", "thinking", "reasoning"] as const;
const templateWords: ReadonlySet<string> = new Set([
  ...["system", "developer", "user", "assistant", "tool", "function", "ipython", "model"],
  ...["text", "image", "image_url", "audio", "video", "file", "document"],
]);
const wordKeys: ReadonlySet<string> = new Set(["role", "type"]);

/** A JSON value as a template value; strings and keys are marked when a source is given. */
function templateValue(json: JsonValue, source: number | null): Value {
  if (typeof json === "string") return source === null ? json : markText(json, source);
  if (isJsonArray(json)) return json.map((item) => templateValue(item, source));
  if (!isJsonObject(json)) return json;
  return Dict.of([...json].map(([key, value]) => [templateValue(key, source), templateValue(value, source)] as const));
}

/** An object whose `role` and `type`, where known, are words of the template; `inner` makes the other values. */
function recordOf(json: JsonObject, inner: (key: string, value: JsonValue) => Value): Dict {
  return Dict.of([...json].map(([key, value]) => [key, isWord(key, value) ? templateValue(value, null) : inner(key, value)] as const));
}

function isWord(key: string, value: JsonValue): boolean {
  return wordKeys.has(key) && typeof value === "string" && templateWords.has(value);
}

function partOf(json: JsonValue, source: number): Value {
  return isJsonObject(json) ? recordOf(json, (_key, value) => templateValue(value, source)) : templateValue(json, source);
}

function messageOf(message: JsonObject, source: number): Dict {
  return recordOf(normalised(message), (key, value) => {
    if (key === "content" && isJsonArray(value)) return value.map((part) => partOf(part, source));
    if (key === "tool_calls" && isJsonArray(value)) return value.map((call) => partOf(call, source));
    return templateValue(value, source);
  });
}

function normalised(message: JsonObject): JsonObject {
  const present = new Map([...message].filter(([, value]) => value !== null));
  const reasoning = reasoningKeys.map((key) => present.get(key)).find((value) => value !== undefined);
  if (reasoning === undefined) return present;
  const named = new Map<string, JsonValue>([["thinking", reasoning], ...present]);
  return named.set("reasoning_content", reasoning);
}

/** The variables of `apply_chat_template` for a conversation. */
export function chatContext(input: ChatInput): TemplateContext {
  const variables = new Map<string, Value>([
    ["messages", input.messages.map((message, index) => messageOf(message, index))],
    ["tools", input.tools?.map((tool) => partOf(tool, toolsSource)) ?? null],
    ["documents", input.documents?.map((document) => templateValue(document, toolsSource)) ?? null],
    ["add_generation_prompt", input.addGenerationPrompt],
  ]);
  for (const [name, value] of input.variables ?? []) variables.set(name, templateValue(value, null));
  return { variables };
}

/** Variables as given, nothing added and nothing marked. */
export function variablesContext(variables: JsonObject): TemplateContext {
  return { variables: new Map([...variables].map(([name, value]) => [name, templateValue(value, null)])) };
}
