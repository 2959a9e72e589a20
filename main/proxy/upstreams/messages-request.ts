/**
 * The internal form → an Anthropic Messages request. Turns of one side in a row become one; cache markers of our own stand where a
 * longer request will begin alike. What the server can't be given is refused or noted, never dropped in silence.
 */
import type { ContentPart, Conversation, Message, ToolDefinition } from "../../../engine/conversation/index.ts";
import { replaceLoneSurrogates, sliceJson } from "../../../engine/json/index.ts";
import type { MediaStore } from "../dialects/dialect.ts";
import { mediaUrl } from "../dialects/media.ts";
import { argumentsObject } from "../dialects/messages/blocks.ts";

interface MessagesRequestOptions {
  readonly model: string;
  readonly media: MediaStore;
  readonly stream: boolean;
  /** The request came in this dialect too: its parts that we do not know mean something to the server. */
  readonly sameDialect: boolean;
  /** The server's own blocks for a reasoning that it wrote; none when they are not known. */
  thinkingOf(reasoning: string): readonly string[];
}

type MessagesRequest =
  | { readonly ok: true; readonly body: Uint8Array; readonly maxTokens: number; readonly notes: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** This dialect wants a limit; most models of it can write as much. */
const defaultMaxTokens = 8_192;

interface Turn {
  readonly role: "user" | "assistant";
  /** JSON texts. */
  readonly blocks: string[];
}

/** Thrown inside, told outside: a sentence for the harness. */
class Ungivable extends Error {}

export function messagesRequest(conversation: Conversation, options: MessagesRequestOptions): MessagesRequest {
  const notes: string[] = [];
  try {
    const start = conversation.messages.findIndex(({ role }) => role !== "system" && role !== "developer");
    const heads = start === -1 ? conversation.messages : conversation.messages.slice(0, start);
    const system = heads.flatMap((message) => ("content" in message ? message.content : [])).flatMap((part) => partBlocks(part, options));
    const turns = joinTurns(conversation.messages.slice(heads.length), options, notes);
    const tools = conversation.tools.flatMap((tool) => toolBlocks(tool, options, notes));
    const choice = toolChoiceText(conversation);
    const maxTokens = conversation.sampling.maxTokens ?? defaultMaxTokens;
    const members = [
      `"model":${JSON.stringify(options.model)}`,
      `"max_tokens":${maxTokens}`,
      `"stream":${options.stream}`,
      ...(system.length === 0 ? [] : [`"system":[${withMarker(system).join(",")}]`]),
      `"messages":[${markTurns(turns).map(turnText).join(",")}]`,
      ...(tools.length === 0 ? [] : [`"tools":[${tools.join(",")}]`]),
      ...(tools.length === 0 || choice === null ? [] : [`"tool_choice":${choice}`]),
      ...samplingTexts(conversation, notes),
      ...(options.sameDialect ? passedOn(conversation, options, notes) : []),
    ];
    return { ok: true, body: Buffer.from(`{${members.join(",")}}`), maxTokens, notes };
  } catch (error) {
    if (error instanceof Ungivable) return { ok: false, message: error.message };
    throw error;
  }
}

function joinTurns(messages: readonly Message[], options: MessagesRequestOptions, notes: string[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks = messageBlocks(message, options, notes);
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else if (blocks.length > 0) turns.push({ role, blocks: [...blocks] });
  }
  return turns;
}

function messageBlocks(message: Message, options: MessagesRequestOptions, notes: string[]): readonly string[] {
  switch (message.role) {
    case "other":
      throw new Ungivable("The request holds an item of another dialect that this policy can't be given.");
    case "system":
    case "developer":
      notes.push("A system message after the first turns was sent as a user's: this policy takes none there.");
      return message.content.flatMap((part) => partBlocks(part, options));
    case "user":
      return message.content.flatMap((part) => partBlocks(part, options));
    case "tool": {
      const content = message.content.flatMap((part) => partBlocks(part, options));
      const failed = message.extra === '{"is_error":true}' ? ',"is_error":true' : "";
      return [`{"type":"tool_result","tool_use_id":${JSON.stringify(toolId(message.toolCallId))},"content":[${content.join(",")}]${failed}}`];
    }
    case "assistant": {
      const thinking = message.reasoning === undefined ? [] : options.thinkingOf(message.reasoning);
      if (message.reasoning !== undefined && thinking.length === 0)
        notes.push("Reasoning that this policy did not write itself, or that is forgotten, was left out of the request.");
      const calls = message.toolCalls.map(
        (call) => `{"type":"tool_use","id":${JSON.stringify(toolId(call.id))},"name":${JSON.stringify(call.name)},"input":${argumentsObject(call)}}`,
      );
      return [...thinking, ...message.content.flatMap((part) => partBlocks(part, options)), ...calls];
    }
  }
}

/** Other dialects allow more characters in an id than this one. */
function toolId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
}

