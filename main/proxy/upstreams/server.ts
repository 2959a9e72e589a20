/** One OpenAI-compatible server: its address, key and model, and how a request to it ends. */
import { z } from "zod";
import { parseServerJson } from "./chat-answer.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";
import { failureOfStatus, garbledFailure, unreachableFailure } from "./server-failure.ts";
import type { UpstreamExchange, UpstreamFailure } from "./upstream.ts";

export interface ServerOptions {
  readonly url: string;
  readonly model?: string | undefined;
  readonly key: string | null;
}

interface ServedModel {
  readonly id: string;
  /** Tokens of prompt and answer together; null when the server does not say. */
  readonly contextWindow: number | null;
  readonly ownedBy: string | null;
}

export type ServerReply =
  | { readonly ok: true; readonly text: string; readonly contentType: string; readonly exchange: UpstreamExchange }
  | { readonly ok: false; readonly failure: UpstreamFailure; readonly exchange?: UpstreamExchange };

export interface InferenceServer {
  /** Base with `/v1`. */
  readonly base: string;
  post(path: string, body: Uint8Array, signal: AbortSignal): Promise<ServerReply>;
  /** What the server lists; asked once, then remembered. */
  models(
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly models: readonly ServedModel[] } | { readonly ok: false; readonly failure: UpstreamFailure }>;
  /** The declared model, else the first listed. */
  model(signal: AbortSignal): Promise<{ readonly ok: true; readonly model: string } | { readonly ok: false; readonly failure: UpstreamFailure }>;
  close(): void;
}

const modelsSchema = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), max_model_len: z.number().nullish(), owned_by: z.string().nullish() })),
});

export function createServer(options: ServerOptions): InferenceServer {
  const client: HttpClient = createHttpClient();
  const base = `${options.url.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
  const headers: Record<string, string> = options.key === null ? {} : { authorization: `Bearer ${options.key}` };
  let listed: readonly ServedModel[] | null = null;

  const server: InferenceServer = {
    base,
    async post(path, body, signal) {
      const result = await client.send({ method: "POST", url: base + path, headers, body }, signal);
      if (!result.ok) return { ok: false, failure: unreachableFailure(base, result.message) };
      const exchange = { request: body, response: result.bytes };
      const text = Buffer.from(result.bytes).toString();
      if (result.status >= 200 && result.status < 300) return { ok: true, text, contentType: result.contentType, exchange };
      return { ok: false, failure: failureOfStatus({ status: result.status, retryAfter: result.retryAfter, text }, Date.now()), exchange };
    },
    async models(signal) {
      if (listed !== null) return { ok: true, models: listed };
      const result = await client.send({ method: "GET", url: `${base}/models`, headers }, signal);
      if (!result.ok) return { ok: false, failure: unreachableFailure(base, result.message) };
      const text = Buffer.from(result.bytes).toString();
      if (result.status !== 200)
        return { ok: false, failure: failureOfStatus({ status: result.status, retryAfter: result.retryAfter, text }, Date.now()) };
      const parsed = modelsSchema.safeParse(readJson(text));
      if (!parsed.success) return { ok: false, failure: garbledFailure(base, "its list of models has another shape") };
      listed = parsed.data.data.map((model) => ({ id: model.id, contextWindow: model.max_model_len ?? null, ownedBy: model.owned_by ?? null }));
      return { ok: true, models: listed };
    },
    async model(signal) {
      if (options.model !== undefined) return { ok: true, model: options.model };
      const list = await server.models(signal);
      if (!list.ok) return list;
      const first = list.models[0];
      return first === undefined ? { ok: false, failure: garbledFailure(base, "it serves no model") } : { ok: true, model: first.id };
    },
    close: () => client.close(),
  };
  return server;
}

function readJson(text: string): unknown {
  try {
    return parseServerJson(text);
  } catch {
    return null;
  }
}
