/**
 * A stand-in for llama.cpp's server, in the shapes that the real one gave (b11549): `/completion` with ids and probabilities, a chat
 * route whose log-probs bear ids, `/apply-template`, `/tokenize`, `/props`. As the real one it keeps no log-prob for a token that ends
 * inside a character.
 */
import type { ServerResponse } from "node:http";
import { isJsonObject, type JsonObject, parseJson } from "../../engine/json/index.ts";
import { TemplateError } from "../../engine/templates/index.ts";
import { json, startJsonServer } from "./json-server.ts";
import { createTokenPolicy, idsOf, logprobOf, numberOf, type TokenPolicy, type TokenPolicyOptions, toolNames } from "./token-policy.ts";

export interface LlamaStandIn extends TokenPolicy {
  readonly url: string;
  /** Bodies of `/completion` and of the chat route. */
  readonly asked: readonly JsonObject[];
  close(): Promise<void>;
}

export interface LlamaStandInOptions extends TokenPolicyOptions {
  /** Members of the answer that take the place of its own. */
  readonly over?: Readonly<Record<string, unknown>>;
}

export async function startLlamaStandIn(options: LlamaStandInOptions): Promise<LlamaStandIn> {
  const policy = createTokenPolicy(options);
  const { tokenizer } = policy;
  const asked: JsonObject[] = [];

  function whole(ids: readonly number[]): readonly number[] {
    return ids.filter((_id, index) => !tokenizer.decode(ids.slice(0, index + 1)).endsWith("\ufffd"));
  }

  function probability(id: number, afterFilters: boolean): object {
    const said = afterFilters ? { prob: Math.exp(logprobOf(id)), top_probs: [] } : { logprob: logprobOf(id), top_logprobs: [] };
    return { id, token: id === policy.endId ? "" : tokenizer.decode([id]), bytes: [], ...said };
  }

  function overflows(response: ServerResponse, promptIds: readonly number[]): boolean {
    if (promptIds.length < policy.contextWindow) return false;
    const message = `request (${promptIds.length} tokens) exceeds the available context size (${policy.contextWindow} tokens), try increasing it`;
    json(response, 400, {
      error: { code: 400, message, type: "exceed_context_size_error", n_prompt_tokens: promptIds.length, n_ctx: policy.contextWindow },
    });
    return true;
  }

  function complete(body: JsonObject, response: ServerResponse): void {
    const promptIds = idsOf(body.get("prompt"));
    if (overflows(response, promptIds)) return;
    const { ids, finish } = policy.sample(promptIds, ["bash", "read_file"], numberOf(body.get("n_predict")) ?? 128);
    json(response, 200, {
      index: 0,
      content: tokenizer.decode(finish === "stop" ? ids.slice(0, -1) : [...ids]),
      tokens: body.get("return_tokens") === true ? ids : [],
      stop: true,
      model: "stand-in.gguf",
      tokens_predicted: ids.length,
      tokens_evaluated: promptIds.length,
      truncated: false,
      stop_type: finish === "stop" ? "eos" : "limit",
      stopping_word: "",
      timings: { cache_n: 2 },
      completion_probabilities: whole(ids).map((id) => probability(id, body.get("post_sampling_probs") === true)),
      ...options.over,
    });
  }

  function chat(body: JsonObject, response: ServerResponse): void {
    const promptIds = [...tokenizer.encode(policy.render(body))];
    if (overflows(response, promptIds)) return;
    const { ids, finish } = policy.sample(promptIds, toolNames(body), numberOf(body.get("max_tokens")) ?? 128);
    const message = policy.message(ids, toolNames(body));
    json(response, 200, {
      ...{ id: "chatcmpl-1", object: "chat.completion", model: "stand-in.gguf" },
      choices: [
        {
          index: 0,
          finish_reason: finish === "stop" && message.tool_calls.length > 0 ? "tool_calls" : finish,
          message: { role: "assistant", ...message },
          logprobs: { content: whole(ids).map((id) => probability(id, body.get("post_sampling_probs") === true)) },
        },
      ],
      usage: { prompt_tokens: promptIds.length, completion_tokens: ids.length, prompt_tokens_details: { cached_tokens: 0 } },
    });
  }

  function serve(path: string, body: JsonObject, response: ServerResponse): void {
    if (path === "/completion" || path === "/v1/chat/completions") asked.push(body);
    if (path === "/completion") complete(body, response);
    else if (path === "/v1/chat/completions") chat(body, response);
    else if (path === "/apply-template") json(response, 200, { prompt: policy.render(body) });
    else if (path === "/tokenize") json(response, 200, { tokens: [...tokenizer.encode(String(body.get("content")))] });
    else json(response, 404, { error: { message: "File Not Found", type: "not_found_error", code: 404 } });
  }

  const server = await startJsonServer((path, text, response) => {
    if (path === "/props") json(response, 200, { default_generation_settings: { n_ctx: policy.contextWindow }, total_slots: 1 });
    else if (path === "/v1/models") json(response, 200, { object: "list", data: [{ id: "stand-in.gguf", object: "model", owned_by: "llamacpp" }] });
    else {
      const body = text === "" ? null : parseJson(text);
      try {
        serve(path, isJsonObject(body ?? null) ? (body as JsonObject) : new Map(), response);
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        json(response, 500, { error: { code: 500, message: `Jinja Exception: ${error.message}`, type: "server_error" } });
      }
    }
  });
  return { ...policy, ...server, asked };
}
