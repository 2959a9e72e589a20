/**
 * A stand-in for a vLLM server: a real tokenizer and chat template, ids and log-probs in vLLM's fields, random but repeatable turns.
 * Chat Completions renders the messages as vLLM does; Completions takes a prompt of ids. Keeps what it saw and sampled, id for id.
 * With an engine (`vllm-engine.ts`) it samples from real weights and adapters, by Completions.
 */
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../engine/json/index.ts";
import { chatContext, compileTemplate, TemplateError } from "../../engine/templates/index.ts";
import { loadTokenizer, type Tokenizer } from "../../engine/tokenizers/index.ts";
import { parseAnswer } from "../../engine/tool-calls/index.ts";
import { createRandom, pick, type Random } from "./random.ts";

const fixtures = resolve(import.meta.dirname, "../fixtures");

export interface Sample {
  readonly promptIds: readonly number[];
  readonly sampledIds: readonly number[];
}

export interface VllmServer {
  readonly url: string;
  /** Every answer, in order. */
  readonly samples: readonly Sample[];
  /** What each of them was asked of. */
  readonly models: readonly string[];
  /** Folders of the adapters that are loaded, by the name they are served under. */
  readonly adapters: ReadonlyMap<string, string>;
  readonly tokenizer: Tokenizer;
  /** Files of the tokenizer and template in Hugging Face form, for a client that builds prompts itself. */
  readonly template: string;
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

export interface VllmOptions {
  /** Name in tests/fixtures/chat-templates. */
  readonly template: string;
  readonly seed: number;
  readonly contextWindow?: number;
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
  const tokenizer =
    options.engine?.tokenizer ??
    loadTokenizer(fixture("tokenizers/chatml-bpe/tokenizer.json"), fixture("tokenizers/chatml-bpe/tokenizer_config.json"));
  const source = fixture(`chat-templates/${options.template}.jinja`);
  const template = compileTemplate(source);
  const contextWindow = options.contextWindow ?? 100_000;
  const random = createRandom(options.seed);
  const samples: Sample[] = [];
  const models: string[] = [];
  const adapters = new Map<string, string>();
  let drawn = 0;
  const endId = tokenizer.special.eos ?? 0;

  function sample(model: JsonValue | undefined, promptIds: Int32Array, tools: readonly string[], maxTokens: number): Turn {
    const whole = [...sampleTurn(random, tokenizer, tools), endId];
    const ids = whole.slice(0, maxTokens);
    keep(model, promptIds, ids);
    return { ids, logprobs: ids.map(logprobOf), finish: ids.length < whole.length ? "length" : "stop" };
  }

  function keep(model: JsonValue | undefined, promptIds: Int32Array, sampledIds: readonly number[]): void {
    models.push(String(model));
    samples.push({ promptIds: [...promptIds], sampledIds });
  }

  async function sampleByEngine(engine: VllmEngine, body: JsonObject, promptIds: Int32Array, maxTokens: number): Promise<Turn> {
    drawn += 1;
    const ends = body.get("stop_token_ids");
    const { ids, logprobs, ended } = await engine.sample({
      ...{ adapter: String(body.get("model")), promptIds, maxTokens },
      temperature: numberOf(body.get("temperature")) ?? 1,
      // As a server: another draw for each request that names no seed.
      seed: numberOf(body.get("seed")) ?? createRandom(options.seed + drawn)() * 2 ** 31,
      endIds: isJsonArray(ends) ? ends.map(Number) : [],
    });
    keep(body.get("model"), promptIds, ids);
    return { ids, logprobs, finish: ended ? "stop" : "length" };
  }

