/**
 * The internal form → a Chat Completions request for a server. What the target can't carry is moved or refused with a sentence,
 * never dropped: images of a tool's answer follow in a user message.
 */
import type { ContentPart, Conversation, Message, ToolDefinition } from "../../../engine/conversation/index.ts";
import { replaceLoneSurrogates, sliceJson } from "../../../engine/json/index.ts";
import { toolCallJson } from "../dialects/chat/encode.ts";
import type { MediaStore } from "../dialects/dialect.ts";
import { mediaUrl } from "../dialects/media.ts";
import type { MessageRules } from "./definition.ts";

/** Members of a JSON object by name, each as JSON text or its bytes. */
export type Members = ReadonlyMap<string, string | Uint8Array>;

export type EncodedRequest =
  | {
      readonly ok: true;
      readonly members: Members;
      readonly notes: readonly string[];
      /** The client's own members, but for those of the caller. */
      readonly asWritten: boolean;
    }
  | { readonly ok: false; readonly message: string };

export interface ChatRequestOptions {
  readonly media: MediaStore;
  readonly rules: MessageRules;
  /** The request came in this dialect too: its unknown fields, items and tools mean something to the server. */
  readonly sameDialect: boolean;
  readonly asWritten?: ReadonlyMap<string, Uint8Array> | undefined;
}

/** Members of the request's JSON object; the caller adds the model and what it asks of the server. */
export function chatRequestMembers(conversation: Conversation, options: ChatRequestOptions): EncodedRequest {
  const { asWritten, sameDialect } = options;
  if (sameDialect && asWritten !== undefined && goesAsWritten(conversation, options.rules))
    return { ok: true, members: writtenMembers(conversation, asWritten), notes: [], asWritten: true };
  const notes: string[] = [];
  const messages: string[] = [];
  for (const message of arrangeMessages(conversation.messages, options.rules)) {
    const written = messageTexts(message, options);
    if (typeof written === "string") return { ok: false, message: written };
    messages.push(...written);
  }
  const members = new Map<string, string>([["messages", `[${moveAfterTools(messages).join(",")}]`]]);
  const tools = chatTools(conversation.tools, notes, sameDialect);
  if (tools.length > 0) {
    members.set("tools", `[${tools.join(",")}]`);
    if (conversation.toolChoice !== undefined) members.set("tool_choice", toolChoiceText(conversation.toolChoice));
    if (conversation.parallelToolCalls !== undefined) members.set("parallel_tool_calls", String(conversation.parallelToolCalls));
  }
  for (const [name, text] of samplingMembers(conversation.sampling)) members.set(name, text);
  if (sameDialect) for (const [name, slice] of sliceJson(conversation.extra).entries()) members.set(name, slice.text);
  return { ok: true, members, notes, asWritten: false };
}

/** What the caller decides, whatever the client wrote. */
const ownMembers: ReadonlySet<string> = new Set(["model", "stream", "stream_options", "n", "max_tokens", "max_completion_tokens"]);

function writtenMembers(conversation: Conversation, written: ReadonlyMap<string, Uint8Array>): Members {
  const members = new Map<string, string | Uint8Array>();
  for (const [name, bytes] of written) if (!ownMembers.has(name)) members.set(name, bytes);
  const { maxTokens } = conversation.sampling;
  if (maxTokens !== undefined) members.set("max_tokens", String(maxTokens));
  return members;
}

/** Nothing of the messages has to be moved, merged or renamed for this server. */
function goesAsWritten({ messages }: Conversation, rules: MessageRules): boolean {
  return messages.every((message, index) => {
    const before = messages[index - 1]?.role;
    if (message.role === "developer") return rules.developer === "developer";
    if (message.role === "tool") return message.content.every((part) => part.type === "text");
    if (message.role === "system") return !(rules.mergeSystem && index === 1 && before === "system");
    return !(rules.mergeUser && message.role === "user" && before === "user");
  });
}

/** A JSON object of members, later ones in the place of earlier ones of their name. */
export function jsonObject(members: Members): Uint8Array {
  const pieces: Uint8Array[] = [];
  let text = "{";
  for (const [name, value] of members) {
    text += `${text.endsWith("{") && pieces.length === 0 ? "" : ","}${JSON.stringify(name)}:`;
    if (typeof value === "string") text += value;
    else {
      pieces.push(Buffer.from(text), value);
      text = "";
    }
  }
  pieces.push(Buffer.from(`${text}}`));
  return Buffer.concat(pieces);
}

export function samplingMembers(sampling: Conversation["sampling"]): readonly (readonly [string, string])[] {
  const fields: readonly (readonly [string, unknown])[] = [
    ["temperature", sampling.temperature],
    ["top_p", sampling.topP],
    ["top_k", sampling.topK],
    ["min_p", sampling.minP],
    ["max_tokens", sampling.maxTokens],
    ["stop", sampling.stop],
    ["seed", sampling.seed],
  ];
  return fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, JSON.stringify(value)] as const]));
}

/** Roles and runs of messages as the model's template takes them. */
export function arrangeMessages(messages: readonly Message[], rules: MessageRules): readonly Message[] {
  const arranged: Message[] = [];
  for (const message of messages) {
    const fitted: Message = message.role === "developer" ? { ...message, role: rules.developer } : message;
    const last = arranged.at(-1);
    const isStart = arranged.length === 1;
    const mergeSystem = rules.mergeSystem && isStart && last?.role === "system" && fitted.role === "system";
    const mergeUser = rules.mergeUser && last?.role === "user" && fitted.role === "user";
    if (last !== undefined && (mergeSystem || mergeUser) && "content" in last && "content" in fitted) {
      arranged[arranged.length - 1] = { ...last, content: joinContent(last.content, fitted.content) } as Message;
    } else arranged.push(fitted);
  }
  return arranged;
}

