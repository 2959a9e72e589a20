/** One Chat Completions call to a server, with the answer's share of the window made smaller when the server says it is too large. */
import type { Answer } from "../../../engine/conversation/index.ts";
import type { Completion } from "../dialects/chat/completion.ts";
import { saidInChunk } from "../dialects/chat/stream-reader.ts";
import type { MediaStore } from "../dialects/dialect.ts";
import { answerOfServer, readServerAnswer } from "./chat-answer.ts";
import { chatRequestMembers, jsonObject, type Members } from "./chat-request.ts";
import type { MessageRules } from "./definition.ts";
import type { InferenceServer, ServerReply } from "./server.ts";
import { garbledFailure, readOverflow } from "./server-failure.ts";
import type { UpstreamExchange, UpstreamRequest, UpstreamResult } from "./upstream.ts";

export interface ChatCallOptions {
  readonly server: InferenceServer;
  readonly media: MediaStore;
  readonly rules: MessageRules;
  /** Further members of the request's JSON object. */
  readonly ask: Members;
  /** Where the request wants to be told what is said, the server is asked to stream. */
  readonly streams?: boolean;
}

export type ChatCall =
  | {
      readonly ok: true;
      readonly answer: Answer;
      readonly completion: Completion | null;
      readonly exchange: UpstreamExchange;
      readonly notes: readonly string[];
    }
  | Extract<UpstreamResult, { ok: false }>;

const [olderName, newerName] = ["max_tokens", "max_completion_tokens"];
/** Servers that refused the older name of an answer's limit; most others do not know the newer one. */
const newerLimits = new WeakSet<InferenceServer>();

function withLimitName(members: Members, server: InferenceServer): Members {
  return newerLimits.has(server) ? new Map([...members].map(([name, value]) => [name === olderName ? newerName : name, value])) : members;
}

const askForStream: Members = new Map([
  ["stream", "true"],
  ["stream_options", '{"include_usage":true}'],
]);

export async function callChat(request: UpstreamRequest, options: ChatCallOptions, signal: AbortSignal): Promise<ChatCall> {
  const { server } = options;
  const model = await server.model(signal);
  if (!model.ok) return model;
  const sameDialect = request.labels.dialect === "chat";
  const encoded = chatRequestMembers(request.conversation, { media: options.media, rules: options.rules, sameDialect, asWritten: request.asWritten });
  if (!encoded.ok) return { ok: false, failure: { kind: "bad-request", message: encoded.message, remedy: "", retryable: false } };
  const notes = [...encoded.notes];
  let asWritten = encoded.asWritten && options.ask.size === 0;
  let maxTokens = request.conversation.sampling.maxTokens;
  const onSaid = options.streams === true ? request.onSaid : undefined;
  const onEvent = onSaid === undefined ? undefined : (data: string): void => saidInChunk(data).forEach(onSaid);
  const send = async (members: Members): Promise<ServerReply> => {
    const streaming: Members = onSaid === undefined ? new Map([["stream", "false"]]) : askForStream;
    const all: Members = new Map([["model", JSON.stringify(model.model)], ...streaming, ...members, ...options.ask]);
    const post = (): Promise<ServerReply> => server.post("/v1/chat/completions", jsonObject(withLimitName(all, server)), signal, onEvent);
    const reply = await post();
    if (reply.ok || newerLimits.has(server) || !all.has(olderName) || !reply.failure.message.includes(newerName)) return reply;
    newerLimits.add(server);
    return post();
  };
  let reply = await send(encoded.members);
  const overflow = reply.ok || reply.failure.kind !== "context-overflow" ? null : readOverflow(reply.failure.message);
  if (overflow !== null && maxTokens !== undefined && overflow.prompt < overflow.window) {
    const left = overflow.window - overflow.prompt;
    notes.push(`The request asked for ${maxTokens} tokens; ${left} were left of the window of ${overflow.window}.`);
    maxTokens = left;
    asWritten = false;
    reply = await send(new Map([...encoded.members, ["max_tokens", String(left)]]));
  }
  const kept = (exchange: UpstreamExchange): UpstreamExchange => (asWritten ? { ...exchange, request: null } : exchange);
  if (!reply.ok) return reply.exchange === undefined ? reply : { ...reply, exchange: kept(reply.exchange) };
  const exchange = kept(reply.exchange);
  const read = readServerAnswer(reply.text, reply.contentType);
  if (!read.ok) return { ok: false, failure: garbledFailure(server.root, read.problem), exchange };
  const answer = answerOfServer(read.answer, maxTokens, read.answer.model ?? model.model);
  return { ok: true, answer, completion: read.completion, exchange, notes };
}
