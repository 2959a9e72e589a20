/** Gemini generateContent request → the internal form. The model and whether it is a stream stand in the path. */
import type { AssistantMessage, ContentPart, Message, ToolCall, ToolChoice } from "../../../../engine/conversation/index.ts";
import { canonicalJson, sliceJson } from "../../../../engine/json/index.ts";
import { type Decoded, invalidRequest, type MediaStore } from "../dialect.ts";
import { readMedia } from "../media.ts";
import { otherMembers, type RequestBody, rawItem } from "../request-body.ts";
import { readSampling } from "../sampling.ts";
import { unsealReasoning } from "../sealed-reasoning.ts";
import { readTools } from "../tools.ts";
import { firstIssue } from "../zod-issue.ts";
import { type GeminiContent, type GeminiPart, type GeminiRequest, geminiMembers, geminiRequestSchema } from "./schema.ts";

export function decodeGemini(body: RequestBody, media: MediaStore, path: string): Decoded {
  const parsed = geminiRequestSchema.safeParse(body.value);
  if (!parsed.success) return invalidRequest(`This is no generateContent request: ${firstIssue(parsed.error)}.`);
  const request = parsed.data;
  const { known } = body;
  if (known.items + request.contents.length === 0) return invalidRequest("`contents` is empty: a request needs at least one message.");
  const asked = readPath(path);
  const listed: Message[] = [...known.messages];
  let beforeLast = listed.length;
  request.contents.forEach((content, index) => {
    beforeLast = listed.length;
    listed.push(...readContent(content, { media, raw: () => rawItem(body, "contents", known.items + index), earlier: listed }));
  });
  const system = typeof request.systemInstruction === "string" ? [{ text: request.systemInstruction }] : (request.systemInstruction?.parts ?? []);
  const systemParts = system.flatMap((part) => readPart(part, media));
  const choice = readToolChoice(request.toolConfig?.functionCallingConfig);
  const config = request.generationConfig ?? {};
  const items = known.items + request.contents.length;
  return {
    ok: true,
    marks: [
      { items, messages: listed },
      { items: items - 1, messages: listed.slice(0, beforeLast) },
    ],
    conversation: {
      model: asked.model,
      messages: systemParts.length === 0 ? listed : [{ role: "system", content: systemParts }, ...listed],
      tools: readTools(body.raw.get("tools"), "gemini"),
      ...(choice === undefined ? {} : { toolChoice: choice }),
      sampling: readSampling(
        { temperature: config.temperature, top_p: config.topP, top_k: config.topK, stop: config.stopSequences, seed: config.seed },
        config.maxOutputTokens,
      ),
      stream: asked.stream,
      extra: otherMembers(body, geminiMembers),
    },
    reply: {
      model: asked.model,
      stream: asked.stream && asked.events,
      includeUsage: true,
      encryptedReasoning: false,
      parallelToolCalls: true,
      // A stream that is not asked for as events is one JSON list.
      ...(asked.stream && !asked.events ? { asList: true } : {}),
    },
  };
}

