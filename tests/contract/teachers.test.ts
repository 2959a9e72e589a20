/**
 * Teachers that give text only, in the shapes their makers document: Anthropic Messages, Ollama, and what any of them costs. Harnesses of
 * every dialect speak to them through the proxy.
 */
import { resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createPolicyRegistry,
  type PolicyInput,
  type PolicyRegistry,
  type Upstream,
  type UpstreamFailure,
  type UpstreamRequest,
} from "../../main/proxy/index.ts";
import { layProxyBed, type OpenBed, type ProxyBed } from "../stand-ins/proxy-bed.ts";
import { type ScriptedHttp, type ScriptedReply, startScriptedHttp } from "../stand-ins/scripted-http.ts";

let bed: ProxyBed;
let policies: PolicyRegistry;
const closing: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  bed = await layProxyBed();
  policies = registry();
});
afterEach(async () => {
  for (const each of closing.splice(0)) await each.close();
  await bed.close();
});

function registry(): PolicyRegistry {
  return createPolicyRegistry({ store: bed.store, policiesFolder: resolve("resources/policies"), env: { TEACHER_KEY: "sk-secret-teacher" } });
}

async function teacher(
  input: Partial<PolicyInput>,
  post: (path: string, index: number) => ScriptedReply,
  get: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly server: ScriptedHttp; readonly upstream: Upstream }> {
  const server = await startScriptedHttp(get, post);
  await policies.add({ id: "teacher", url: server.url, ...input });
  const upstream = await policies.resolve("teacher");
  closing.push(upstream, server);
  return { server, upstream };
}

