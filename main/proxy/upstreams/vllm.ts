/**
 * A vLLM server: token ids and log-probs with every answer. Text-in by Chat Completions, token-in by Completions with the prompt as
 * ids. Called without streaming: its stream parsers lose ids.
 */
import { z } from "zod";
import type { CapturedTokens } from "../../../engine/conversation/index.ts";
import type { Completion } from "../dialects/chat/completion.ts";
import { readFinishReason, readUsage, usageSchema } from "../dialects/chat/stream-reader.ts";
import type { MediaStore } from "../dialects/dialect.ts";
import { checkedTokens, pastStop, textAnswer, withTokens } from "./captured-tokens.ts";
import { callChat } from "./chat-completion.ts";
import { jsonObject, samplingMembers } from "./chat-request.ts";
import type { DefinitionOf } from "./definition.ts";
import { createServer, type InferenceServer, readReply } from "./server.ts";
import { garbledFailure } from "./server-failure.ts";
import type { Upstream, UpstreamRequest, UpstreamResult } from "./upstream.ts";

const askForTokens = new Map([
  ["return_token_ids", "true"],
  ["logprobs", "true"],
  ["top_logprobs", "0"],
]);

const choiceSchema = z.looseObject({
  text: z.string(),
  finish_reason: z.string().nullish(),
  stop_reason: z.union([z.string(), z.number()]).nullish(),
  token_ids: z.array(z.number()).nullish(),
  prompt_token_ids: z.array(z.number()).nullish(),
  logprobs: z.looseObject({ token_logprobs: z.array(z.number().nullable()).nullish() }).nullish(),
});
const completionsSchema = z.looseObject({
  model: z.string().nullish(),
  choices: z.tuple([choiceSchema]).rest(choiceSchema),
  usage: usageSchema.nullish(),
});

export interface VllmOptions {
  readonly definition: DefinitionOf<"vllm">;
  readonly key: string | null;
  readonly media: MediaStore;
  /** As the server says; null = not known. */
  readonly contextWindow: number | null;
  /** What answers are stamped with; left out = the model's name as the server says it. */
  readonly policyVersion?: string;
}

export function createVllm({ definition, key, media, contextWindow, policyVersion }: VllmOptions): Upstream {
  const server = createServer({ url: definition.url, model: definition.model, key });
  const stamped = (result: UpstreamResult): UpstreamResult =>
    result.ok && policyVersion !== undefined ? { ...result, answer: { ...result.answer, policyVersion } } : result;
  return {
    id: definition.id,
    kind: "vllm",
    capture: "ids+logprobs",
    takesTokenIds: definition.tokenizer !== undefined,
    contextWindow,
    tokenizerFolder: definition.tokenizer ?? null,
    async complete(request, signal) {
      if (request.promptIds !== undefined) return stamped(await completeIds(server, request, request.promptIds, signal));
      const call = await callChat(request, { server, media, rules: definition.messageRules, ask: askForTokens }, signal);
      if (!call.ok) return call;
      const tokens = call.completion === null ? "the server streamed although it was asked not to" : tokensOfChat(call.completion);
      return stamped({ ok: true, ...withTokens(call.answer, tokens, call.notes), exchange: call.exchange });
    },
    async close() {
      server.close();
    },
  };
}

function tokensOfChat(completion: Completion): CapturedTokens | string {
  const [choice] = completion.choices;
  if (typeof choice.stop_reason === "string") return pastStop;
  const ids = choice.token_ids;
  const prompt = completion.prompt_token_ids;
  if (ids == null || prompt == null) return "the server gave no token ids";
  const logprobs = choice.logprobs?.content?.map((entry) => entry.logprob ?? null) ?? null;
  return checkedTokens(prompt, ids, logprobs);
}

async function completeIds(server: InferenceServer, request: UpstreamRequest, promptIds: Int32Array, signal: AbortSignal): Promise<UpstreamResult> {
  const model = await server.model(signal);
  if (!model.ok) return model;
  const members = new Map([
    ["model", JSON.stringify(model.model)],
    ["prompt", `[${promptIds.join(",")}]`],
    ["stream", "false"],
    ["logprobs", "0"],
    ["return_token_ids", "true"],
    ["skip_special_tokens", "false"],
    ["spaces_between_special_tokens", "false"],
    ["add_special_tokens", "false"],
    ...(request.endIds === undefined ? [] : [["stop_token_ids", `[${request.endIds.join(",")}]`] as const]),
    ...samplingMembers(request.conversation.sampling),
  ]);
  const reply = await server.post("/v1/completions", jsonObject(members), signal);
  if (!reply.ok) return reply;
  const read = readReply(server, reply, completionsSchema);
  if (!read.ok) return read;
  const { choices, usage, model: answering } = read.value;
  const [choice] = choices;
  const ids = choice.token_ids ?? [];
  if (ids.length === 0 && choice.text !== "" && typeof choice.stop_reason !== "string")
    return { ok: false, failure: garbledFailure(server.root, "it gave no token ids; a prompt of ids needs them"), exchange: reply.exchange };
  const tokens = typeof choice.stop_reason === "string" ? pastStop : checkedTokens(promptIds, ids, choice.logprobs?.token_logprobs ?? null);
  const answer = textAnswer(choice.text, {
    finishReason: choice.finish_reason == null ? "stop" : readFinishReason(choice.finish_reason),
    usage: usage == null ? { promptTokens: promptIds.length, completionTokens: ids.length } : readUsage(usage),
    policyVersion: answering ?? model.model,
  });
  return { ok: true, ...withTokens(answer, tokens, []), exchange: reply.exchange };
}
