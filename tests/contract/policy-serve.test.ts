/** `policy serve`: an OpenAI-compatible server over a model of this machine, spoken to as clients do, and by the proxy as if it were vLLM. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importGguf } from "../../main/models/index.ts";
import { createPolicyRegistry, openLocalPolicy, servePolicy } from "../../main/proxy/index.ts";
import { rebuildTrajectories } from "../../main/trajectories/index.ts";
import { layProxyBed, type ProxyBed } from "../stand-ins/proxy-bed.ts";

const folder = mkdtempSync(join(tmpdir(), "of-serve-"));
const model = join(folder, "policies", "tiny");
let bed: ProxyBed;
let policy: Awaited<ReturnType<typeof openLocalPolicy>>;
let server: Awaited<ReturnType<typeof servePolicy>>;

beforeAll(async () => {
  bed = await layProxyBed();
  await importGguf("tests/fixtures/gguf/tiny-llama.gguf", model);
  policy = await openLocalPolicy("tiny?deterministic=true", { dataFolder: folder, lanes: 2 });
  server = await servePolicy(policy, { port: 0, version: "0" });
});
afterAll(async () => {
  await server.close();
  await policy.close();
  await bed.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Choice {
  readonly text?: string;
  readonly message?: { readonly content: string | null; readonly reasoning_content?: string; readonly tool_calls?: readonly object[] };
  readonly finish_reason: string;
  readonly token_ids?: readonly number[];
  readonly prompt_token_ids?: readonly number[];
  readonly logprobs: { readonly content?: readonly { token: string; logprob: number }[]; readonly token_logprobs?: readonly number[] } | null;
}

interface Reply {
  readonly choices: readonly [Choice];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly prompt_token_ids?: readonly number[];
  readonly error?: { readonly message: string; readonly code: string };
}

function post(path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(server.url + path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), ...init });
}

async function ask(path: string, body: object): Promise<Reply> {
  return (await (await post(path, { model: "tiny", ...body })).json()) as Reply;
}

const messages = [{ role: "user", content: "how many boats?" }];
const tools = [
  { type: "function", function: { name: "bash", description: "run", parameters: { type: "object", properties: { command: { type: "string" } } } } },
];

describe("chat completions", () => {
  test("ids and log-probabilities belong to what is said; a seed repeats it, none does not", async () => {
    const body = { messages, tools, max_tokens: 12, seed: 3, return_token_ids: true, logprobs: true, top_logprobs: 0 };
    const { choices, usage, prompt_token_ids } = await ask("/chat/completions", body);
    const [choice] = choices;
    expect(prompt_token_ids?.length).toBe(usage.prompt_tokens);
    expect(choice.token_ids?.length).toBe(usage.completion_tokens);
    expect(choice.logprobs?.content?.every(({ logprob }) => logprob <= 0)).toBe(true);
    expect(choice.logprobs?.content?.map(({ token }) => token).join("")).toBe(policy.text.tokenizer.decode(choice.token_ids ?? []));
    expect((await ask("/chat/completions", body)).choices).toEqual(choices);
    const plain = await ask("/chat/completions", { messages, max_tokens: 12, seed: 3 });
    expect(plain.choices[0].token_ids).toBeUndefined();
    const drawn = await Promise.all([1, 2].map(() => ask("/chat/completions", { messages, max_tokens: 12 })));
    expect(drawn[0]?.choices[0].message).not.toEqual(drawn[1]?.choices[0].message);
  });

  test("a stream says the same, ends with usage when asked, and carries the ids", async () => {
    const body = { messages, max_tokens: 12, seed: 3, return_token_ids: true };
    const whole = await ask("/chat/completions", body);
    const reply = await post("/chat/completions", { model: "tiny", ...body, stream: true, stream_options: { include_usage: true } });
    expect(reply.headers.get("content-type")).toContain("text/event-stream");
    const data = (await reply.text()).split("\n\n").flatMap((event) => (event.startsWith("data: ") ? [event.slice(6)] : []));
    expect(data.at(-1)).toBe("[DONE]");
    const chunks = data
      .slice(0, -1)
      .map(
        (text) =>
          JSON.parse(text) as { choices: { delta: { content?: string; reasoning_content?: string }; token_ids?: number[] }[]; usage?: object },
      );
    const said = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    expect(said).toBe(whole.choices[0].message?.content ?? "");
    // It comes as it is sampled, not all at once.
    expect(chunks.filter(({ choices }) => (choices[0]?.delta.content ?? "") !== "").length).toBeGreaterThan(2);
    expect(chunks.flatMap(({ choices }) => choices[0]?.token_ids ?? [])).toEqual(whole.choices[0].token_ids);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
  });
});

test("calls of tools are parsed, their text is not shown twice", async () => {
  // The starter policy knows the words of `react` and of its own tasks, and no others.
  const starter = await openLocalPolicy("resources/policies/starter", { dataFolder: folder, lanes: 1 });
  const description = "Runs a command in a new bash and returns what it prints, with its exit code when that is not 0.";
  const bash = { name: "bash", description, parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] } };
  const system = "You are an agent in a shell. Use the tools to do the task. When it is done, answer in words, without a tool call.";
  const open = await servePolicy(starter, { port: 0, version: "0" });
  const asked = [
    { role: "system", content: system },
    { role: "user", content: "Write the words boat lamp to stone.txt\n\nWhen it is done, answer: Done." },
  ];
  const body = { model: "starter", messages: asked, tools: [{ type: "function", function: bash }], temperature: 0, max_tokens: 40 };
  const reply = (await (await fetch(`${open.url}/chat/completions`, { method: "POST", body: JSON.stringify(body) })).json()) as Reply;
  const none = await fetch(`${open.url}/chat/completions`, { method: "POST", body: JSON.stringify({ ...body, tool_choice: "none" }) });
  await open.close();
  await starter.close();
  expect(reply.choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { content: null } });
  const [call] = reply.choices[0].message?.tool_calls ?? [];
  expect(call).toMatchObject({ type: "function", function: { name: "bash", arguments: expect.stringMatching(/^\{"command":".+"\}$/) } });
  expect(none.status).toBe(200);
});

describe("completions", () => {
  test("take ids or a text; what is given back fits together", async () => {
    const prompt = [...policy.text.tokenizer.encode("how many boats?")];
    const asked = { max_tokens: 8, seed: 1, temperature: 0, logprobs: 0, return_token_ids: true, add_special_tokens: false };
    const fromIds = await ask("/completions", { ...asked, prompt });
    const fromText = await ask("/completions", { ...asked, prompt: "how many boats?" });
    expect(fromIds.choices).toEqual(fromText.choices);
    const [choice] = fromIds.choices;
    expect(choice).toMatchObject({ finish_reason: "length", prompt_token_ids: prompt });
    expect(choice.logprobs?.token_logprobs?.length).toBe(8);
    expect(choice.text).toBe(policy.text.tokenizer.decode(choice.token_ids ?? [], { skipSpecialTokens: true }));
    const stop = (choice.text ?? "").slice(4, 7);
    const stopped = await ask("/completions", { ...asked, prompt, stop: [stop] });
    expect(choice.text?.startsWith(stopped.choices[0].text ?? "?")).toBe(true);
    expect(stopped.choices[0].text).not.toContain(stop);
    const ended = await ask("/completions", { ...asked, prompt, stop_token_ids: [choice.token_ids?.[3] ?? 0] });
    expect(ended.choices[0]).toMatchObject({ finish_reason: "stop", token_ids: choice.token_ids?.slice(0, 4) });
    const text = await (await post("/completions", { model: "tiny", ...asked, prompt, stream: true })).text();
    const events = text.split("\n\n").flatMap((event) => (event.startsWith("data: {") ? [JSON.parse(event.slice(6)) as Reply] : []));
    expect(events.map(({ choices }) => choices[0].text).join("")).toBe(choice.text);
    expect(events.length).toBeGreaterThan(2);
    expect(events.at(-1)?.choices[0]).toMatchObject({ finish_reason: "length", token_ids: choice.token_ids });
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });
});

test("what is not offered is refused in a sentence, and nothing hangs", async () => {
  const refusal = async (path: string, body: object | string) => {
    const reply = await post(path, typeof body === "string" ? body : { model: "tiny", messages, ...body });
    const { error } = (await reply.json()) as Reply;
    return `${reply.status} ${error?.message}`;
  };
  expect(await refusal("/chat/completions", { n: 2 })).toBe("400 `n` is not offered here: leave it out.");
  expect(await refusal("/chat/completions", { response_format: { type: "json_object" } })).toContain("400 `response_format`");
  expect(await refusal("/chat/completions", { frequency_penalty: 0.5 })).toContain("400 `frequency_penalty`");
  expect(await refusal("/chat/completions", { top_logprobs: 5 })).toContain("400 `top_logprobs`");
  expect(await refusal("/chat/completions", { tool_choice: "required", tools })).toContain("400 A call of a tool cannot be forced");
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  expect(await refusal("/chat/completions", { messages: [{ role: "user", content: [image] }] })).toContain("400 This policy reads text only");
  expect(await refusal("/chat/completions", { model: "gpt-5" })).toBe('404 There is no model "gpt-5" here: it is called "tiny".');
  expect(await refusal("/chat/completions", "{")).toContain("400 The body is no JSON object");
  expect(await refusal("/chat/completions", { messages: [] })).toContain("400 `messages` is empty");
  expect(await refusal("/chat/completions", { messages: [{ role: "user", content: "word ".repeat(2000) }] })).toContain(
    "400 This model's maximum context length is 512",
  );
  expect(await refusal("/completions", {})).toContain("400 This is no Completions request: prompt");
  expect(await refusal("/completions", { prompt: ["a", "b"] })).toContain("400 This is no Completions request");
  expect(await refusal("/completions", { prompt: [999_999] })).toContain("400 The token id 999999 is not in this model's vocabulary");
  expect(await refusal("/embeddings", {})).toContain("404 This path is not served");
  const gone = new AbortController();
  const hung = post("/completions", { model: "tiny", prompt: "a", max_tokens: 400 }, { signal: gone.signal });
  gone.abort();
  await expect(hung).rejects.toThrow();
  expect((await ask("/completions", { prompt: "a", max_tokens: 1 })).usage.completion_tokens).toBe(1);
});

test("the proxy takes it for vLLM: probed with ids and log-probabilities, its rollouts are one trainable chain", async () => {
  const policies = createPolicyRegistry({ store: bed.store, policiesFolder: resolve("resources/policies"), env: {} });
  expect(await policies.add({ id: "served", url: server.url, tokenizer: model })).toMatchObject({ definition: { kind: "vllm" } });
  expect(await policies.probe("served")).toMatchObject({ capture: "ids+logprobs", lost: [] });
  const upstream = await policies.resolve("served");
  expect(upstream.contextWindow).toBe(512);
  for (const tokenMode of ["as-sampled", "text-in"] as const) {
    const open = await bed.open(upstream, { tokenMode, maxTokens: 16 });
    const turns: object[] = [];
    for (const question of ["how many boats?", "and how many sails?"]) {
      turns.push({ role: "user", content: question });
      const reply = (await (await open.chat({ model: "m", messages: turns })).json()) as Reply;
      turns.push({ role: "assistant", content: reply.choices[0].message?.content ?? "" });
    }
    await open.session.close();
    const calls = bed.store.callsOf(open.rolloutId);
    expect(calls.map((call) => call.capture)).toEqual(["ids+logprobs", "ids+logprobs"]);
    if (tokenMode === "as-sampled") expect(rebuildTrajectories(bed.store, open.rolloutId)).toMatchObject({ breaks: {}, chains: { length: 1 } });
  }
  await upstream.close();
});

test("the verb says where it is and ends with Ctrl-C", async () => {
  const child = spawn(process.execPath, ["--import", "tsx", "main/cli.ts", "policy", "serve", "tiny", "--lanes", "1", "--json", "--data", folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((done) => child.once("exit", done));
  const line = await Promise.race([
    new Promise<string>((done) => child.stdout.once("data", (bytes: Buffer) => done(bytes.toString()))),
    ended.then((code) => Promise.reject(new Error(`it ended with ${code}`))),
  ]);
  const { url, model: name, contextWindow } = JSON.parse(line) as { url: string; model: string; contextWindow: number };
  expect([name, contextWindow]).toEqual(["tiny", 512]);
  expect(await (await fetch(`${url}/models`)).json()).toMatchObject({ data: [{ id: "tiny", max_model_len: 512 }] });
  child.kill("SIGINT");
  expect(await ended).toBe(130);
});
