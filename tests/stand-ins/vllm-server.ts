/**
 * A stand-in for a vLLM server: a real tokenizer and chat template, ids and log-probs in vLLM's fields, random but repeatable turns.
 * Chat Completions renders the messages as vLLM does; Completions takes a prompt of ids. Keeps what it saw and sampled, id for id.
 * With an engine (`vllm-engine.ts`) it samples from real weights and adapters, by Completions.
 */
import { existsSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../engine/json/index.ts";
import { TemplateError } from "../../engine/templates/index.ts";
import type { Tokenizer } from "../../engine/tokenizers/index.ts";
import { json, startJsonServer } from "./json-server.ts";
import { createRandom } from "./random.ts";
import { createTokenPolicy, idsOf, logprobOf, numberOf, type TokenPolicy, type TokenPolicyOptions, toolNames } from "./token-policy.ts";

export interface VllmServer extends TokenPolicy {
  readonly url: string;
  /** What each of the samples was asked of. */
  readonly models: readonly string[];
  /** Folders of the adapters that are loaded, by the name they are served under. */
  readonly adapters: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

/** Weights that answer. */
export interface VllmEngine {
  readonly tokenizer: Tokenizer;
  /** `name`: as the adapter is served; `folder`: where it lies. */
  load(name: string, folder: string): Promise<void>;
  unload(name: string): void;
  sample(ask: {
    readonly adapter: string;
    readonly promptIds: Int32Array;
    readonly maxTokens: number;
    readonly temperature: number;
    readonly seed: number;
    readonly endIds: readonly number[];
  }): Promise<{ readonly ids: readonly number[]; readonly logprobs: readonly number[]; readonly ended: boolean }>;
}

export interface VllmOptions extends TokenPolicyOptions {
  /** Adapters may be loaded while it runs: the server was started with VLLM_ALLOW_RUNTIME_LORA_UPDATING. */
  readonly takesAdapters?: boolean;
  readonly engine?: VllmEngine;
}

interface Turn {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly finish: "stop" | "length";
}

export async function startVllmServer(options: VllmOptions): Promise<VllmServer> {
  const policy = createTokenPolicy({ ...options, ...(options.engine === undefined ? {} : { tokenizer: options.engine.tokenizer }) });
  const { tokenizer, contextWindow, samples, endId } = policy;
  const models: string[] = [];
  const adapters = new Map<string, string>();
  let drawn = 0;

  function sample(model: JsonValue | undefined, promptIds: Int32Array, tools: readonly string[], maxTokens: number): Turn {
    models.push(String(model));
    const { ids, finish } = policy.sample([...promptIds], tools, maxTokens);
    return { ids, logprobs: ids.map(logprobOf), finish };
  }

  async function sampleByEngine(engine: VllmEngine, body: JsonObject, promptIds: Int32Array, maxTokens: number): Promise<Turn> {
    drawn += 1;
    const { ids, logprobs, ended } = await engine.sample({
      ...{ adapter: String(body.get("model")), promptIds, maxTokens },
      temperature: numberOf(body.get("temperature")) ?? 1,
      // As a server: another draw for each request that names no seed.
      seed: numberOf(body.get("seed")) ?? createRandom(options.seed + drawn)() * 2 ** 31,
      endIds: idsOf(body.get("stop_token_ids")),
    });
    models.push(String(body.get("model")));
    policy.keep(promptIds, ids);
    return { ids, logprobs, finish: ended ? "stop" : "length" };
  }

  function chat(body: JsonObject, response: ServerResponse): void {
    const promptIds = tokenizer.encode(policy.render(body));
    const asked = numberOf(body.get("max_tokens"));
    if (promptIds.length + (asked ?? 1) > contextWindow) {
      overflow(response, contextWindow, promptIds.length, asked ?? 0);
      return;
    }
    const { ids, finish } = sample(body.get("model"), promptIds, toolNames(body), asked ?? contextWindow - promptIds.length);
    const message = policy.message(ids, toolNames(body));
    json(response, 200, {
      id: `chatcmpl-${samples.length}`,
      object: "chat.completion",
      model: body.get("model"),
      choices: [
        {
          index: 0,
          message: { role: "assistant", ...message },
          finish_reason: finish === "stop" && message.tool_calls.length > 0 ? "tool_calls" : finish,
          token_ids: ids,
          logprobs: { content: ids.map((id) => ({ token: tokenizer.tokenOf(id), logprob: logprobOf(id), top_logprobs: [] })) },
        },
      ],
      usage: usageOf(promptIds.length, ids.length),
      prompt_token_ids: [...promptIds],
    });
  }

  async function complete(body: JsonObject, response: ServerResponse): Promise<void> {
    const promptIds = Int32Array.from(idsOf(body.get("prompt")));
    const asked = numberOf(body.get("max_tokens")) ?? 16;
    if (promptIds.length + asked > contextWindow) {
      overflow(response, contextWindow, promptIds.length, asked);
      return;
    }
    const { ids, logprobs, finish } =
      options.engine === undefined
        ? sample(body.get("model"), promptIds, ["bash", "read_file"], asked)
        : await sampleByEngine(options.engine, body, promptIds, asked);
    json(response, 200, {
      id: `cmpl-${samples.length}`,
      object: "text_completion",
      model: body.get("model"),
      choices: [
        {
          index: 0,
          text: tokenizer.decode(finish === "stop" ? ids.slice(0, -1) : ids),
          finish_reason: finish,
          stop_reason: finish === "stop" ? (ids.at(-1) ?? endId) : null,
          token_ids: ids,
          prompt_token_ids: [...promptIds],
          logprobs: { tokens: ids.map((id) => tokenizer.tokenOf(id)), token_logprobs: logprobs },
        },
      ],
      usage: usageOf(promptIds.length, ids.length),
    });
  }

  /** Words and statuses as vLLM's. */
  async function loadAdapter(body: JsonObject, response: ServerResponse): Promise<void> {
    const [name, path] = [String(body.get("lora_name") ?? ""), String(body.get("lora_path") ?? "")];
    const whole = existsSync(join(path, "adapter_config.json")) && existsSync(join(path, "adapter_model.safetensors"));
    if (adapters.has(name)) adapterError(response, 400, "InvalidUserInput", `The lora adapter '${name}' has already been loaded.`);
    else if (!whole) adapterError(response, 404, "NotFoundError", `Loading lora ${name} failed: No adapter found for ${path}`);
    else {
      adapters.set(name, path);
      await options.engine?.load(name, path);
      response.writeHead(200, { "content-type": "text/plain" }).end(`Success: LoRA adapter '${name}' added successfully.`);
    }
  }

  function unloadAdapter(body: JsonObject, response: ServerResponse): void {
    const name = String(body.get("lora_name") ?? "");
    if (!adapters.delete(name)) adapterError(response, 404, "NotFoundError", `The lora adapter '${name}' cannot be found.`);
    else {
      options.engine?.unload(name);
      response.writeHead(200, { "content-type": "text/plain" }).end(`Success: LoRA adapter '${name}' removed successfully.`);
    }
  }

  async function serve(path: string, text: string, response: ServerResponse): Promise<void> {
    if (path === "/v1/models") {
      json(response, 200, { object: "list", data: [{ id: "stand-in", object: "model", owned_by: "vllm", max_model_len: contextWindow }] });
      return;
    }
    try {
      const body = parseJson(text);
      if (!isJsonObject(body)) json(response, 400, { error: { message: "no object" } });
      else if (path.endsWith("load_lora_adapter")) {
        if (options.takesAdapters !== true) json(response, 404, { detail: "Not Found" });
        else if (path === "/v1/load_lora_adapter") await loadAdapter(body, response);
        else unloadAdapter(body, response);
      } else if (options.takesAdapters === true && body.get("model") !== "stand-in" && !adapters.has(String(body.get("model"))))
        adapterError(response, 404, "NotFoundError", `The model \`${String(body.get("model"))}\` does not exist.`);
      else if (path === "/v1/chat/completions") chat(body, response);
      else if (path === "/v1/completions") await complete(body, response);
      else json(response, 404, { error: { message: "not found" } });
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      json(response, 400, { error: { message: `chat template: ${error.message}` } });
    }
  }

  const server = await startJsonServer((path, text, response) => void serve(path, text, response));
  return { ...policy, ...server, models, adapters };
}

function usageOf(prompt: number, completion: number) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function adapterError(response: ServerResponse, code: number, type: string, message: string): void {
  json(response, code, { error: { message, type, param: null, code } });
}

function overflow(response: ServerResponse, window: number, prompt: number, asked: number): void {
  json(response, 400, {
    object: "error",
    message: `This model's maximum context length is ${window} tokens. However, you requested ${prompt + asked} tokens (${prompt} in the messages, ${asked} in the completion). Please reduce the length of the messages or completion.`,
    type: "BadRequestError",
    code: 400,
  });
}