  function chat(body: JsonObject, response: ServerResponse): void {
    const messages = isJsonArray(body.get("messages")) ? (body.get("messages") as JsonValue[]) : [];
    const tools = isJsonArray(body.get("tools")) ? (body.get("tools") as JsonValue[]) : null;
    const context = chatContext({ messages: messages.map(withObjectArguments), tools, addGenerationPrompt: true });
    const promptIds = tokenizer.encode(template.render(context, { now: new Date(0) }).text);
    const asked = numberOf(body.get("max_tokens"));
    if (promptIds.length + (asked ?? 1) > contextWindow) {
      overflow(response, contextWindow, promptIds.length, asked ?? 0);
      return;
    }
    const { ids, finish } = sample(body.get("model"), promptIds, toolNames(tools), asked ?? contextWindow - promptIds.length);
    const text = tokenizer.decode(ids, { skipSpecialTokens: true });
    const read = parseAnswer(text, { format: "hermes", tools: toolNames(tools).map((name) => ({ name })) });
    const calls = read.toolCalls.map((call, index) => ({ id: `chatcmpl-tool-${samples.length}-${index}`, type: "function", function: call }));
    json(response, 200, {
      id: `chatcmpl-${samples.length}`,
      object: "chat.completion",
      model: body.get("model"),
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: read.content, reasoning_content: read.reasoning, tool_calls: calls },
          finish_reason: finish === "stop" && calls.length > 0 ? "tool_calls" : finish,
          token_ids: ids,
          logprobs: { content: ids.map((id) => ({ token: tokenizer.tokenOf(id), logprob: logprobOf(id), top_logprobs: [] })) },
        },
      ],
      usage: usageOf(promptIds.length, ids.length),
      prompt_token_ids: [...promptIds],
    });
  }

  async function complete(body: JsonObject, response: ServerResponse): Promise<void> {
    const prompt = body.get("prompt");
    const promptIds = Int32Array.from(isJsonArray(prompt) ? prompt.map((id) => Number(id)) : []);
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

  async function serve(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    if (request.url === "/v1/models") {
      json(response, 200, { object: "list", data: [{ id: "stand-in", object: "model", owned_by: "vllm", max_model_len: contextWindow }] });
      return;
    }
    try {
      const body = parseJson(text);
      if (!isJsonObject(body)) json(response, 400, { error: { message: "no object" } });
      else if (request.url?.endsWith("load_lora_adapter") === true) {
        if (options.takesAdapters !== true) json(response, 404, { detail: "Not Found" });
        else if (request.url === "/v1/load_lora_adapter") await loadAdapter(body, response);
        else unloadAdapter(body, response);
      } else if (options.takesAdapters === true && body.get("model") !== "stand-in" && !adapters.has(String(body.get("model"))))
        adapterError(response, 404, "NotFoundError", `The model \`${String(body.get("model"))}\` does not exist.`);
      else if (request.url === "/v1/chat/completions") chat(body, response);
      else if (request.url === "/v1/completions") await complete(body, response);
      else json(response, 404, { error: { message: "not found" } });
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      json(response, 400, { error: { message: `chat template: ${error.message}` } });
    }
  }

  const server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("end", () => void serve(request, response, Buffer.concat(chunks).toString()));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    samples,
    models,
    adapters,
    tokenizer,
    template: source,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function fixture(path: string): string {
  return readFileSync(join(fixtures, path), "utf8");
}

/** As vLLM does before it renders: arguments of calls become objects. */
function withObjectArguments(message: JsonValue): JsonObject {
  if (!isJsonObject(message)) return new Map();
  const calls = message.get("tool_calls");
  if (!isJsonArray(calls)) return message;
  const read = calls.map((call) => {
    const inner = isJsonObject(call) ? call.get("function") : undefined;
    const text = isJsonObject(inner) ? inner.get("arguments") : undefined;
    if (!isJsonObject(call) || !isJsonObject(inner) || typeof text !== "string") return call;
    return new Map(call).set("function", new Map(inner).set("arguments", parseJson(text)));
  });
  return new Map(message).set("tool_calls", read);
}

function toolNames(tools: readonly JsonValue[] | null): readonly string[] {
  return (tools ?? []).flatMap((tool) => {
    const inner = isJsonObject(tool) ? tool.get("function") : undefined;
    const name = isJsonObject(inner) ? inner.get("name") : undefined;
    return typeof name === "string" ? [name] : [];
  });
}

const words = ["the report", " is", " ready", "\n", "é", "据", "😀", " 12.5", "```sh\nls\n```", "  ", "don't", "{}", "C:\\x"];
const commands = ["ls -la", 'echo "größe"', "cat <<'E'\na\nE", "printf '%s\\n' a > b", "true && false"];

/** A turn as a policy writes them, in ids that no tokenizer would always choose: reasoning, text, calls spelled in many ways. */
function sampleTurn(random: Random, tokenizer: Tokenizer, tools: readonly string[]): number[] {
  const text = (): string => Array.from({ length: 1 + Math.floor(random() * 6) }, () => pick(random, words)).join("");
  const parts: string[] = [];
  if (random() < 0.5) parts.push(`<think>\n${text()}\n</think>\n\n`);
  const isCalling = tools.length > 0 && random() < 0.75;
  if (!isCalling || random() < 0.5) parts.push(text());
  for (let count = isCalling ? 1 + Math.floor(random() * 2) : 0; count > 0; count -= 1) parts.push(writeCall(random, pick(random, tools)));
  return parts.flatMap((part) => oddly(random, tokenizer, part));
}

function writeCall(random: Random, name: string): string {
  const space = pick(random, ["", " ", "  "]);
  const command = JSON.stringify(pick(random, commands));
  const limit = pick(random, ["", `, "limit":${space}1.0`, `,"n": 1e3`]);
  return `\n<tool_call>\n{"name":${space}"${name}", "arguments": {${space}"command":${space}${command}${limit}}}\n</tool_call>`;
}

/** Cuts a text at random places and encodes the pieces apart; markers stay whole. */
function oddly(random: Random, tokenizer: Tokenizer, text: string): number[] {
  return text.split(/(<\/?(?:think|tool_call)>)/).flatMap((piece) => {
    if (/^<\/?(?:think|tool_call)>$/.test(piece) || random() < 0.6) return [...tokenizer.encode(piece)];
    const characters = [...piece];
    const cut = Math.floor(random() * characters.length);
    return [characters.slice(0, cut), characters.slice(cut)].flatMap((part) => [...tokenizer.encode(part.join(""), { matchAddedTokens: false })]);
  });
}

function logprobOf(id: number): number {
  return -((id % 100) + 1) / 64;
}

function usageOf(prompt: number, completion: number) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function numberOf(value: JsonValue | undefined): number | null {
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
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

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(
    JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? Number(item) : item instanceof Map ? Object.fromEntries(item) : item)),
  );
}