function readPath(path: string): { readonly model: string; readonly stream: boolean; readonly events: boolean } {
  const [place = "", query = ""] = path.split("?", 2);
  const match = /\/models\/([^/]*):(\w+)\/*$/.exec(place);
  const model = match?.[1] ?? "";
  return {
    model: /%[0-9a-f]{2}/i.test(model) ? safeDecode(model) : model,
    stream: match?.[2] === "streamGenerateContent",
    events: new URLSearchParams(query).get("alt") === "sse",
  };
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function readToolChoice(config: NonNullable<GeminiRequest["toolConfig"]>["functionCallingConfig"]): ToolChoice | undefined {
  const [only, ...others] = config?.allowedFunctionNames ?? [];
  switch (config?.mode) {
    case "AUTO":
      return "auto";
    case "NONE":
      return "none";
    case "ANY":
      return only !== undefined && others.length === 0 ? { name: only } : "required";
    default:
      return undefined;
  }
}

interface Reading {
  readonly media: MediaStore;
  readonly raw: () => string;
  readonly earlier: readonly Message[];
}

function readContent(content: GeminiContent, reading: Reading): readonly Message[] {
  if (content.role === "model") return [readModel(content.parts ?? [], reading)];
  if (content.role == null || content.role === "user" || content.role === "function") return readUser(content.parts ?? [], reading);
  return [{ role: "other", raw: reading.raw() }];
}

function readModel(parts: readonly GeminiPart[], { media, raw, earlier }: Reading): AssistantMessage {
  const shown = parts.filter((part) => part.thought === true).map((part) => part.text ?? "");
  const sealed = parts.map((part) => (part.thoughtSignature == null ? "" : (unsealReasoning(part.thoughtSignature) ?? "")));
  const reasoning = shown.join("") || (sealed.find((text) => text !== "") ?? "");
  const apart = (part: GeminiPart): boolean => part.thought === true || part.functionCall != null;
  const hasCalls = parts.some((part) => part.functionCall != null);
  return {
    role: "assistant",
    content: parts.filter((part) => !apart(part)).flatMap((part) => readPart(part, media)),
    ...(reasoning === "" ? {} : { reasoning }),
    toolCalls: hasCalls ? readCalls(parts, raw(), earlier.length) : [],
  };
}

/** Older clients name no id: the place in the conversation is one. */
function readCalls(parts: readonly GeminiPart[], raw: string, place: number): readonly ToolCall[] {
  const slices = sliceJson(raw).entries().get("parts")?.items() ?? [];
  return parts.flatMap(({ functionCall }, index): ToolCall[] => {
    if (functionCall == null) return [];
    const args = slices[index]?.entries().get("functionCall")?.entries().get("args");
    const given = args === undefined || args.kind !== "object" ? "{}" : canonicalJson(args.text);
    return [{ id: functionCall.id ?? `call_${place}_${index}`, kind: "function", name: functionCall.name, arguments: given }];
  });
}

function readUser(parts: readonly GeminiPart[], { media, raw, earlier }: Reading): readonly Message[] {
  const messages: Message[] = [];
  let open: ContentPart[] = [];
  const close = (): void => {
    if (open.length > 0) messages.push({ role: "user", content: open });
    open = [];
  };
  const unanswered = callsOfLast(earlier);
  const slices = parts.some((part) => part.functionResponse != null) ? (sliceJson(raw()).entries().get("parts")?.items() ?? []) : [];
  parts.forEach((part, index) => {
    const answer = part.functionResponse;
    if (answer == null) {
      open.push(...readPart(part, media));
      return;
    }
    close();
    const at = unanswered.findIndex((call) => (answer.id == null ? call.name === answer.name : call.id === answer.id));
    const [call] = at < 0 ? [] : unanswered.splice(at, 1);
    const written = slices[index]?.entries().get("functionResponse")?.entries().get("response")?.text ?? "{}";
    messages.push({
      role: "tool",
      toolCallId: answer.id ?? call?.id ?? "",
      name: answer.name,
      content: [{ type: "text", text: responseText(answer.response, written) }],
    });
  });
  close();
  return messages.length === 0 ? [{ role: "user", content: [] }] : messages;
}

function callsOfLast(messages: readonly Message[]): ToolCall[] {
  const last = messages.findLast((message) => message.role === "assistant");
  return last?.role === "assistant" ? [...last.toolCalls] : [];
}

/** A response that holds one text is that text; any other is its JSON. */
function responseText(response: unknown, written: string): string {
  if (typeof response === "object" && response !== null) {
    const [entry, ...others] = Object.entries(response);
    const isText = entry !== undefined && others.length === 0 && ["output", "result", "content", "error"].includes(entry[0]);
    if (isText && typeof entry[1] === "string") return entry[1];
  }
  return canonicalJson(written);
}

function readPart(part: GeminiPart, media: MediaStore): readonly ContentPart[] {
  if (part.text != null) return part.text === "" ? [] : [{ type: "text", text: part.text }];
  const given = part.inlineData ?? part.fileData;
  const type = given?.mimeType ?? "application/octet-stream";
  const address = given?.data != null ? `data:${type};base64,${given.data}` : given?.fileUri;
  if (address == null) return [{ type: "other", raw: JSON.stringify(part) }];
  return [{ type: type.startsWith("image/") ? "image" : "file", ...readMedia(address, media) }];
}
