/**
 * A vLLM server: token ids and log-probs with every answer. Text-in by Chat Completions, token-in by Completions with the prompt as
 * ids. Called without streaming: its stream parsers lose ids.
 */
import { z } from "zod";
import type { Answer, CapturedTokens } from "../../../engine/conversation/index.ts";
import type { Completion } from "../dialects/chat/completion.ts";
import { readFinishReason, readUsage, usageSchema } from "../dialects/chat/stream-reader.ts";
import type { MediaStore } from "../dialects/dialect.ts";
import { firstIssue } from "../dialects/zod-issue.ts";
import { parseServerJson } from "./chat-answer.ts";
import { callChat } from "./chat-completion.ts";
import { jsonObject, samplingMembers } from "./chat-request.ts";
import type { UpstreamDefinition } from "./definition.ts";
import { createServer, type InferenceServer } from "./server.ts";
import { garbledFailure } from "./server-failure.ts";
import type { Upstream, UpstreamRequest, UpstreamResult } from "./upstream.ts";

const askForTokens = new Map([
  ["return_token_ids", "true"],
  ["logprobs", "true"],
  ["top_logprobs", "0"],
]);

const completionsSchema = z.looseObject({
  model: z.string().nullish(),
  choices: z
    .array(
      z.looseObject({
        text: z.string(),
        finish_reason: z.string().nullish(),
        stop_reason: z.union([z.string(), z.number()]).nullish(),
        token_ids: z.array(z.number()).nullish(),
        prompt_token_ids: z.array(z.number()).nullish(),
        logprobs: z.looseObject({ token_logprobs: z.array(z.number().nullable()).nullish() }).nullish(),
      }),
    )
    .min(1),
  usage: usageSchema.nullish(),
});

export interface VllmOptions {
  readonly definition: Extract<UpstreamDefinition, { kind: "vllm" }>;
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

const pastStop = "the answer ends at a stop text, and its ids go on past it";

function tokensOfChat(completion: Completion): CapturedTokens | string {
  const choice = completion.choices[0];
  if (typeof choice?.stop_reason === "string") return pastStop;
  const ids = choice?.token_ids;
  const prompt = completion.prompt_token_ids;
  if (ids == null || prompt == null) return "the server gave no token ids";
  const logprobs = choice?.logprobs?.content?.map((entry) => entry.logprob ?? null) ?? null;
  return checkedTokens(prompt, ids, logprobs);
}

/** Ids, or the reason why there are none: half a record is none. */
function checkedTokens(
  promptIds: readonly number[],
  sampledIds: readonly number[],
  logprobs: readonly (number | null)[] | null,
): CapturedTokens | string {
  if (logprobs !== null && logprobs.length !== sampledIds.length) return `the server gave ${sampledIds.length} ids and ${logprobs.length} log-probs`;
  const tokens = { promptIds: Int32Array.from(promptIds), sampledIds: Int32Array.from(sampledIds) };
  return logprobs === null ? tokens : { ...tokens, logprobs: Float32Array.from(logprobs, (value) => value ?? Number.NaN) };
}

function withTokens(answer: Answer, tokens: CapturedTokens | string, notes: readonly string[]): { answer: Answer; notes: readonly string[] } {
  if (typeof tokens === "string") return { answer, notes: [...notes, `This call has no token ids: ${tokens}.`] };
  return { answer: { ...answer, tokens }, notes };
}

/** The message of the answer is the plain text; whoever built the prompt reads it from the ids. */
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
  const reply = await server.post("/completions", jsonObject(members), signal);
  if (!reply.ok) return reply;
  const garbled = (problem: string): UpstreamResult => ({ ok: false, failure: garbledFailure(server.base, problem), exchange: reply.exchange });
  let json: unknown;
  try {
    json = parseServerJson(reply.text);
  } catch (error) {
    return garbled(error instanceof Error ? error.message : String(error));
  }
  const parsed = completionsSchema.safeParse(json);
  const choice = parsed.success ? parsed.data.choices[0] : undefined;
  if (!parsed.success || choice === undefined) return garbled(parsed.success ? "it holds no choice" : firstIssue(parsed.error));
  const ids = choice.token_ids ?? [];
  if (ids.length === 0 && choice.text !== "" && typeof choice.stop_reason !== "string")
    return garbled("it gave no token ids; a prompt of ids needs them");
  const tokens = typeof choice.stop_reason === "string" ? pastStop : checkedTokens([...promptIds], ids, choice.logprobs?.token_logprobs ?? null);
  const usage = parsed.data.usage == null ? { promptTokens: promptIds.length, completionTokens: ids.length } : readUsage(parsed.data.usage);
  const answer: Answer = {
    message: { role: "assistant", content: choice.text === "" ? [] : [{ type: "text", text: choice.text }], toolCalls: [] },
    finishReason: choice.finish_reason == null ? "stop" : readFinishReason(choice.finish_reason),
    usage,
    unparsedToolCall: false,
    policyVersion: parsed.data.model ?? model.model,
  };
  return { ok: true, ...withTokens(answer, tokens, []), exchange: reply.exchange };
}
