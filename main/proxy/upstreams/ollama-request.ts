/** The internal form → Ollama's `/api/chat`. Pictures go beside the text, arguments of calls as objects, answers of tools by the tool's name. */
import type { ContentPart, Conversation, Message, ToolCall } from "../../../engine/conversation/index.ts";
import { replaceLoneSurrogates } from "../../../engine/json/index.ts";
import type { MediaStore } from "../dialects/dialect.ts";
import { mediaUrl } from "../dialects/media.ts";
import { argumentsObject } from "../dialects/messages/blocks.ts";
import { arrangeMessages, chatTools } from "./chat-request.ts";
import type { MessageRules } from "./definition.ts";

interface OllamaRequestOptions {
  readonly model: string;
  readonly rules: MessageRules;
  readonly media: MediaStore;
  readonly contextWindow: number | null;
  readonly stream: boolean;
}

type OllamaRequest =
  | { readonly ok: true; readonly body: Uint8Array; readonly notes: readonly string[] }
  | { readonly ok: false; readonly message: string };

export function ollamaRequest(conversation: Conversation, options: OllamaRequestOptions): OllamaRequest {
  const { model, rules, media, contextWindow, stream } = options;
  const notes: string[] = [];
  const names = new Map(conversation.messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls.map(nameById) : [])));
  const messages: string[] = [];
  for (const message of arrangeMessages(conversation.messages, rules)) {
    const written = messageText(message, names, media);
    if (!written.ok) return written;
    messages.push(written.text);
  }
  const { temperature, topP, topK, minP, maxTokens, stop, seed } = conversation.sampling;
  const drawn = { num_ctx: contextWindow ?? undefined, num_predict: maxTokens, temperature, top_p: topP, top_k: topK, min_p: minP, stop, seed };
  if (conversation.toolChoice !== undefined && conversation.toolChoice !== "auto" && conversation.toolChoice !== "none")
    notes.push("Ollama can't be told to call a tool: the request's tool choice was left out.");
  const tools = conversation.toolChoice === "none" ? [] : chatTools(conversation.tools, notes);
  const members = [
    `"model":${JSON.stringify(model)}`,
    `"messages":[${messages.join(",")}]`,
    ...(tools.length === 0 ? [] : [`"tools":[${tools.join(",")}]`]),
    // What is too long is refused, not cut: a harness compacts then.
    `"stream":${stream},"truncate":false,"shift":false,"options":${JSON.stringify(drawn)}`,
  ];
  return { ok: true, body: Buffer.from(`{${members.join(",")}}`), notes };
}

type MessageText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };

function nameById({ id, name }: ToolCall): readonly [string, string] {
  return [id, name];
}

function messageText(message: Message, names: ReadonlyMap<string, string>, media: MediaStore): MessageText {
  if (message.role === "other") return refused("an item of another dialect");
  const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const others = message.content.filter((part) => part.type !== "text");
  const images = others.map((part) => imageData(part, media));
  const lacking = images.indexOf(null);
  if (lacking !== -1) return refused(others[lacking]?.type === "image" ? "a picture by its address" : "a file");
  const members = [
    `"role":"${message.role === "developer" ? "system" : message.role}"`,
    `"content":${JSON.stringify(replaceLoneSurrogates(text))}`,
    ...(images.length === 0 ? [] : [`"images":${JSON.stringify(images)}`]),
  ];
  if (message.role === "tool") members.push(`"tool_name":${JSON.stringify(names.get(message.toolCallId) ?? message.name ?? "tool")}`);
  if (message.role === "assistant") {
    if (message.reasoning !== undefined) members.push(`"thinking":${JSON.stringify(replaceLoneSurrogates(message.reasoning))}`);
    const calls = message.toolCalls.map((call) => `{"function":{"name":${JSON.stringify(call.name)},"arguments":${argumentsObject(call)}}}`);
    if (calls.length > 0) members.push(`"tool_calls":[${calls.join(",")}]`);
  }
  return { ok: true, text: `{${members.join(",")}}` };
}

/** Base64; null for what can't be given. */
function imageData(part: ContentPart, media: MediaStore): string | null {
  if (part.type !== "image") return null;
  const url = mediaUrl(part.source, part.mediaType, media);
  return url?.startsWith("data:") === true ? url.slice(url.indexOf(",") + 1) : null;
}

function refused(what: string): MessageText {
  return { ok: false, message: `The request holds ${what}; an Ollama server can't be given that.` };
}
