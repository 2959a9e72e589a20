/**
 * Anthropic Messages request → the internal form. One user message of this dialect may hold the answers of several tools and a text:
 * each becomes a message of its own. Cache markers say nothing about the conversation and are left out.
 */
import type { AssistantMessage, ContentPart, Message, ToolCall, ToolChoice } from "../../../../engine/conversation/index.ts";
import { canonicalJson, sliceJson } from "../../../../engine/json/index.ts";
import { type Decoded, invalidRequest, type MediaStore } from "../dialect.ts";
import { readMedia } from "../media.ts";
import { otherMembers, type RequestBody, rawItem } from "../request-body.ts";
import { readSampling } from "../sampling.ts";
import { unsealReasoning } from "../sealed-reasoning.ts";
import { readTools } from "../tools.ts";
import { firstIssue } from "../zod-issue.ts";
import { type MessagesBlock, type MessagesRequest, messagesMembers, messagesRequestSchema } from "./schema.ts";

export function decodeMessages(body: RequestBody, media: MediaStore): Decoded {
  const parsed = messagesRequestSchema.safeParse(body.value);
  if (!parsed.success) return invalidRequest(`This is no Messages request: ${firstIssue(parsed.error)}.`);
  const request = parsed.data;
  const { known } = body;
  if (known.items + request.messages.length === 0) return invalidRequest("`messages` is empty: a request needs at least one message.");
  const read = request.messages.map((message, index) => readMessage(message, media, () => rawItem(body, "messages", known.items + index)));
  const listed = [...known.messages, ...read.flat()];
  const system = readContent(request.system ?? [], media);
  const stream = request.stream ?? false;
  const parallel = request.tool_choice?.disable_parallel_tool_use;
  const choice = readToolChoice(request.tool_choice);
  const beforeLast = listed.length - (read.at(-1)?.length ?? 0);
  return {
    ok: true,
    marks: [
      { items: known.items + read.length, messages: listed },
      { items: known.items + read.length - 1, messages: listed.slice(0, beforeLast) },
    ],
    conversation: {
      model: request.model,
      messages: system.length === 0 ? listed : [{ role: "system", content: system }, ...listed],
      tools: readTools(body.raw.get("tools"), "messages"),
      ...(choice === undefined ? {} : { toolChoice: choice }),
      ...(parallel == null ? {} : { parallelToolCalls: !parallel }),
      sampling: readSampling({ ...request, stop: request.stop_sequences, min_p: null, seed: null }, request.max_tokens),
      stream,
      extra: otherMembers(body, messagesMembers),
    },
    reply: { model: request.model, stream, includeUsage: true, encryptedReasoning: false, parallelToolCalls: parallel !== true },
  };
}

function readToolChoice(choice: MessagesRequest["tool_choice"]): ToolChoice | undefined {
  switch (choice?.type) {
    case "auto":
    case "none":
      return choice.type;
    case "any":
      return "required";
    case "tool":
      return choice.name == null ? undefined : { name: choice.name };
    default:
      return undefined;
  }
}

function readMessage({ role, content }: MessagesRequest["messages"][number], media: MediaStore, raw: () => string): readonly Message[] {
  if (role === "assistant") return [readAssistant(content, media, raw)];
  if (role === "user") return readUser(content, media);
  if (role === "system") return [{ role, content: readContent(content, media) }];
  return [{ role: "other", raw: raw() }];
}

function readAssistant(content: string | readonly MessagesBlock[], media: MediaStore, raw: () => string): AssistantMessage {
  if (typeof content === "string") return { role: "assistant", content: textParts(content), toolCalls: [] };
  const reasoning = content.map(thinkingText).join("");
  const isApart = (block: MessagesBlock): boolean => ["thinking", "redacted_thinking", "tool_use"].includes(block.type);
  const hasCalls = content.some(({ type }) => type === "tool_use");
  return {
    role: "assistant",
    content: content.filter((block) => !isApart(block)).flatMap((block) => readBlock(block, media)),
    ...(reasoning === "" ? {} : { reasoning }),
    toolCalls: hasCalls ? readCalls(content, raw()) : [],
  };
}

/** A client that was asked to hide the reasoning sends its signature only: ours carries the text. */
function thinkingText(block: MessagesBlock): string {
  if (block.type === "redacted_thinking") return typeof block.data === "string" ? (unsealReasoning(block.data) ?? "") : "";
  if (block.type !== "thinking") return "";
  if (typeof block.thinking === "string" && block.thinking !== "") return block.thinking;
  return typeof block.signature === "string" ? (unsealReasoning(block.signature) ?? "") : "";
}

/** Arguments come as an object; they are taken from the text, so that the spelling of numbers survives. */
function readCalls(content: readonly MessagesBlock[], raw: string): readonly ToolCall[] {
  const blocks = sliceJson(raw).entries().get("content")?.items() ?? [];
  return content.flatMap((block, index): ToolCall[] => {
    if (block.type !== "tool_use") return [];
    const input = blocks[index]?.entries().get("input");
    const id = typeof block.id === "string" ? block.id : "";
    const name = typeof block.name === "string" ? block.name : "";
    return [{ id, kind: "function", name, arguments: input === undefined ? "{}" : canonicalJson(input.text) }];
  });
}

/** Tool answers in their order, and what stands around them as user messages. */
function readUser(content: string | readonly MessagesBlock[], media: MediaStore): readonly Message[] {
  if (typeof content === "string") return [{ role: "user", content: textParts(content) }];
  const messages: Message[] = [];
  let open: ContentPart[] = [];
  const close = (): void => {
    if (open.length > 0) messages.push({ role: "user", content: open });
    open = [];
  };
  for (const block of content) {
    if (block.type !== "tool_result") {
      open.push(...readBlock(block, media));
      continue;
    }
    close();
    const answer = block.content;
    const parts = typeof answer === "string" ? textParts(answer) : Array.isArray(answer) ? answer.flatMap((part) => readBlock(part, media)) : [];
    const failed = block.is_error === true ? { extra: '{"is_error":true}' } : {};
    messages.push({ role: "tool", toolCallId: typeof block.tool_use_id === "string" ? block.tool_use_id : "", content: parts, ...failed });
  }
  close();
  return messages.length === 0 ? [{ role: "user", content: [] }] : messages;
}

function readContent(content: string | readonly MessagesBlock[], media: MediaStore): readonly ContentPart[] {
  return typeof content === "string" ? textParts(content) : content.flatMap((block) => readBlock(block, media));
}

function textParts(text: string): readonly ContentPart[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function readBlock(block: MessagesBlock, media: MediaStore): readonly ContentPart[] {
  if (block.type === "text" && typeof block.text === "string") return textParts(block.text);
  const source = block.type === "image" || block.type === "document" ? addressOf(block.source) : null;
  if (source !== null && block.type === "image") return [{ type: "image", ...readMedia(source, media) }];
  if (source !== null) return [{ type: "file", ...readMedia(source, media), ...(typeof block.title === "string" ? { name: block.title } : {}) }];
  const { cache_control: _marker, ...rest } = block;
  return [{ type: "other", raw: JSON.stringify(rest) }];
}

/** The address of a `source`, a data URL for bytes; null for a form that is not known. */
function addressOf(source: unknown): string | null {
  if (typeof source !== "object" || source === null || !("type" in source)) return null;
  if (source.type === "url" && "url" in source && typeof source.url === "string") return source.url;
  const isBytes = source.type === "base64" && "data" in source && "media_type" in source;
  if (!isBytes || typeof source.data !== "string" || typeof source.media_type !== "string") return null;
  return `data:${source.media_type};base64,${source.data}`;
}