const post = (open: OpenBed, path: string, body: object): Promise<Response> =>
  fetch(open.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${open.session.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const hello: UpstreamRequest = {
  conversation: {
    ...{ model: "m", tools: [], sampling: { maxTokens: 100 }, stream: false, extra: "{}" },
    messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  },
  ...{ rolloutId: "r", attempt: 0, callIndex: 0, labels: { dialect: "chat" } },
};

function notesOf(rolloutId: string): string {
  return bed.store
    .eventsAfter(0, 1_000, { rolloutId })
    .map(({ payload }) => payload)
    .join("\n");
}

describe("an Anthropic-compatible server", () => {
  const said = (content: readonly object[], over: object = {}): ScriptedReply => ({
    body: {
      ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-x", content, stop_reason: "end_turn", stop_sequence: null },
      usage: { input_tokens: 20, cache_read_input_tokens: 100, cache_creation_input_tokens: 5, output_tokens: 7 },
      ...over,
    },
  });
  const anthropic: Partial<PolicyInput> = { kind: "anthropic-compatible", model: "claude-x", keyVariable: "TEACHER_KEY" };
  const bash = { type: "object", properties: { command: { type: "string" } } };
  const thought = { type: "thinking", thinking: "hm", signature: "EsIGnature==" };
  const call = { type: "tool_use", id: "toolu_1", name: "bash", input: { command: "ls", n: 1.5 } };

  test("is asked in its own dialect by a harness of another, and answers in the harness's", async () => {
    const { server, upstream } = await teacher(anthropic, () => said([thought, { type: "text", text: "Look." }, call], { stop_reason: "tool_use" }));
    const open = await bed.open(upstream);
    const picture = "data:image/png;base64,AAEC";
    const messages = [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url: picture } },
        ],
      },
      { role: "assistant", content: null, tool_calls: [{ id: "a:1", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } }] },
      { role: "tool", tool_call_id: "a:1", content: "out" },
      { role: "user", content: "go on" },
    ];
    const tools = [{ type: "function", function: { name: "bash", description: "run", parameters: bash } }];
    const response = await open.chat({
      model: "m",
      messages,
      tools,
      tool_choice: "required",
      temperature: 1.4,
      seed: 3,
      stop: "###",
      max_tokens: 50,
    });
    expect(await response.json()).toMatchObject({
      choices: [
        {
          finish_reason: "tool_calls",
          message: { content: "Look.", reasoning_content: "hm", tool_calls: [{ function: { name: "bash", arguments: '{"command":"ls","n":1.5}' } }] },
        },
      ],
      usage: { prompt_tokens: 125, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 100 } },
    });
    const [request] = server.requests;
    const marker = { cache_control: { type: "ephemeral" } };
    expect(request?.path).toBe("/v1/messages");
    expect(request?.headers).toMatchObject({ "x-api-key": "sk-secret-teacher", "anthropic-version": "2023-06-01" });
    expect(request?.headers.authorization).toBeUndefined();
    expect(request?.body).toEqual({
      ...{ model: "claude-x", max_tokens: 50, stream: false, temperature: 1, stop_sequences: ["###"], tool_choice: { type: "any" } },
      system: [{ type: "text", text: "Be brief.", ...marker }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "AAEC" }, ...marker },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "a_1", name: "bash", input: { command: "ls" } }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a_1", content: [{ type: "text", text: "out" }] },
            { type: "text", text: "go on", ...marker },
          ],
        },
      ],
      tools: [{ name: "bash", description: "run", input_schema: bash }],
    });
    expect(bed.store.callsOf(open.rolloutId)).toMatchObject([{ status: "ok", capture: "text-only", policyVersion: "claude-x" }]);
    expect(notesOf(open.rolloutId)).toContain("Temperature 1.4 was sent as 1");
    expect(notesOf(open.rolloutId)).toContain("no seed");
  });

  test("gets its own thinking back with its own signature; another's is left out, and noted", async () => {
    const { server, upstream } = await teacher(anthropic, (_path, index) => said(index === 0 ? [thought, call] : [{ type: "text", text: "Done." }]));
    const open = await bed.open(upstream);
    const first = { role: "user", content: "list" };
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const tools = [{ name: "bash", input_schema: bash }];
    const answer = await (await post(open, "/messages", { model: "m", max_tokens: 2000, thinking, tools, messages: [first] })).json();
    const { content } = answer as { readonly content: readonly object[] };
    expect(content).toMatchObject([{ type: "thinking", thinking: "hm" }, { type: "tool_use" }]);
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "out", is_error: true }] };
    const messages = [first, { role: "assistant", content }, result];
    await post(open, "/messages", { model: "m", max_tokens: 2000, thinking, tools, messages, metadata: { user_id: "u" } });
    const strange = [first, { role: "assistant", content: [{ type: "thinking", thinking: "other", signature: "x" }, call] }, result];
    await post(open, "/messages", { model: "m", max_tokens: 2000, thinking, tools, messages: strange });
    const bodies = server.requests.map(
      ({ body }) => body as { readonly messages: readonly { content: readonly object[] }[]; readonly thinking?: object },
    );
    expect(bodies[1]?.messages[1]?.content[0]).toEqual(thought);
    expect(bodies[1]?.messages[2]?.content[0]).toMatchObject({ type: "tool_result", is_error: true });
    expect(bodies.map((body) => body.thinking)).toEqual([thinking, thinking, undefined]);
    expect(bodies[2]?.messages[1]?.content).toMatchObject([{ type: "tool_use" }]);
    expect(notesOf(open.rolloutId)).toContain("left out: metadata");
    expect(notesOf(open.rolloutId)).toContain("Reasoning that this policy did not write itself");
  });

  test.each<[string, ScriptedReply, Partial<UpstreamFailure>, string]>([
    [
      "529, overloaded",
      { status: 529, body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, headers: { "retry-after": "7" } },
      { kind: "server-error", status: 529, retryable: true, retryAfterMs: 7_000 },
      "Overloaded",
    ],
    [
      "429",
      { status: 429, body: { type: "error", error: { type: "rate_limit_error", message: "Slow down" } }, headers: { "retry-after": "2" } },
      { kind: "rate-limited", retryable: true, retryAfterMs: 2_000 },
      "Slow down",
    ],
    [
      "a wrong key",
      { status: 401, body: { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } } },
      { kind: "auth", retryable: false },
      "x-api-key",
    ],
    [
      "a prompt that is too long",
      {
        status: 400,
        body: { type: "error", error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" } },
      },
      { kind: "context-overflow", retryable: false },
      "too long",
    ],
    [
      "prompt and answer that are too long together",
      { status: 400, body: { error: { message: "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000" } } },
      { kind: "context-overflow", retryable: false },
      "context limit",
    ],
    ["an answer of another shape", { body: { type: "message", content: "hi" } }, { kind: "garbled" }, "no answer of Messages"],
    ["text that is no JSON", { body: "<html>busy</html>" }, { kind: "garbled" }, "JSON"],
    [
      "a stream that is cut",
      { body: 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n', contentType: "text/event-stream" },
      { kind: "garbled" },
      "does not end",
    ],
    ["a stream of something else", { body: "data: [1,2\n\n", contentType: "text/event-stream" }, { kind: "garbled" }, "can't be read"],
  ])("%s: one failure of its kind", async (_name, reply, failure, words) => {
    const { upstream } = await teacher(anthropic, () => reply);
    expect(await upstream.complete(hello, new AbortController().signal)).toMatchObject({
      ok: false,
      failure: { ...failure, message: expect.stringContaining(words) },
    });
  });

  test("is read when it streams all the same; a call that is cut at the limit is not offered as whole", async () => {
    const events = [
      { type: "message_start", message: { model: "claude-x", usage: { input_tokens: 9, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Streamed" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 4 } },
      { type: "message_stop" },
    ];
    const body = events.map((event) => `event: ${event.type}\r\ndata: ${JSON.stringify(event)}\r\n\r\n`).join("");
    const { upstream } = await teacher(anthropic, () => ({ body, contentType: "text/event-stream; charset=utf-8" }));
    const open = await bed.open(upstream);
    const response = await open.chat({ model: "m", max_tokens: 4, messages: [{ role: "user", content: "hi" }] });
    expect(await response.json()).toMatchObject({
      choices: [{ finish_reason: "length", message: { content: "Streamed" } }],
      usage: { prompt_tokens: 9, completion_tokens: 4 },
    });
  });

  test("is text only, and the probe says what that loses", async () => {
    await teacher(anthropic, () => said([{ type: "text", text: "yes" }]));
    expect(await policies.probe("teacher")).toMatchObject({ capture: "text-only", lost: [expect.stringContaining("exported for SFT")] });
  });
});

describe("an Ollama server", () => {
  const models = { "/v1/models": { data: [{ id: "qwen3:4b", owned_by: "library" }] }, "/api/version": { version: "0.20.1" } };
  const said = (message: object, over: object = {}): ScriptedReply => ({
    body: {
      model: "qwen3:4b",
      message: { role: "assistant", ...message },
      done: true,
      done_reason: "stop",
      prompt_eval_count: 11,
      eval_count: 3,
      ...over,
    },
  });

  test("is recognised, and asked by its own route: nothing is cut in silence", async () => {
    const called = { content: "", thinking: "hm", tool_calls: [{ function: { name: "bash", arguments: { command: "ls" } } }] };
    const { server, upstream } = await teacher({ contextWindow: 16_384, kind: "ollama" }, () => said(called), models);
    await policies.add({ id: "asked", url: server.url });
    expect(policies.list().find(({ definition }) => definition.id === "asked")?.definition.kind).toBe("ollama");
    const open = await bed.open(upstream);
    const messages = [
      { role: "developer", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAEC" } },
        ],
      },
      { role: "assistant", content: "", tool_calls: [{ id: "c1", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } }] },
      { role: "tool", tool_call_id: "c1", content: "out" },
    ];
    const tools = [{ type: "function", function: { name: "bash", parameters: { type: "object" } } }];
    const response = await open.chat({ model: "m", messages, tools, temperature: 0, top_p: 0.9, seed: 5, max_tokens: 40 });
    expect(await response.json()).toMatchObject({
      choices: [{ finish_reason: "tool_calls", message: { reasoning_content: "hm", tool_calls: [{ function: { arguments: '{"command":"ls"}' } }] } }],
      usage: { prompt_tokens: 11, completion_tokens: 3 },
    });
    expect(server.requests[0]).toMatchObject({
      path: "/api/chat",
      body: {
        ...{ model: "qwen3:4b", stream: false, truncate: false, shift: false, tools },
        options: { num_ctx: 16_384, num_predict: 40, temperature: 0, top_p: 0.9, seed: 5 },
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "see", images: ["AAEC"] },
          { role: "assistant", tool_calls: [{ function: { name: "bash", arguments: { command: "ls" } } }] },
          { role: "tool", tool_name: "bash", content: "out" },
        ],
      },
    });
  });

  const lines = (...pieces: readonly object[]): ScriptedReply => ({ body: pieces.map((piece) => `${JSON.stringify(piece)}\n`).join("") });
  test.each<[string, ScriptedReply, object]>([
    [
      "streams all the same",
      lines({ message: { content: "a " }, done: false }, { message: { content: "b" }, done: true, done_reason: "length" }),
      { ok: true, answer: { message: { content: [{ text: "a b" }] }, finishReason: "length" } },
    ],
    ["cuts its stream", lines({ message: { content: "a " }, done: false }, { message: { content: "b" } }), { failure: { kind: "garbled" } }],
    [
      "ends with an error",
      { body: { error: "runner has stopped" } },
      { failure: { kind: "garbled", message: expect.stringContaining("has stopped") } },
    ],
    ["says nothing", said({}), { ok: true, answer: { message: { content: [], toolCalls: [] }, usage: { promptTokens: 11 } } }],
    [
      "refuses an overlong prompt",
      { status: 400, body: { error: "input length exceeds the context length" } },
      { failure: { kind: "context-overflow", retryable: false } },
    ],
    ["has not that model", { status: 404, body: { error: "model 'x' not found" } }, { failure: { kind: "bad-request", retryable: false } }],
    ["is busy", { status: 503, body: { error: "server busy" } }, { failure: { kind: "server-error", retryable: true } }],
    ["answers in another shape", { body: { message: "hi", done: true } }, { failure: { kind: "garbled" } }],
  ])("that %s is understood", async (_name, reply, expected) => {
    const { upstream } = await teacher({ kind: "ollama", model: "x" }, () => reply);
    expect(await upstream.complete(hello, new AbortController().signal)).toMatchObject(expected);
  });

  test("what it cannot be given is refused with a sentence", async () => {
    const { upstream } = await teacher({ kind: "ollama", model: "x" }, () => said({ content: "no" }));
    const open = await bed.open(upstream);
    const content = [{ type: "image_url", image_url: { url: "https://pictures.example/a.png" } }];
    const response = await open.chat({ model: "m", messages: [{ role: "user", content }] });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("a picture by its address")]);
  });
});

