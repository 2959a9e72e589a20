/** OpenAI Responses request → the internal form. Items in a row that one answer gave become one assistant message again. */
import type { AssistantMessage, ContentPart, Message, ToolCall, ToolChoice } from "../../../../engine/conversation/index.ts";
import { canonicalJson } from "../../../../engine/json/index.ts";
import { type Decoded, invalidRequest, type MediaStore } from "../dialect.ts";
import { readMedia } from "../media.ts";
import { otherMembers, type RequestBody, rawItem } from "../request-body.ts";
import { readSampling } from "../sampling.ts";
import { unsealReasoning } from "../sealed-reasoning.ts";
import { readTools } from "../tools.ts";
import { firstIssue } from "../zod-issue.ts";
import { type ResponsesItem, type ResponsesPart, responsesMembers, responsesRequestSchema } from "./schema.ts";

const sealedReasoning = "reasoning.encrypted_content";

export function decodeResponses(body: RequestBody, media: MediaStore): Decoded {
  const parsed = responsesRequestSchema.safeParse(body.value);
  if (!parsed.success) return invalidRequest(`This is no Responses request: ${firstIssue(parsed.error)}.`);
  const request = parsed.data;
  if (request.previous_response_id != null)
    return invalidRequest("`previous_response_id` is not kept here: send the whole history in `input`, with `store` false.", "unsupported_parameter");
  const { known } = body;
  const raw = (index: number): string => rawItem(body, "input", known.items + index);
  const input = typeof request.input === "string" ? [{ role: "user", content: request.input }] : request.input;
  const read = readItems(input, media, raw);
  const listed = [...known.messages, ...read.messages];
  const messages = [...listed];
  if (request.instructions != null && request.instructions !== "")
    messages.unshift({ role: "system", content: [{ type: "text", text: request.instructions }] });
  if (messages.length === 0) return invalidRequest("`input` is empty: a request needs at least one message.");
  const choice = readToolChoice(request.tool_choice);
  const stream = request.stream ?? false;
  const parallel = request.parallel_tool_calls ?? undefined;
  const include = request.include ?? [];
  const placed = new Set(responsesMembers);
  if (choice === null) placed.delete("tool_choice");
  if (include.some((name) => name !== sealedReasoning)) placed.delete("include");
  return {
    ok: true,
    marks: read.marks.map((mark) => ({ items: known.items + mark.items, messages: listed.slice(0, known.messages.length + mark.messages) })),
    conversation: {
      model: request.model,
      messages,
      tools: readTools(body.raw.get("tools"), "responses"),
      ...(choice === null || choice === undefined ? {} : { toolChoice: choice }),
      ...(parallel === undefined ? {} : { parallelToolCalls: parallel }),
      sampling: readSampling(request, request.max_output_tokens),
      stream,
      extra: otherMembers(body, placed),
    },
    reply: {
      model: request.model,
      stream,
      includeUsage: true,
      encryptedReasoning: include.includes(sealedReasoning),
      parallelToolCalls: parallel ?? true,
    },
  };
}

/** undefined = not asked; null = a form that stays in `extra`. */
function readToolChoice(value: unknown): ToolChoice | null | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === "auto" || value === "none" || value === "required") return value;
  const isNamed = typeof value === "object" && "type" in value && value.type === "function" && "name" in value;
  return isNamed && typeof value.name === "string" ? { name: value.name } : null;
}

/** An assistant message that may still grow: reasoning comes first, then text, then calls; what comes out of order begins a new one. */
interface OpenTurn {
  reasoning: string | undefined;
  content: readonly ContentPart[] | undefined;
  readonly calls: ToolCall[];
}

interface ReadItems {
  readonly messages: readonly Message[];
  /** The last places where no assistant turn is open, as counts; longest first. */
  readonly marks: readonly { readonly items: number; readonly messages: number }[];
}

