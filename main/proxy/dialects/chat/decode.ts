/** OpenAI Chat Completions request → the internal form. */
import type { AssistantMessage, ContentPart, Message, ToolCall, ToolChoice } from "../../../../engine/conversation/index.ts";
import { canonicalJson } from "../../../../engine/json/index.ts";
import { type Decoded, invalidRequest, type MediaStore } from "../dialect.ts";
import { readMedia } from "../media.ts";
import { otherMembers, type RequestBody, rawItem } from "../request-body.ts";
import { readSampling } from "../sampling.ts";
import { readTools } from "../tools.ts";
import { firstIssue } from "../zod-issue.ts";
import { type ChatMessage, type ChatPart, chatMembers, chatRequestSchema } from "./schema.ts";

export function decodeChat(body: RequestBody, media: MediaStore): Decoded {
  const parsed = chatRequestSchema.safeParse(body.value);
  if (!parsed.success) return invalidRequest(`This is no Chat Completions request: ${firstIssue(parsed.error)}.`);
  const request = parsed.data;
  const { known } = body;
  if (known.items + request.messages.length === 0) return invalidRequest("`messages` is empty: a request needs at least one message.");
  const rawMessage = (index: number): string => rawItem(body, "messages", known.items + index);
  const choice = readToolChoice(request.tool_choice);
  const extra = choice === null ? otherMembers(body, without(chatMembers, "tool_choice")) : otherMembers(body, chatMembers);
  const stream = request.stream ?? false;
  const parallel = request.parallel_tool_calls ?? undefined;
  const messages = [...known.messages, ...request.messages.map((message, index) => readMessage(message, media, () => rawMessage(index)))];
  return {
    ok: true,
    marks: [messages.length, messages.length - 1].map((items) => ({ items, messages: messages.slice(0, items) })),
    conversation: {
      model: request.model,
      messages,
      tools: readTools(body.raw.get("tools"), "chat"),
      ...(choice === null || choice === undefined ? {} : { toolChoice: choice }),
      ...(parallel === undefined ? {} : { parallelToolCalls: parallel }),
      sampling: readSampling(request, request.max_completion_tokens ?? request.max_tokens),
      stream,
      extra,
    },
    reply: {
      model: request.model,
      stream,
      includeUsage: request.stream_options?.include_usage ?? false,
      encryptedReasoning: false,
      parallelToolCalls: parallel ?? true,
    },
  };
}

function without(members: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const kept = new Set(members);
  kept.delete(name);
  return kept;
}

/** undefined = not asked; null = a form that stays in `extra`. */
function readToolChoice(value: unknown): ToolChoice | null | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === "auto" || value === "none" || value === "required") return value;
  if (typeof value !== "object" || !("function" in value)) return null;
  const named = value.function;
  return typeof named === "object" && named !== null && "name" in named && typeof named.name === "string" ? { name: named.name } : null;
}

function readMessage(message: ChatMessage, media: MediaStore, raw: () => string): Message {
  const content = readContent(message.content, media);
  const further = { ...(message.name == null ? {} : { name: message.name }), ...extraOf(message) };
  switch (message.role) {
    case "system":
    case "developer":
    case "user":
      return { role: message.role, content, ...further };
    case "assistant":
      return { ...readAssistant(message, content), ...extraOf(message) };
    case "tool":
      return { role: "tool", toolCallId: message.tool_call_id ?? "", content, ...further };
    default:
      return { role: "other", raw: raw() };
  }
}

const messageMembers: ReadonlySet<string> = new Set(["role", "content", "name", "reasoning_content", "reasoning", "tool_calls", "tool_call_id"]);

const none = {};

/** Fields of a message that have no place of their own; a field that says nothing is none. */
function extraOf(message: ChatMessage): { readonly extra?: string } {
  let rest: Record<string, unknown> | null = null;
  for (const name in message) {
    const value = message[name];
    if (messageMembers.has(name) || value === null || value === undefined) continue;
    rest ??= {};
    rest[name] = value;
  }
  return rest === null ? none : { extra: JSON.stringify(rest) };
}

function readAssistant(message: ChatMessage, content: readonly ContentPart[]): AssistantMessage {
  const reasoning = message.reasoning_content ?? message.reasoning ?? undefined;
  return {
    role: "assistant",
    content,
    ...(reasoning === undefined || reasoning === "" ? {} : { reasoning }),
    toolCalls: (message.tool_calls ?? []).map((call): ToolCall => {
      const id = call.id ?? "";
      if (call.custom != null) return { id, kind: "custom", name: call.custom.name, arguments: call.custom.input ?? "" };
      return { id, kind: "function", name: call.function?.name ?? "", arguments: argumentText(call.function?.arguments) };
    }),
  };
}

/** Arguments are JSON text on this wire; a client that sends the object itself gets it spelled out. */
function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : canonicalJson(JSON.stringify(value));
}

function readContent(content: ChatMessage["content"], media: MediaStore): readonly ContentPart[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part) => (typeof part === "string" ? { type: "text", text: part } : readPart(part, media)));
}

function readPart(part: ChatPart, media: MediaStore): ContentPart {
  if (part.type === "text" && typeof part.text === "string") return { type: "text", text: part.text };
  if (part.type === "image_url") {
    const image = typeof part.image_url === "string" ? { url: part.image_url } : part.image_url;
    if (typeof image === "object" && image !== null && "url" in image && typeof image.url === "string") {
      const detail = "detail" in image && typeof image.detail === "string" ? { detail: image.detail } : {};
      return { type: "image", ...readMedia(image.url, media), ...detail };
    }
  }
  if (part.type === "file" && typeof part.file === "object" && part.file !== null) {
    const file = part.file;
    if ("file_data" in file && typeof file.file_data === "string") {
      const name = "filename" in file && typeof file.filename === "string" ? { name: file.filename } : {};
      return { type: "file", ...readMedia(file.file_data, media), ...name };
    }
  }
  return { type: "other", raw: JSON.stringify(part) };
}
