/** Teachers that speak Anthropic Messages, in the shapes that their maker documents, behind the proxy for harnesses of every dialect. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PolicyInput, UpstreamFailure } from "../../main/proxy/index.ts";
import type { ScriptedReply } from "../stand-ins/scripted-http.ts";
import { helloRequest, layTeacherBed, type TeacherBed } from "../stand-ins/teacher-bed.ts";

let bed: TeacherBed;

beforeEach(async () => {
  bed = await layTeacherBed();
});
afterEach(async () => {
  await bed.close();
});

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
    const { server, upstream } = await bed.teacher(anthropic, () =>
      said([thought, { type: "text", text: "Look." }, call], { stop_reason: "tool_use" }),
    );
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
    expect(bed.notesOf(open.rolloutId)).toContain("Temperature 1.4 was sent as 1");
    expect(bed.notesOf(open.rolloutId)).toContain("no seed");
  });

  test("gets its own thinking back with its own signature; another's is left out, and noted", async () => {
    const { server, upstream } = await bed.teacher(anthropic, (_path, index) =>
      said(index === 0 ? [thought, call] : [{ type: "text", text: "Done." }]),
    );
    const open = await bed.open(upstream);
    const first = { role: "user", content: "list" };
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const tools = [{ name: "bash", input_schema: bash }];
    const answer = await (await open.post("/messages", { model: "m", max_tokens: 2000, thinking, tools, messages: [first] })).json();
    const { content } = answer as { readonly content: readonly object[] };
    expect(content).toMatchObject([{ type: "thinking", thinking: "hm" }, { type: "tool_use" }]);
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "out", is_error: true }] };
    const messages = [first, { role: "assistant", content }, result];
    await open.post("/messages", { model: "m", max_tokens: 2000, thinking, tools, messages, metadata: { user_id: "u" } });
    const strange = [first, { role: "assistant", content: [{ type: "thinking", thinking: "other", signature: "x" }, call] }, result];
    await open.post("/messages", { model: "m", max_tokens: 2000, thinking, tools, messages: strange });
    const bodies = server.requests.map(
      ({ body }) => body as { readonly messages: readonly { content: readonly object[] }[]; readonly thinking?: object },
    );
    expect(bodies[1]?.messages[1]?.content[0]).toEqual(thought);
    expect(bodies[1]?.messages[2]?.content[0]).toMatchObject({ type: "tool_result", is_error: true });
    expect(bodies.map((body) => body.thinking)).toEqual([thinking, thinking, undefined]);
    expect(bodies[2]?.messages[1]?.content).toMatchObject([{ type: "tool_use" }]);
    expect(bed.notesOf(open.rolloutId)).toContain("left out: metadata");
    expect(bed.notesOf(open.rolloutId)).toContain("Reasoning that this policy did not write itself");
  });

  test("gets thinking back with the signature that came in its stream", async () => {
    const events = [
      { type: "message_start", message: { model: "claude-x", usage: { input_tokens: 9 } } },
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hm" } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "EsIGnature==" } },
      { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "toolu_1", name: "bash", input: {} } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"command":"ls"}' } },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 4 } },
      { type: "message_stop" },
    ];
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const { server, upstream } = await bed.teacher(anthropic, (_path, index) =>
      index === 0 ? { body, contentType: "text/event-stream" } : said([{ type: "text", text: "Done." }]),
    );
    const open = await bed.open(upstream);
    const first = { role: "user", content: "list" };
    const streamed = await (await open.post("/chat/completions", { model: "m", stream: true, messages: [first] })).text();
    expect(streamed).toContain('"reasoning_content":"hm"');
    const called = [{ id: "toolu_1", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } }];
    const assistant = { role: "assistant", content: null, reasoning_content: "hm", tool_calls: called };
    await open.chat({ model: "m", messages: [first, assistant, { role: "tool", tool_call_id: "toolu_1", content: "out" }] });
    expect(server.requests[1]?.body).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant", content: [thought, { type: "tool_use" }] }, {}],
    });
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
    [
      "a stream that ends with an error",
      { body: 'data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n', contentType: "text/event-stream" },
      { kind: "garbled", retryable: true },
      "overloaded_error",
    ],
    ["a stream of something else", { body: "data: [1,2\n\n", contentType: "text/event-stream" }, { kind: "garbled" }, "can't be read"],
  ])("%s: one failure of its kind", async (_name, reply, failure, words) => {
    const { upstream } = await bed.teacher(anthropic, () => reply);
    expect(await upstream.complete(helloRequest, new AbortController().signal)).toMatchObject({
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
    const { upstream } = await bed.teacher(anthropic, () => ({ body, contentType: "text/event-stream; charset=utf-8" }));
    const open = await bed.open(upstream);
    const response = await open.chat({ model: "m", max_tokens: 4, messages: [{ role: "user", content: "hi" }] });
    expect(await response.json()).toMatchObject({
      choices: [{ finish_reason: "length", message: { content: "Streamed" } }],
      usage: { prompt_tokens: 9, completion_tokens: 4 },
    });
  });

  test("is text only, and the probe says what that loses", async () => {
    await bed.teacher(anthropic, () => said([{ type: "text", text: "yes" }]));
    expect(await bed.policies.probe("teacher")).toMatchObject({ capture: "text-only", lost: [expect.stringContaining("exported for SFT")] });
  });
});
