/** Calls by meaning: keys under which messages, answers and tools are equal when a policy would take them for the same. */
import { createHash } from "node:crypto";
import type { AssistantMessage, ContentPart, Message, ToolCall } from "../../engine/conversation/index.ts";
import type { MessageKey } from "../../engine/graph/index.ts";
import { equivalenceKey, JsonSyntaxError, parseJson } from "../../engine/json/index.ts";
import { readCall } from "../proxy/index.ts";
import type { CallRecord, Store } from "../store/index.ts";

export interface CallKeys {
  readonly messages: readonly MessageKey[];
  readonly answer: string | null;
  readonly tools: string | null;
}

/** Bodies never change, so what was read of them stays true. */
const keysOfStores = new WeakMap<Store, Map<string, CallKeys>>();
const keptCalls = 4_000;

/** Reads a call's bodies. A call that is no request of its dialect has no keys. */
export function callKeys(store: Store, call: CallRecord): CallKeys {
  let known = keysOfStores.get(store);
  if (known === undefined) {
    known = new Map();
    keysOfStores.set(store, known);
  }
  let keys = known.get(call.id);
  if (keys === undefined) {
    keys = readKeys(store, call);
    if (known.size >= keptCalls) known.clear();
    known.set(call.id, keys);
  }
  return keys;
}

function readKeys(store: Store, call: CallRecord): CallKeys {
  const { conversation, answer } = readCall(store, call);
  if (conversation === null) return { messages: [], answer: null, tools: null };
  return {
    messages: conversation.messages.map((message) => ({ role: message.role, key: messageKey(message) })),
    answer: answer === null ? null : messageKey(answer.message),
    tools: digest(JSON.stringify(conversation.tools)),
  };
}

/** Ids that harnesses rewrite do not matter, nor does reasoning, which some send back and some do not. */
function messageKey(message: Message): string {
  if (message.role === "other") return digest(message.raw);
  if (message.role === "assistant") return digest(JSON.stringify(["assistant", visibleText(message), message.toolCalls.map(toolCallKey)]));
  return digest(JSON.stringify([message.role, message.content]));
}

function visibleText(message: AssistantMessage): readonly unknown[] {
  const text = message.content.map((part: ContentPart) => (part.type === "text" ? part.text : ""));
  return [text.join("").trim(), ...message.content.filter((part) => part.type !== "text")];
}

function toolCallKey(call: ToolCall): readonly unknown[] {
  return [call.namespace ?? "", call.name, call.kind === "function" ? argumentsKey(call.arguments) : call.arguments];
}

function argumentsKey(written: string): string {
  try {
    return equivalenceKey(parseJson(written));
  } catch (error) {
    if (error instanceof JsonSyntaxError) return written;
    throw error;
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
