/**
 * An SGLang server. Token-in by its own `/generate`, with ids and log-probs; its chat route gives no ids, so without a tokenizer it is
 * text only. A call that is given up is aborted by name: over a proxy the server does not see a connection close.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { FinishReason, Sampling } from "../../../engine/conversation/index.ts";
import type { MediaStore } from "../dialects/dialect.ts";
import { checkedTokens, pastStop, textAnswer, withTokens } from "./captured-tokens.ts";
import { callChat } from "./chat-completion.ts";
import type { DefinitionOf } from "./definition.ts";
import { createServer, type InferenceServer, readReply } from "./server.ts";
import { failureOfStatus } from "./server-failure.ts";
import type { Upstream, UpstreamRequest, UpstreamResult } from "./upstream.ts";

interface SglangOptions {
  readonly definition: DefinitionOf<"sglang">;
  readonly key: string | null;
  readonly media: MediaStore;
  /** As the server says; null = not known. */
  readonly contextWindow: number | null;
}

const generatedSchema = z.looseObject({
  text: z.string().nullish(),
  output_ids: z.array(z.number()).nullish(),
  meta_info: z.looseObject({
    finish_reason: z
      .looseObject({
        type: z.string(),
        /** An id or a text that ended the answer. */
        matched: z.union([z.number(), z.string(), z.array(z.unknown())]).nullish(),
        message: z.string().nullish(),
        status_code: z.number().nullish(),
      })
      .nullish(),
    prompt_tokens: z.number().nullish(),
    completion_tokens: z.number().nullish(),
    cached_tokens: z.number().nullish(),
    /** Log-prob, id, text. */
    output_token_logprobs: z.array(z.tuple([z.number().nullable(), z.number()]).rest(z.unknown())).nullish(),
    weight_version: z.string().nullish(),
  }),
});

export function createSglang({ definition, key, media, contextWindow }: SglangOptions): Upstream {
  const server = createServer({ url: definition.url, model: definition.model, key });
  const takesTokenIds = definition.tokenizer !== undefined;
  return {
    id: definition.id,
    kind: "sglang",
    capture: takesTokenIds ? "ids+logprobs" : "text-only",
    takesTokenIds,
    contextWindow,
    tokenizerFolder: definition.tokenizer ?? null,
    async complete(request, signal) {
      if (request.promptIds !== undefined) return generate(server, request, request.promptIds, signal);
      const call = await callChat(request, { server, media, rules: definition.messageRules, ask: new Map(), streams: true }, signal);
      return call.ok ? { ok: true, answer: call.answer, exchange: call.exchange, notes: call.notes } : call;
    },
    async close() {
      server.close();
    },
  };
}

async function generate(server: InferenceServer, request: UpstreamRequest, promptIds: Int32Array, signal: AbortSignal): Promise<UpstreamResult> {
  const model = await server.model(signal);
  if (!model.ok) return model;
  const rid = randomUUID();
  const body = {
    rid,
    input_ids: [...promptIds],
    stream: false,
    return_logprob: true,
    // Of the answer only.
    logprob_start_len: -1,
    sampling_params: samplingParameters(request.conversation.sampling, request.endIds),
  };
  const giveUp = (): void => abortByName(server, rid);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    const reply = await server.post("/generate", Buffer.from(JSON.stringify(body)), signal);
    if (!reply.ok) return reply;
    const read = readReply(server, reply, generatedSchema);
    return read.ok ? { ...resultOf(read.value, promptIds, model.model), exchange: reply.exchange } : read;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

/** Nobody waits for what it says: a server without this route ends the call when it is done. */
function abortByName(server: InferenceServer, rid: string): void {
  server.post("/abort_request", Buffer.from(JSON.stringify({ rid })), AbortSignal.timeout(5_000)).catch(() => undefined);
}

function samplingParameters(sampling: Sampling, endIds: readonly number[] | undefined): Readonly<Record<string, unknown>> {
  const { temperature, topP, topK, minP, maxTokens, stop, seed } = sampling;
  return {
    // Ids must say all that was sampled, and the text be what they say.
    ...{ skip_special_tokens: false, spaces_between_special_tokens: false, no_stop_trim: true },
    ...(maxTokens === undefined ? {} : { max_new_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    // Here -1 is "all".
    ...(topK === undefined ? {} : { top_k: topK > 0 ? topK : -1 }),
    ...(minP === undefined ? {} : { min_p: minP }),
    ...(stop === undefined ? {} : { stop }),
    ...(endIds === undefined ? {} : { stop_token_ids: endIds }),
    ...(seed === undefined ? {} : { sampling_seed: seed }),
  };
}

type Generated = z.infer<typeof generatedSchema>;

function resultOf({ text, output_ids: outputIds, meta_info: meta }: Generated, promptIds: Int32Array, model: string): UpstreamResult {
  const reason = meta.finish_reason;
  if (reason?.type === "abort") {
    const said = JSON.stringify({ error: { message: reason.message ?? "the server gave the call up" } });
    return { ok: false, failure: failureOfStatus({ status: reason.status_code ?? 503, retryAfter: null, text: said }, Date.now()) };
  }
  const pairs = meta.output_token_logprobs ?? null;
  const ids = pairs?.map(([, id]) => id) ?? outputIds ?? [];
  const answer = textAnswer(text ?? "", {
    finishReason: finishReasonOf(reason?.type),
    usage: {
      promptTokens: meta.prompt_tokens ?? promptIds.length,
      completionTokens: meta.completion_tokens ?? ids.length,
      ...(meta.cached_tokens == null ? {} : { cachedTokens: meta.cached_tokens }),
    },
    policyVersion: versionOf(model, meta.weight_version),
  });
  return { ok: true, ...withTokens(answer, tokensOf(), []) };

  function tokensOf() {
    if (typeof reason?.matched === "string") return pastStop;
    if (pairs === null && outputIds == null) return "the server gave no token ids";
    const sampled = outputIds ?? ids;
    if (sampled.length !== ids.length || sampled.some((id, index) => id !== ids[index])) return "the server's ids and log-probs are of other tokens";
    if (meta.completion_tokens != null && meta.completion_tokens !== ids.length)
      return `the server gave ${ids.length} ids of ${meta.completion_tokens} tokens`;
    return checkedTokens(promptIds, ids, pairs?.map(([logprob]) => logprob) ?? null);
  }
}

function finishReasonOf(type: string | undefined): FinishReason {
  return type === "length" ? "length" : "stop";
}

/** Weights that were loaded while the server runs have a version of their own. */
function versionOf(model: string, weights: string | null | undefined): string {
  return weights == null || weights === "default" ? model : `${model}@${weights}`;
}
