/**
 * llama.cpp's own server. Token-in by `/completion` with the prompt as ids; messages by its chat route, whose prompt ids are asked for
 * afterwards (`/apply-template`, `/tokenize`). Log-probs are those after temperature and filters, as the answer was drawn.
 */
import { z } from "zod";
import type { CapturedTokens, Sampling } from "../../../engine/conversation/index.ts";
import type { MediaStore } from "../dialects/dialect.ts";
import { checkedTokens, pastStop, textAnswer, withTokens } from "./captured-tokens.ts";
import { type ChatCall, callChat } from "./chat-completion.ts";
import type { DefinitionOf } from "./definition.ts";
import { placeLogprobs } from "./placed-logprobs.ts";
import { createServer, type InferenceServer, readReply } from "./server.ts";
import type { Upstream, UpstreamRequest, UpstreamResult } from "./upstream.ts";

interface LlamaCppOptions {
  readonly definition: DefinitionOf<"llama.cpp">;
  readonly key: string | null;
  readonly media: MediaStore;
  /** As the server says; null = not known. */
  readonly contextWindow: number | null;
}

/** At temperature 0 there is no distribution to speak of: then they are the model's own. */
const logprobSchema = z.looseObject({ id: z.number().nullish(), prob: z.number().nullish(), logprob: z.number().nullish() });

const completionSchema = z.looseObject({
  content: z.string(),
  tokens: z.array(z.number()).nullish(),
  model: z.string().nullish(),
  tokens_predicted: z.number().nullish(),
  tokens_evaluated: z.number().nullish(),
  /** The prompt was cut, or the window was shifted on the way. */
  truncated: z.boolean().nullish(),
  stop_type: z.string().nullish(),
  completion_probabilities: z.array(logprobSchema).nullish(),
  timings: z.looseObject({ cache_n: z.number().nullish() }).nullish(),
});

const propertiesSchema = z.looseObject({ default_generation_settings: z.looseObject({ n_ctx: z.number() }) });
const promptSchema = z.looseObject({ prompt: z.string() });
const tokenizedSchema = z.looseObject({ tokens: z.array(z.number()) });

export function createLlamaCpp({ definition, key, media, contextWindow }: LlamaCppOptions): Upstream {
  const server = createServer({ url: definition.url, model: definition.model, key });
  return {
    id: definition.id,
    kind: "llama.cpp",
    capture: "ids+logprobs",
    takesTokenIds: definition.tokenizer !== undefined,
    contextWindow,
    tokenizerFolder: definition.tokenizer ?? null,
    async complete(request, signal) {
      if (request.promptIds !== undefined) return completeIds(server, request, request.promptIds, signal);
      const ask = new Map([
        ["logprobs", "true"],
        ["top_logprobs", "1"],
        ["post_sampling_probs", String(request.conversation.sampling.temperature !== 0)],
      ]);
      const call = await callChat(request, { server, media, rules: definition.messageRules, ask }, signal);
      if (!call.ok) return call;
      return {
        ok: true,
        ...withTokens(call.answer, await tokensOfChat(server, call, request.conversation.sampling.stop ?? [], signal), call.notes),
        exchange: call.exchange,
      };
    },
    async close() {
      server.close();
    },
  };
}

/** Tokens of prompt and answer together that one slot has; null when the server does not say. */
export async function llamaCppWindow(server: InferenceServer, signal: AbortSignal): Promise<number | null> {
  const reply = await server.get("/props", signal);
  if (!reply.ok) return null;
  const read = readReply(server, reply, propertiesSchema);
  return read.ok ? read.value.default_generation_settings.n_ctx : null;
}

async function completeIds(server: InferenceServer, request: UpstreamRequest, promptIds: Int32Array, signal: AbortSignal): Promise<UpstreamResult> {
  const { sampling } = request.conversation;
  const body = {
    prompt: [...promptIds],
    stream: false,
    cache_prompt: true,
    return_tokens: true,
    n_probs: 1,
    post_sampling_probs: sampling.temperature !== 0,
    ...samplingFields(sampling),
  };
  const reply = await server.post("/completion", Buffer.from(JSON.stringify(body)), signal);
  if (!reply.ok) return reply;
  const read = readReply(server, reply, completionSchema);
  if (!read.ok) return read;
  const { value } = read;
  const sampled = value.tokens ?? [];
  const answer = textAnswer(value.content, {
    finishReason: value.stop_type === "limit" ? "length" : "stop",
    usage: {
      promptTokens: value.tokens_evaluated ?? promptIds.length,
      completionTokens: value.tokens_predicted ?? sampled.length,
      ...(value.timings?.cache_n == null ? {} : { cachedTokens: value.timings.cache_n }),
    },
    policyVersion: value.model ?? "llama.cpp",
  });
  return { ok: true, ...withTokens(answer, tokensOfCompletion(value, promptIds, request.endIds ?? []), []), exchange: reply.exchange };
}

