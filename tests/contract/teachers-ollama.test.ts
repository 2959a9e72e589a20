/** Teachers behind an Ollama server, in the shapes that its maker documents. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ScriptedReply } from "../stand-ins/scripted-http.ts";
import { helloRequest, layTeacherBed, type TeacherBed } from "../stand-ins/teacher-bed.ts";

let bed: TeacherBed;

beforeEach(async () => {
  bed = await layTeacherBed();
});
afterEach(async () => {
  await bed.close();
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
    const { server, upstream } = await bed.teacher({ contextWindow: 16_384, kind: "ollama" }, () => said(called), models);
    await bed.policies.add({ id: "asked", url: server.url });
    expect(bed.policies.list().find(({ definition }) => definition.id === "asked")?.definition.kind).toBe("ollama");
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
    const { upstream } = await bed.teacher({ kind: "ollama", model: "x" }, () => reply);
    expect(await upstream.complete(helloRequest, new AbortController().signal)).toMatchObject(expected);
  });

  test("what it cannot be given is refused with a sentence", async () => {
    const { upstream } = await bed.teacher({ kind: "ollama", model: "x" }, () => said({ content: "no" }));
    const open = await bed.open(upstream);
    const content = [{ type: "image_url", image_url: { url: "https://pictures.example/a.png" } }];
    const response = await open.chat({ model: "m", messages: [{ role: "user", content }] });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("a picture by its address")]);
  });
});
