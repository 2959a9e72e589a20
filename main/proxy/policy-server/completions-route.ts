/** POST /v1/completions: the prompt as ids, or as a text that is encoded as it is. */
import { z } from "zod";
import type { Answer, Conversation } from "../../../engine/conversation/index.ts";
import { invalidRequest } from "../dialects/dialect.ts";
import { readSampling } from "../dialects/sampling.ts";
import { firstIssue } from "../dialects/zod-issue.ts";
import { sseText } from "../streams/sse.ts";
import type { ReadRequest, ServedPolicy } from "./contract.ts";
import { endIdsOf, readRequest, tokenFieldsSchema } from "./request-fields.ts";

const prompt = z.union([z.string(), z.array(z.number().int().nonnegative())]);
const one = "one prompt a request";

const requestSchema = tokenFieldsSchema.extend({
  prompt: z.union([prompt, z.array(prompt).length(1, one)], { error: `\`prompt\` is a text or a list of token ids, ${one}` }),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  temperature: z.number().nonnegative().nullish(),
  top_p: z.number().nullish(),
  top_k: z.number().nullish(),
  min_p: z.number().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  seed: z.number().int().nullish(),
  logprobs: z.number().int().max(0, "only that of the sampled token is given: say 0").nullish(),
  add_special_tokens: z.boolean().nullish(),
  skip_special_tokens: z.boolean().nullish(),
});
type CompletionRequest = z.output<typeof requestSchema>;

/** As everywhere where nobody says how many. */
const usualTokens = 16;

export function readCompletionRequest(bytes: Uint8Array, { name, text }: ServedPolicy): ReadRequest {
  const read = readRequest(bytes, "prompt", name);
  if (!read.ok) return read;
  const parsed = requestSchema.safeParse(read.body.value);
  if (!parsed.success) return invalidRequest(`This is no Completions request: ${firstIssue(parsed.error)}.`);
  const request = parsed.data;
  const promptIds = idsOf(request, text);
  const outside = promptIds.find((id) => id >= text.tokenizer.vocabularySize);
  if (outside !== undefined) return invalidRequest(`The token id ${outside} is not in this model's vocabulary.`);
  if (promptIds.length === 0) return invalidRequest("The prompt is empty: a request needs at least one token.");
  const conversation: Conversation = {
    ...{ model: name, messages: [], tools: [], stream: false, extra: "{}" },
    sampling: readSampling(request, request.max_tokens ?? usualTokens),
  };
  const endIds = endIdsOf(request, text.builder.endIds);
  return {
    ok: true,
    stream: request.stream === true,
    ask: { conversation, promptIds, endIds },
    voice: (callId) => {
      const spoken: Spoken = { request, endIds, text, id: `cmpl-${callId}`, model: name, created: Math.floor(Date.now() / 1000) };
      let said = "";
      return {
        follow: () => {
          const textOf = followText(spoken);
          return (id) => {
            const more = textOf(id);
            said += more;
            return more === "" ? "" : event({ ...headOf(spoken), choices: [{ index: 0, text: more, finish_reason: null, logprobs: null }] });
          };
        },
        say: (answer) => {
          const head = headOf(spoken, answer.policyVersion);
          const choice = { index: 0, ...spokenBy(answer, spoken) };
          const usage = usageOf(answer);
          const includeUsage = request.stream_options?.include_usage === true;
          return {
            body: () => JSON.stringify({ ...head, choices: [choice], usage }),
            stream: () => {
              if (!choice.text.startsWith(said)) throw new Error("a streamed answer does not begin with what was sent of it");
              const last = { ...head, choices: [{ ...choice, text: choice.text.slice(said.length) }] };
              return `${event(last)}${includeUsage ? event({ ...head, choices: [], usage }) : ""}${sseText({ event: "", data: "[DONE]" })}`;
            },
          };
        },
      };
    },
  };
}

function idsOf({ prompt: given, add_special_tokens: withSpecial }: CompletionRequest, { tokenizer }: ServedPolicy["text"]): Int32Array {
  const [first] = Array.isArray(given) ? given : [given];
  const only = Array.isArray(first) || typeof first === "string" ? first : given;
  if (typeof only === "string") return tokenizer.encode(only, { specialTokens: withSpecial ?? true });
  return Int32Array.from(only, Number);
}

interface Spoken {
  readonly request: CompletionRequest;
  readonly endIds: readonly number[];
  readonly text: ServedPolicy["text"];
  readonly id: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
}

function event(value: object): string {
  return sseText({ event: "", data: JSON.stringify(value) });
}

/** What answers is known when the answer is whole. */
function headOf({ id, model, created }: Spoken, policyVersion?: string): object {
  return { id, object: "text_completion", created, model, ...(policyVersion === undefined ? {} : { system_fingerprint: policyVersion }) };
}

function usageOf({ usage: { promptTokens, completionTokens } }: Answer): object {
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: promptTokens + completionTokens };
}

/** Text that is certain, id by id. With stop texts nothing is before the end: an answer may end inside a token. */
function followText({ request, endIds, text }: Spoken): (id: number) => string {
  const decoder = text.tokenizer.streamingDecoder({ skipSpecialTokens: request.skip_special_tokens ?? true });
  const hasStops = [request.stop ?? []].flat().some((stop) => stop !== "");
  return (id) => (hasStops || endIds.includes(id) ? "" : decoder.push(id));
}

function spokenBy({ tokens, message, finishReason }: Answer, { request, endIds, text: { tokenizer } }: Spoken) {
  const finish = { finish_reason: finishReason === "length" ? "length" : "stop" };
  // A stop text began inside a token: there are no ids that spell what is said.
  if (tokens === undefined) {
    const said = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    return { text: said, ...finish, stop_reason: [request.stop ?? []].flat()[0] ?? "", logprobs: null };
  }
  const { promptIds, sampledIds, logprobs } = tokens;
  const isEnded = endIds.includes(sampledIds.at(-1) ?? -1);
  const said = tokenizer.decode(isEnded ? sampledIds.subarray(0, -1) : sampledIds, { skipSpecialTokens: request.skip_special_tokens ?? true });
  const pieces = tokenizer.decodePieces(sampledIds);
  return {
    text: said,
    ...finish,
    stop_reason: null,
    logprobs: request.logprobs == null ? null : { tokens: pieces, token_logprobs: [...(logprobs ?? [])], top_logprobs: null },
    ...(request.return_token_ids === true ? { token_ids: [...sampledIds], prompt_token_ids: [...promptIds] } : {}),
  };
}