/** All of them are said: the server's own defaults leave out most tokens, and no log-prob of such a draw could be trained on. */
function samplingFields({ temperature = 1, topP = 1, topK = 0, minP = 0, maxTokens, stop, seed }: Sampling): object {
  return {
    ...{ temperature, top_p: topP, top_k: topK, min_p: minP },
    ...(maxTokens === undefined ? {} : { n_predict: maxTokens }),
    ...(stop === undefined ? {} : { stop }),
    ...(seed === undefined ? {} : { seed }),
  };
}

function tokensOfCompletion(value: z.infer<typeof completionSchema>, promptIds: Int32Array, endIds: readonly number[]): CapturedTokens | string {
  const ids = value.tokens ?? [];
  if (value.stop_type === "word") return pastStop;
  if (value.truncated === true) return "the server cut the prompt to its window";
  if (ids.length === 0 && value.content !== "") return "the server gave no token ids (it is older than December 2024)";
  if (value.tokens_predicted != null && value.tokens_predicted !== ids.length)
    return `the server gave ${ids.length} ids of ${value.tokens_predicted} tokens`;
  if (value.tokens_evaluated != null && value.tokens_evaluated !== promptIds.length)
    return `the server read ${value.tokens_evaluated} tokens of a prompt of ${promptIds.length}`;
  const logprobs = placeLogprobs(ids, readLogprobs(value.completion_probabilities ?? null));
  // What the model's file does not call an end may be one for the template: nothing after it was delivered.
  const end = ids.findIndex((id) => endIds.includes(id));
  const length = end === -1 ? ids.length : end + 1;
  return checkedTokens(promptIds, ids.slice(0, length), logprobs?.slice(0, length) ?? null);
}

function readLogprobs(entries: readonly z.infer<typeof logprobSchema>[] | null) {
  if (entries === null || entries.some(({ id }) => id == null)) return null;
  return entries.map(({ id, prob, logprob }) => ({ id: id ?? -1, logprob: prob == null ? (logprob ?? null) : Math.log(prob) }));
}

/** Ids of the answer are said with its log-probs, those of the prompt are not: the server renders and tokenises it once more. */
async function tokensOfChat(
  server: InferenceServer,
  { completion, exchange, answer }: Extract<ChatCall, { ok: true }>,
  stop: readonly string[],
  signal: AbortSignal,
): Promise<CapturedTokens | string> {
  if (completion === null) return "the server streamed although it was asked not to";
  const content = completion.choices[0].logprobs?.content ?? null;
  const sampled = readLogprobs(content);
  if (content === null || sampled === null || exchange.request === null) return "the server gave no token ids";
  const { promptTokens, completionTokens } = answer.usage;
  if (sampled.length !== completionTokens)
    return `the server gave ${sampled.length} ids of ${completionTokens} tokens (it leaves out those that hold a part of a character)`;
  const text = content.map(({ token }) => token ?? "").join("");
  if (stop.some((each) => text.includes(each))) return pastStop;
  const promptIds = await promptIdsOf(server, exchange.request, signal);
  if (promptIds === null) return "the server does not say the ids of the prompt";
  if (promptIds.length !== promptTokens) return `the server read ${promptTokens} tokens of a prompt that it says has ${promptIds.length}`;
  return checkedTokens(
    promptIds,
    sampled.map(({ id }) => id),
    sampled.map(({ logprob }) => logprob),
  );
}

/** `chat`: the body of a Chat Completions request. */
async function promptIdsOf(server: InferenceServer, chat: Uint8Array, signal: AbortSignal): Promise<readonly number[] | null> {
  const rendered = await server.post("/apply-template", chat, signal);
  const template = rendered.ok ? readReply(server, rendered, promptSchema) : rendered;
  if (!template.ok) return null;
  const body = { content: template.value.prompt, add_special: true, parse_special: true };
  const reply = await server.post("/tokenize", Buffer.from(JSON.stringify(body)), signal);
  const tokenized = reply.ok ? readReply(server, reply, tokenizedSchema) : reply;
  return tokenized.ok ? tokenized.value.tokens : null;
}