function readItems(items: readonly ResponsesItem[], media: MediaStore, raw: (index: number) => string): ReadItems {
  const messages: Message[] = [];
  let marks: ReadItems["marks"] = [];
  let turn: OpenTurn | null = null;
  const close = (): void => {
    if (turn !== null) messages.push(assistantMessage(turn));
    turn = null;
  };
  const grow = (fits: (open: OpenTurn) => boolean): OpenTurn => {
    if (turn === null || !fits(turn)) {
      close();
      turn = { reasoning: undefined, content: undefined, calls: [] };
    }
    return turn;
  };
  items.forEach((item, index) => {
    const type = item.type ?? (item.role === undefined ? "" : "message");
    if (type === "reasoning") {
      grow((open) => open.reasoning === undefined && open.content === undefined && open.calls.length === 0).reasoning = readReasoning(item);
    } else if (type === "message" && item.role === "assistant") {
      grow((open) => open.content === undefined && open.calls.length === 0).content = readContent(item.content, media);
    } else if (type === "function_call" || type === "custom_tool_call" || type === "computer_call") {
      grow(() => true).calls.push(readCall(item, type));
    } else {
      close();
      messages.push(readOther(item, type, media, () => raw(index)));
      marks = [{ items: index + 1, messages: messages.length }, ...marks.slice(0, 1)];
    }
  });
  close();
  return { messages, marks };
}

function assistantMessage(turn: OpenTurn): AssistantMessage {
  const reasoning = turn.reasoning === undefined || turn.reasoning === "" ? {} : { reasoning: turn.reasoning };
  return { role: "assistant", content: turn.content ?? [], ...reasoning, toolCalls: turn.calls };
}

function readReasoning(item: ResponsesItem): string {
  const sealed = item.encrypted_content == null ? null : unsealReasoning(item.encrypted_content);
  if (sealed !== null) return sealed;
  const parts = Array.isArray(item.content) && item.content.length > 0 ? item.content : (item.summary ?? []);
  return parts.map((part) => (typeof part.text === "string" ? part.text : "")).join("\n");
}

function readCall(item: ResponsesItem, type: "function_call" | "custom_tool_call" | "computer_call"): ToolCall {
  const place = item.namespace == null ? {} : { namespace: item.namespace };
  const id = item.call_id ?? "";
  const name = item.name ?? "";
  switch (type) {
    case "custom_tool_call":
      return { id, kind: "custom", name, ...place, arguments: item.input ?? "" };
    case "function_call":
      return { id, kind: "function", name, ...place, arguments: item.arguments ?? "" };
    case "computer_call":
      // It has no name, and its arguments are an object of their own.
      return { id, kind: "function", name: "computer", arguments: canonicalJson(JSON.stringify(item.action ?? {})) };
  }
}

const answeredTypes: ReadonlySet<string> = new Set(["function_call_output", "custom_tool_call_output", "computer_call_output"]);

function readOther(item: ResponsesItem, type: string, media: MediaStore, raw: () => string): Message {
  const role = item.role;
  if (type === "message" && (role === "system" || role === "developer" || role === "user"))
    return { role, content: readContent(item.content, media) };
  if (answeredTypes.has(type) && item.output != null)
    return { role: "tool", toolCallId: item.call_id ?? "", content: readContent(item.output, media) };
  return { role: "other", raw: raw() };
}

function readContent(content: ResponsesItem["output"], media: MediaStore): readonly ContentPart[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  return (Array.isArray(content) ? content : [content]).map((part) => readPart(part, media));
}

function readPart(part: ResponsesPart, media: MediaStore): ContentPart {
  const isText = part.type === "input_text" || part.type === "output_text" || part.type === "text";
  if (isText && typeof part.text === "string") return { type: "text", text: part.text };
  if ((part.type === "input_image" || part.type === "computer_screenshot") && typeof part.image_url === "string") {
    const detail = typeof part.detail === "string" ? { detail: part.detail } : {};
    return { type: "image", ...readMedia(part.image_url, media), ...detail };
  }
  const file = part.type === "input_file" ? (part.file_data ?? part.file_url) : undefined;
  if (typeof file === "string")
    return { type: "file", ...readMedia(file, media), ...(typeof part.filename === "string" ? { name: part.filename } : {}) };
  return { type: "other", raw: JSON.stringify(part) };
}