function joinContent(left: readonly ContentPart[], right: readonly ContentPart[]): readonly ContentPart[] {
  const last = left.at(-1);
  const first = right[0];
  if (last?.type !== "text" || first?.type !== "text") return [...left, ...right];
  return [...left.slice(0, -1), { type: "text", text: `${last.text}\n\n${first.text}` }, ...right.slice(1)];
}

/** A text that begins with this mark is a user message that must wait until the tool messages before it are over. */
const moved = "\u0000";

function moveAfterTools(texts: readonly string[]): readonly string[] {
  const result: string[] = [];
  const waiting: string[] = [];
  for (const text of texts) {
    if (text.startsWith(moved)) waiting.push(text.slice(1));
    else {
      if (!text.startsWith('{"role":"tool"')) result.push(...waiting.splice(0));
      result.push(text);
    }
  }
  return [...result, ...waiting];
}

/** The message as JSON texts, or a sentence why it can't be sent. */
function messageTexts(message: Message, options: ChatRequestOptions): readonly string[] | string {
  if (message.role === "other") {
    return options.sameDialect ? [message.raw] : `The request holds an item that this policy can't be given: ${shortened(message.raw)}`;
  }
  const extra = options.sameDialect && message.extra !== undefined ? [message.extra.slice(1, -1)] : [];
  if (message.role === "tool") {
    const texts = message.content.filter((part) => part.type === "text");
    const others = message.content.filter((part) => part.type !== "text");
    const own = `{"role":"tool","tool_call_id":${jsonString(message.toolCallId)},"content":${contentText(texts, options)}}`;
    if (others.length === 0) return [own];
    return [own, `${moved}{"role":"user","content":${contentText([{ type: "text", text: "Part of the tool's answer:" }, ...others], options)}}`];
  }
  if (message.role === "assistant") {
    const calls = message.toolCalls.map((call) => JSON.stringify(toolCallJson(call)));
    const members = [
      `"role":"assistant"`,
      `"content":${message.content.length === 0 ? (calls.length > 0 ? "null" : '""') : contentText(message.content, options)}`,
      ...(message.reasoning === undefined ? [] : [`"reasoning_content":${jsonString(message.reasoning)}`]),
      ...(calls.length === 0 ? [] : [`"tool_calls":[${calls.join(",")}]`]),
      ...extra,
    ];
    return [`{${members.join(",")}}`];
  }
  const name = message.name === undefined ? [] : [`"name":${jsonString(message.name)}`];
  return [`{${[`"role":"${message.role}"`, `"content":${contentText(message.content, options)}`, ...name, ...extra].join(",")}}`];
}

function contentText(content: readonly ContentPart[], options: ChatRequestOptions): string {
  const only = content[0];
  if (content.length === 0) return '""';
  if (content.length === 1 && only?.type === "text") return jsonString(only.text);
  return `[${content.map((part) => partText(part, options.media)).join(",")}]`;
}

function partText(part: ContentPart, media: MediaStore): string {
  switch (part.type) {
    case "text":
      return `{"type":"text","text":${jsonString(part.text)}}`;
    case "image": {
      const url = mediaUrl(part.source, part.mediaType, media) ?? "";
      return JSON.stringify({ type: "image_url", image_url: { url, ...(part.detail === undefined ? {} : { detail: part.detail }) } });
    }
    case "file": {
      const data = mediaUrl(part.source, part.mediaType, media) ?? "";
      return JSON.stringify({ type: "file", file: { file_data: data, ...(part.name === undefined ? {} : { filename: part.name }) } });
    }
    case "other":
      return part.raw;
  }
}

/** JSON.stringify writes half a character, and nothing else but text that already looks so, as an escape. */
function jsonString(text: string): string {
  const json = JSON.stringify(text);
  return json.includes("\\ud") ? JSON.stringify(replaceLoneSurrogates(text)) : json;
}

function toolChoiceText(choice: NonNullable<Conversation["toolChoice"]>): string {
  return typeof choice === "string" ? JSON.stringify(choice) : JSON.stringify({ type: "function", function: { name: choice.name } });
}

/** Tools as this dialect writes them; what cannot be said is left out and noted. */
export function chatTools(tools: readonly ToolDefinition[], notes: string[], sameDialect = false): readonly string[] {
  return tools.flatMap((tool) => toolText(tool, sameDialect, notes));
}

function toolText(tool: ToolDefinition, sameDialect: boolean, notes: string[]): readonly string[] {
  if (tool.kind === "other") {
    if (sameDialect) return [tool.raw];
    notes.push(`A tool of a kind that this policy can't be given was left out: ${shortened(tool.raw)}`);
    return [];
  }
  const members = [
    `"name":${JSON.stringify(tool.name)}`,
    ...(tool.description === undefined ? [] : [`"description":${jsonString(tool.description)}`]),
    ...(tool.parameters === undefined ? [] : [`"parameters":${tool.parameters}`]),
    ...(tool.strict === undefined ? [] : [`"strict":${tool.strict}`]),
  ];
  return [`{"type":"function","function":{${members.join(",")}}}`];
}

function shortened(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
