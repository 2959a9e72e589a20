/**
 * An Ollama server, by its own `/api/chat`: its OpenAI-compatible route cuts a prompt that is too long and says nothing; here it is told
 * not to. Text only.
 */
import { z } from "zod";
import type { ToolCall } from "../../../engine/conversation/index.ts";
import type { SaidPiece } from "../dialects/answer-writer.ts";
import type { StreamedAnswer } from "../dialects/chat/stream-reader.ts";
import type { MediaStore } from "../dialects/dialect.ts";
import { firstIssue } from "../dialects/zod-issue.ts";
import { answerOfServer, parseServerJson } from "./chat-answer.ts";
import type { DefinitionOf } from "./definition.ts";
import { ollamaRequest } from "./ollama-request.ts";
import { createServer, type InferenceServer } from "./server.ts";
import { garbledFailure } from "./server-failure.ts";
import type { Upstream } from "./upstream.ts";

const chunkSchema = z.looseObject({
  model: z.string().nullish(),
  error: z.string().nullish(),
  message: z
    .looseObject({
      content: z.string().nullish(),
      thinking: z.string().nullish(),
      tool_calls: z
        .array(z.looseObject({ id: z.string().nullish(), function: z.looseObject({ name: z.string(), arguments: z.unknown() }) }))
        .nullish(),
    })
    .nullish(),
  done: z.boolean().nullish(),
  done_reason: z.string().nullish(),
  /** Left out when the prompt was cached. */
  prompt_eval_count: z.number().nullish(),
  eval_count: z.number().nullish(),
});

export function createOllama(definition: DefinitionOf<"ollama">, key: string | null, media: MediaStore): Upstream {
  const server = createServer({ url: definition.url, model: definition.model, key });
  const contextWindow = definition.contextWindow ?? null;
  return {
    id: definition.id,
    kind: "ollama",
    capture: "text-only",
    takesTokenIds: false,
    contextWindow,
    tokenizerFolder: null,
    async complete({ conversation, onSaid }, signal) {
      const model = await server.model(signal);
      if (!model.ok) return model;
      const encoded = ollamaRequest(conversation, {
        ...{ model: model.model, rules: definition.messageRules, media, contextWindow },
        stream: onSaid !== undefined,
      });
      if (!encoded.ok) return { ok: false, failure: { kind: "bad-request", message: encoded.message, remedy: "", retryable: false } };
      const onLine = onSaid === undefined ? undefined : (line: string): void => saidInLine(line).forEach(onSaid);
      const reply = await server.post("/api/chat", encoded.body, signal, onLine);
      if (!reply.ok) return reply;
      const { exchange } = reply;
      const read = readAnswer(reply.text);
      if (typeof read === "string") return { ok: false, failure: garbledFailure(server.root, read), exchange };
      const answer = answerOfServer(read, conversation.sampling.maxTokens, read.model ?? model.model);
      return { ok: true, answer, exchange, notes: encoded.notes };
    },
    async close() {
      server.close();
    },
  };
}

/** Whether something that lists models is Ollama: it says its version under a path of its own. */
export async function isOllama(server: InferenceServer, signal: AbortSignal): Promise<boolean> {
  const reply = await server.get("/api/version", signal);
  return reply.ok && reply.text.includes('"version"');
}

/** Text and reasoning in one line of a stream; nothing when it is none, which the reader of the whole will say. */
function saidInLine(line: string): readonly SaidPiece[] {
  let json: unknown;
  try {
    json = parseServerJson(line);
  } catch {
    return [];
  }
  const said = chunkSchema.safeParse(json).data?.message;
  const pieces: readonly SaidPiece[] = [
    { kind: "reasoning", text: said?.thinking ?? "" },
    { kind: "text", text: said?.content ?? "" },
  ];
  return pieces.filter(({ text }) => text !== "");
}

/** One object, or a line for each piece where the server streams; a phrase when it can't be read. */
function readAnswer(text: string): StreamedAnswer | string {
  let answer = { text: "", reasoning: "", model: null as string | null, promptTokens: 0, completionTokens: 0 };
  const toolCalls: ToolCall[] = [];
  let reason: string | null = null;
  for (const document of documentsOf(text)) {
    let json: unknown;
    try {
      json = parseServerJson(document);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    const parsed = chunkSchema.safeParse(json);
    if (!parsed.success) return firstIssue(parsed.error);
    const { message, model, error, done, done_reason: doneReason, prompt_eval_count: prompt, eval_count: completion } = parsed.data;
    if (error != null) return `it ends with an error, ${JSON.stringify(error)}`;
    answer = {
      text: answer.text + (message?.content ?? ""),
      reasoning: answer.reasoning + (message?.thinking ?? ""),
      model: model ?? answer.model,
      promptTokens: prompt ?? answer.promptTokens,
      completionTokens: completion ?? answer.completionTokens,
    };
    for (const { id, function: called } of message?.tool_calls ?? [])
      toolCalls.push({ id: id ?? "", kind: "function", name: called.name, arguments: JSON.stringify(called.arguments ?? {}) });
    if (done === true) reason = doneReason ?? "stop";
  }
  if (reason === null) return "it ends before the answer is done";
  const { promptTokens, completionTokens, ...said } = answer;
  const finishReason = reason === "length" ? "length" : toolCalls.length > 0 ? "tool-calls" : "stop";
  return { ...said, toolCalls, finishReason, usage: { promptTokens, completionTokens }, error: undefined };
}

function documentsOf(text: string): readonly string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.length > 1 && lines.every((line) => line.startsWith("{")) ? lines : [text];
}