test("an OpenAI-compatible server that wants the newer name of the limit is given it, from then on", async () => {
  const message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  const fine = { model: "t", choices: [{ index: 0, message: { role: "assistant", content: "Fine." }, finish_reason: "stop" }] };
  const { server, upstream } = await teacher({ kind: "openai-compatible", model: "t" }, (_path, index) =>
    index === 0 ? { status: 400, body: { error: { message, code: "unsupported_parameter" } } } : { body: fine },
  );
  const open = await bed.open(upstream);
  for (const content of ["one", "two"])
    expect((await open.chat({ model: "m", max_tokens: 9, messages: [{ role: "user", content }] })).status).toBe(200);
  const limits = server.requests.map(({ body }) => Object.keys(body as object).filter((name) => name.startsWith("max_")));
  expect(limits).toEqual([["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]);
});

describe("what a policy costs", () => {
  const prices = { input: 2, output: 10, cachedInput: 0.5 };
  const answer = (usage: object | undefined): ScriptedReply => ({
    body: { model: "t", choices: [{ index: 0, message: { role: "assistant", content: "Fine." }, finish_reason: "stop" }], usage },
  });
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 100_000, prompt_tokens_details: { cached_tokens: 400_000 } };
  const paid: Partial<PolicyInput> = { kind: "openai-compatible", model: "t", prices, spendingLimit: 5 };
  const ask = (open: OpenBed): Promise<Response> => open.chat({ model: "m", messages: [{ role: "user", content: "hi" }] });

  test("is counted from every answer; once the limit is reached, nothing more is sent, by anyone who uses it", async () => {
    const { server, upstream } = await teacher(paid, () => answer(usage));
    const [first, second] = [await bed.open(upstream), await bed.open(await policies.resolve("teacher"))];
    expect([(await ask(first)).status, (await ask(second)).status]).toEqual([200, 200]);
    expect(policies.list().find(({ definition }) => definition.id === "teacher")?.spending).toEqual({
      ...{ calls: 2, promptTokens: 2_000_000, cachedTokens: 800_000, completionTokens: 200_000, limit: 5 },
      cost: expect.closeTo(4.8, 6),
    });
    expect((await ask(first)).status).toBe(200);
    const refused = await ask(second);
    expect([refused.status, await refused.json()]).toEqual([
      402,
      { error: expect.objectContaining({ code: "spending_limit_reached", message: expect.stringContaining("7.2 of 5 are spent") }) },
    ]);
    expect(server.requests).toHaveLength(3);
    expect(second.session.stats()).toMatchObject({ failing: true, lastFailure: { kind: "spending-limit" } });
  });

  test("is known to the next service, and stays when the policy is saved anew; a policy that is removed begins at nothing", async () => {
    const { server, upstream } = await teacher(paid, () => answer(usage));
    await ask(await bed.open(upstream));
    const later = registry();
    expect(later.list().find(({ definition }) => definition.id === "teacher")?.spending).toMatchObject({ calls: 1 });
    await later.add({ id: "teacher", url: server.url, ...paid, spendingLimit: 100, replace: true });
    expect(later.list().find(({ definition }) => definition.id === "teacher")?.spending).toMatchObject({ calls: 1, limit: 100 });
    later.remove("teacher");
    const again = await later.add({ id: "teacher", url: server.url, ...paid });
    expect(again.spending).toMatchObject({ calls: 0, cost: 0 });
  });

  test("is estimated where a server says no usage, and that is noted", async () => {
    const { upstream } = await teacher(paid, () => answer(undefined));
    const open = await bed.open(upstream);
    await ask(open);
    expect(policies.list().find(({ definition }) => definition.id === "teacher")?.spending?.cost).toBeGreaterThan(0);
    expect(notesOf(open.rolloutId)).toContain("its cost is an estimate");
  });

  test("a limit wants prices; a key is never written", async () => {
    await expect(policies.add({ id: "x", url: "http://127.0.0.1:9", kind: "openai-compatible", spendingLimit: 5 })).rejects.toThrow("wants prices");
    const { upstream } = await teacher({ ...paid, keyVariable: "TEACHER_KEY" }, () => answer(usage));
    await ask(await bed.open(upstream));
    expect(`${bed.store.setting("policies")}${bed.store.setting("policy-spending")}`).not.toContain("sk-secret");
  });
});