/** Texts of nothing, or of nothing but white space, are refused by servers; they say nothing. */
function partBlocks(part: ContentPart, { media, sameDialect }: MessagesRequestOptions): readonly string[] {
  if (part.type === "text") return part.text.trim() === "" ? [] : [JSON.stringify({ type: "text", text: replaceLoneSurrogates(part.text) })];
  if (part.type === "other") {
    if (sameDialect) return [part.raw];
    throw new Ungivable("The request holds a part that this policy can't be given.");
  }
  const url = mediaUrl(part.source, part.mediaType, media);
  if (url === null) throw new Ungivable("The bytes of a picture or file of this request are gone.");
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  const source = data === null ? { type: "url", url } : { type: "base64", media_type: data[1], data: data[2] };
  if (part.type === "image") return [JSON.stringify({ type: "image", source })];
  return [JSON.stringify({ type: "document", source, ...(part.name === undefined ? {} : { title: part.name }) })];
}

const marker = ',"cache_control":{"type":"ephemeral"}}';

/** At the end of the last block that may bear one: thinking may not. */
function withMarker(blocks: readonly string[]): readonly string[] {
  const last = blocks.findLastIndex((block) => !/^\{\s*"type":\s*"(?:redacted_)?thinking"/.test(block) && !block.includes('"cache_control"'));
  return blocks.map((block, index) => (index === last ? `${block.slice(0, -1)}${marker}` : block));
}

/** The last two turns of the user: what was sent before is found again, and what is sent now will be. */
function markTurns(turns: readonly Turn[]): readonly Turn[] {
  const users = turns.flatMap(({ role }, index) => (role === "user" ? [index] : [])).slice(-2);
  return turns.map((turn, index) => (users.includes(index) ? { role: turn.role, blocks: [...withMarker(turn.blocks)] } : turn));
}

function turnText({ role, blocks }: Turn): string {
  return `{"role":"${role}","content":[${blocks.join(",")}]}`;
}

function toolBlocks(tool: ToolDefinition, { sameDialect }: MessagesRequestOptions, notes: string[]): readonly string[] {
  if (tool.kind === "other") {
    if (sameDialect) return [tool.raw];
    notes.push("A tool of a kind that this policy can't be given was left out.");
    return [];
  }
  const description = tool.description === undefined ? "" : `,"description":${JSON.stringify(replaceLoneSurrogates(tool.description))}`;
  return [`{"name":${JSON.stringify(tool.name)}${description},"input_schema":${tool.parameters ?? '{"type":"object","properties":{}}'}}`];
}

function toolChoiceText({ toolChoice, parallelToolCalls }: Conversation): string | null {
  const parallel = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  if (toolChoice === undefined) return parallelToolCalls === false ? JSON.stringify({ type: "auto", ...parallel }) : null;
  if (typeof toolChoice !== "string") return JSON.stringify({ type: "tool", name: toolChoice.name, ...parallel });
  if (toolChoice === "none") return JSON.stringify({ type: "none" });
  return JSON.stringify({ type: toolChoice === "required" ? "any" : "auto", ...parallel });
}

function samplingTexts({ sampling }: Conversation, notes: string[]): readonly string[] {
  const { temperature, topP, topK, minP, seed, stop } = sampling;
  // Other dialects go to 2.
  const fitted = temperature === undefined ? undefined : Math.min(1, temperature);
  if (fitted !== temperature) notes.push(`Temperature ${temperature} was sent as 1, the highest that this policy takes.`);
  if (minP !== undefined || seed !== undefined) notes.push("This policy takes no min_p and no seed: they were left out.");
  // Of no effect, and newer models refuse it.
  const kept = { temperature: fitted, top_p: topP === 1 ? undefined : topP, top_k: topK, stop_sequences: stop };
  return Object.entries(kept).flatMap(([name, value]) => (value === undefined ? [] : [`"${name}":${JSON.stringify(value)}`]));
}

/** Members that need no header of their own; a server refuses a member that it does not know. */
const passed: ReadonlySet<string> = new Set(["thinking"]);

function passedOn({ extra, messages }: Conversation, { thinkingOf }: MessagesRequestOptions, notes: string[]): readonly string[] {
  const isPassed = (name: string): boolean => passed.has(name) && !(name === "thinking" && goesOnWithoutThinking(messages, thinkingOf));
  const members = [...sliceJson(extra).entries()];
  const left = members.flatMap(([name]) => (isPassed(name) ? [] : [name]));
  if (left.length > 0) notes.push(`Members of the request that were left out: ${left.join(", ")}.`);
  return members.flatMap(([name, { text }]) => (isPassed(name) ? [`${JSON.stringify(name)}:${text}`] : []));
}

/** An answer to tools whose call has lost its thinking is refused while thinking is on. */
function goesOnWithoutThinking(messages: Conversation["messages"], thinkingOf: MessagesRequestOptions["thinkingOf"]): boolean {
  const last = messages.findLast((message) => message.role === "assistant");
  return last !== undefined && last.toolCalls.length > 0 && thinkingOf(last.reasoning ?? "").length === 0;
}
