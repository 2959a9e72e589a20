/** One inference server: its address, key and model, and how a request to it ends. */
import { z } from "zod";
import { firstIssue } from "../dialects/zod-issue.ts";
import { createLineReader } from "../streams/lines.ts";
import { createSseReader } from "../streams/sse.ts";
import { parseServerJson } from "./chat-answer.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";
import { failureOfStatus, garbledFailure, unreachableFailure } from "./server-failure.ts";
import type { UpstreamExchange, UpstreamResult } from "./upstream.ts";

interface ServerOptions {
  readonly url: string;
  readonly model?: string | undefined;
  readonly key: string | null;
  /** Sent with every request; the key goes as a bearer token, or under the name given here. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly keyHeader?: string;
}

interface ServedModel {
  readonly id: string;
  /** Tokens of prompt and answer together; null when the server does not say. */
  readonly contextWindow: number | null;
  readonly ownedBy: string | null;
}

type Failed = Extract<UpstreamResult, { ok: false }>;

type Received = { readonly ok: true; readonly text: string; readonly contentType: string; readonly exchange: UpstreamExchange };
export type ServerReply = Received | Failed;

export interface InferenceServer {
  /** Without `/v1`. */
  readonly root: string;
  /**
   * `path` with its `/v1`, where it has one. `onEvent`: what is streamed, as it comes: the data of each event, or each line where the
   * server streams lines. Rejects only when `signal` aborts.
   */
  post(path: string, body: Uint8Array, signal: AbortSignal, onEvent?: (data: string) => void): Promise<ServerReply>;
  get(path: string, signal: AbortSignal): Promise<ServerReply>;
  /** What the server lists; asked once, then remembered. */
  models(signal: AbortSignal): Promise<{ readonly ok: true; readonly models: readonly ServedModel[] } | Failed>;
  /** The declared model, else the first listed. */
  model(signal: AbortSignal): Promise<{ readonly ok: true; readonly model: string } | Failed>;
  close(): void;
}

const modelsSchema = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), max_model_len: z.number().nullish(), owned_by: z.string().nullish() })),
});

export function createServer(options: ServerOptions): InferenceServer {
  const client: HttpClient = createHttpClient();
  const root = options.url.replace(/\/+$/, "").replace(/\/v1$/, "");
  const { key, keyHeader } = options;
  const keyHeaders: Record<string, string> = key === null ? {} : keyHeader === undefined ? { authorization: `Bearer ${key}` } : { [keyHeader]: key };
  const headers = { ...options.headers, ...keyHeaders };
  let listed: readonly ServedModel[] | null = null;

  async function send(
    method: "GET" | "POST",
    path: string,
    body: Uint8Array | null,
    signal: AbortSignal,
    onEvent?: (data: string) => void,
  ): Promise<ServerReply> {
    const events = onEvent === undefined ? {} : { onBytes: streamReader(onEvent) };
    const result = await client.send({ method, url: root + path, headers, ...(body === null ? {} : { body }), ...events }, signal);
    if (!result.ok) return { ok: false, failure: unreachableFailure(root, result.message) };
    const exchange = { request: body, response: result.bytes };
    const text = Buffer.from(result.bytes).toString();
    if (result.status >= 200 && result.status < 300) return { ok: true, text, contentType: result.contentType, exchange };
    return { ok: false, failure: failureOfStatus({ status: result.status, retryAfter: result.retryAfter, text }, Date.now()), exchange };
  }

  const server: InferenceServer = {
    root,
    post: (path, body, signal, onEvent) => send("POST", path, body, signal, onEvent),
    get: (path, signal) => send("GET", path, null, signal),
    async models(signal) {
      if (listed !== null) return { ok: true, models: listed };
      const reply = await server.get("/v1/models", signal);
      if (!reply.ok) return { ok: false, failure: reply.failure };
      const read = readReply(server, reply, modelsSchema);
      if (!read.ok) return { ok: false, failure: garbledFailure(root, "its list of models has another shape") };
      listed = read.value.data.map((model) => ({ id: model.id, contextWindow: model.max_model_len ?? null, ownedBy: model.owned_by ?? null }));
      return { ok: true, models: listed };
    },
    async model(signal) {
      if (options.model !== undefined) return { ok: true, model: options.model };
      const list = await server.models(signal);
      if (!list.ok) return list;
      const first = list.models[0];
      return first === undefined ? { ok: false, failure: garbledFailure(root, "it serves no model") } : { ok: true, model: first.id };
    },
    close: () => client.close(),
  };
  return server;
}

/** Content types of streams whose every line is a JSON text. */
const lineTypes = /^application\/(?:x-)?ndjson\b/i;

function streamReader(onEvent: (data: string) => void): (bytes: Uint8Array, contentType: string) => void {
  const events = createSseReader();
  const lines = createLineReader();
  return (bytes, contentType) => {
    if (contentType.startsWith("text/event-stream")) for (const event of events.push(bytes)) onEvent(event.data);
    else if (lineTypes.test(contentType)) lines.push(bytes).forEach(onEvent);
  };
}

/** The JSON of a reply in its shape, or the failure that says what is wrong with it. */
export function readReply<T>(server: InferenceServer, reply: Received, schema: z.ZodType<T>): { readonly ok: true; readonly value: T } | Failed {
  const garbled = (problem: string): Failed => ({ ok: false, failure: garbledFailure(server.root, problem), exchange: reply.exchange });
  let json: unknown;
  try {
    json = parseServerJson(reply.text);
  } catch (error) {
    return garbled(error instanceof Error ? error.message : String(error));
  }
  const parsed = schema.safeParse(json);
  return parsed.success ? { ok: true, value: parsed.data } : garbled(firstIssue(parsed.error));
}
