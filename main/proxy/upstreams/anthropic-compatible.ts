/** Any server that speaks Anthropic Messages, as a teacher. Text only: its rollouts can be looked at and exported, not trained by reinforcement. */
import { z } from "zod";
import type { StreamedAnswer } from "../dialects/chat/stream-reader.ts";
import type { MediaStore } from "../dialects/dialect.ts";
import { readMessagesAnswer } from "../dialects/messages/read-answer.ts";
import { joinStream, saidInEvent } from "../dialects/messages/read-stream.ts";
import { answerOfServer } from "./chat-answer.ts";
import type { DefinitionOf } from "./definition.ts";
import { messagesRequest } from "./messages-request.ts";
import { createServer } from "./server.ts";
import { garbledFailure } from "./server-failure.ts";
import { createThinkingMemory } from "./thinking-memory.ts";
import type { Upstream } from "./upstream.ts";

const apiVersion = "2023-06-01";
const modelSchema = z.looseObject({ model: z.string() });

export function createAnthropicCompatible(definition: DefinitionOf<"anthropic-compatible">, key: string | null, media: MediaStore): Upstream {
  const server = createServer({
    ...{ url: definition.url, model: definition.model, key },
    ...{ keyHeader: "x-api-key", headers: { "anthropic-version": apiVersion } },
  });
  const thinking = createThinkingMemory();
  return {
    id: definition.id,
    kind: "anthropic-compatible",
    capture: "text-only",
    takesTokenIds: false,
    contextWindow: null,
    tokenizerFolder: null,
    async complete({ conversation, labels, onSaid }, signal) {
      const model = await server.model(signal);
      if (!model.ok) return model;
      const sameDialect = labels.dialect === "messages";
      const encoded = messagesRequest(conversation, {
        ...{ model: model.model, media, sameDialect, thinkingOf: thinking.blocksOf },
        stream: onSaid !== undefined,
      });
      if (!encoded.ok) return { ok: false, failure: { kind: "bad-request", message: encoded.message, remedy: "", retryable: false } };
      const onEvent = onSaid === undefined ? undefined : (data: string): void => saidInEvent(data).forEach(onSaid);
      const reply = await server.post("/v1/messages", encoded.body, signal, onEvent);
      if (!reply.ok) return reply;
      const { text, contentType, exchange } = reply;
      const read = readServerMessage(text, contentType.startsWith("text/event-stream"));
      if (typeof read === "string") return { ok: false, failure: garbledFailure(server.root, read), exchange };
      thinking.keep(read.body, read.reasoning);
      const answer = answerOfServer(read, encoded.maxTokens, read.model ?? model.model);
      return { ok: true, answer, exchange, notes: encoded.notes };
    },
    async close() {
      server.close();
    },
  };
}

/** `body`: of the whole message, also where it was streamed. What can't be read, as a phrase. */
function readServerMessage(text: string, streamed: boolean): (StreamedAnswer & { readonly body: string }) | string {
  try {
    const { body, error } = streamed ? joinStream(text) : { body: text, error: undefined };
    if (error !== undefined) return `its stream ends with an error, ${JSON.stringify(error)}`;
    const read = body === null ? null : readMessagesAnswer(body, false);
    if (body === null || read === null) return streamed ? "its stream does not end as one of Messages does" : "it is no answer of Messages";
    const { message, finishReason, usage } = read;
    return {
      body,
      text: message.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
      reasoning: message.reasoning ?? "",
      toolCalls: message.toolCalls,
      finishReason,
      usage,
      model: modelSchema.safeParse(JSON.parse(body)).data?.model ?? null,
      error: undefined,
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
