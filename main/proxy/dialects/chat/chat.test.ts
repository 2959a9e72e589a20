import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Answer, BlobHash } from "../../../../engine/conversation/index.ts";
import { readSse } from "../../streams/sse.ts";
import { answerArbitrary } from "../answer-arbitrary.test-data.ts";
import type { AnswerContext, MediaStore } from "../dialect.ts";
import { readWhole } from "../request-body.ts";
import { chatDialect } from "./index.ts";
import { type ChatChunk, checkChatStream } from "./stream-grammar.ts";
import { createChatStreamReader } from "./stream-reader.ts";

const blobs = new Map<string, Uint8Array>();
const media: MediaStore = {
  put: (bytes) => {
    const hash = `h${bytes.length}` as BlobHash;
    blobs.set(hash, bytes);
    return hash;
  },
  get: (hash) => blobs.get(hash) ?? null,
};
const context = (includeUsage: boolean): AnswerContext => ({
  callId: "r1-0-3",
  createdAt: 1_700_000_000,
  reply: { model: "m", stream: true, includeUsage, encryptedReasoning: false, parallelToolCalls: true },
});

describe("a request", () => {
  test("is read whole: unknown fields, tools as written, images once", () => {
    const text = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":9,"temperature":0,"stop":"x","reasoning_effort":"low","metadata":{"2":1.0,"1":12345678901234567890},
      "tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"b":1.0,"10":{},"2":[]},"strict":true}},{"type":"web_search","x":1.50}],
      "messages":[{"role":"developer","content":"D"},{"role":"user","name":"u","content":[{"type":"text","text":"T"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAEC","detail":"low"}},{"type":"input_audio","input_audio":{}}]},
        {"role":"assistant","content":null,"reasoning_content":"R","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{ \\"a\\" : 1.0 }"}},{"id":"b","type":"custom","custom":{"name":"g","input":"free"}}]},
        {"role":"tool","tool_call_id":"a","content":"out"},{"role":"function","name":"old","content":"y"},{"role":"user","content":"done \\ud83d","cache_control":{"type":"ephemeral"}}]}`;
    const decoded = chatDialect.decode(readWhole(Buffer.from(text), "messages"), media, "");
    expect(decoded).toMatchObject({ ok: true, reply: { stream: true, includeUsage: true } });
    if (!decoded.ok) return;
    const { conversation } = decoded;
    expect(conversation.tools).toEqual([
      { kind: "function", name: "f", description: "d", parameters: '{"b":1.0,"10":{},"2":[]}', strict: true },
      { kind: "other", raw: '{"type":"web_search","x":1.50}' },
    ]);
    expect(conversation.sampling).toEqual({ temperature: 0, maxTokens: 9, stop: ["x"] });
    expect(conversation.extra).toBe('{"reasoning_effort":"low","metadata":{"2":1.0,"1":12345678901234567890}}');
    expect(conversation.messages).toMatchObject([
      { role: "developer", content: [{ type: "text", text: "D" }] },
      {
        role: "user",
        name: "u",
        content: [
          { type: "text" },
          { type: "image", detail: "low", mediaType: "image/png", source: { kind: "blob", hash: "h3" } },
          { type: "other" },
        ],
      },
      {
        role: "assistant",
        content: [],
        reasoning: "R",
        toolCalls: [
          { id: "a", kind: "function", name: "f", arguments: '{ "a" : 1.0 }' },
          { id: "b", kind: "custom", name: "g", arguments: "free" },
        ],
      },
      { role: "tool", toolCallId: "a" },
      { role: "other", raw: '{"role":"function","name":"old","content":"y"}' },
      { role: "user", content: [{ text: "done \ud83d" }], extra: '{"cache_control":{"type":"ephemeral"}}' },
    ]);
  });

  test.each([
    ['{"messages":[]}', "at least one message"],
    ['{"messages":[{"content":"x"}]}', "messages.0.role"],
    ['{"messages":[{"role":"user","content":"x"}],"n":3}', "one answer a call"],
    ['{"messages":[{"role":"user","content":"x"}],"max_tokens":0}', "max_tokens"],
  ])("that is none gets a sentence: %s", (text, phrase) => {
    const decoded = chatDialect.decode(readWhole(Buffer.from(text), "messages"), media, "");
    expect(decoded).toMatchObject({ ok: false, fault: { status: 400, message: expect.stringContaining(phrase) } });
  });
});

describe("an answer", () => {
  test("passes the grammar as a stream, and reads back the same from stream and body", () => {
    fc.assert(
      fc.property(answerArbitrary, fc.boolean(), (answer: Answer, includeUsage) => {
        const stream = chatDialect.answerStream(answer, context(includeUsage));
        const events = readSse(stream);
        expect(events.at(-1)?.data).toBe("[DONE]");
        const chunks = events.slice(0, -1).map((event) => JSON.parse(event.data) as ChatChunk);
        expect(() => checkChatStream(chunks, { includeUsage })).not.toThrow();
        const { message, finishReason, usage } = answer;
        expect(chatDialect.readAnswer(chatDialect.answerBody(answer, context(false)), false)).toEqual({ message, finishReason, usage });
        expect(chatDialect.readAnswer(stream, true)).toEqual({
          message,
          finishReason,
          usage: includeUsage ? usage : { promptTokens: 0, completionTokens: 0 },
        });
      }),
    );
  });

  test("the grammar refuses what clients trip over", () => {
    const head = { id: "i", object: "chat.completion.chunk", created: 1, model: "m" } as const;
    const chunk = (delta: ChatChunk["choices"][number]["delta"], finish: string | null = null): ChatChunk => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const check = (chunks: readonly ChatChunk[]) => () => checkChatStream(chunks, { includeUsage: false });
    const role = chunk({ role: "assistant", content: "" });
    expect(check([role, chunk({ content: "a" }), chunk({ reasoning_content: "b" }), chunk({}, "stop")])).toThrow("reasoning after content");
    expect(check([role, role, chunk({}, "stop")])).toThrow("twice");
    expect(check([role, chunk({}, "stop"), chunk({ content: "a" })])).toThrow("content after finished");
    expect(check([role])).toThrow("ends at role");
    expect(check([role, chunk({ tool_calls: [{ index: 0, function: { arguments: "{" } }] })])).toThrow("not the open one");
    expect(check([role, { ...chunk({}, "stop"), id: "j" }])).toThrow("id or model");
  });
});

describe("streams of other servers", () => {
  const read = (...datas: unknown[]) => {
    const reader = createChatStreamReader();
    for (const data of datas) reader.push(typeof data === "string" ? data : JSON.stringify(data));
    return reader.answer();
  };
  const tool = (part: unknown) => ({ choices: [{ delta: { tool_calls: [part] } }] });

  test("parallel calls that share an index are told apart by id, continuations stay with theirs", () => {
    const answer = read(
      tool({ index: 0, id: "A", function: { name: "f", arguments: '{"path":"a"}' } }),
      tool({ index: 0, id: "B", function: { name: "f", arguments: '{"path":' } }),
      tool({ index: 0, function: { arguments: '"b"}' } }),
      { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
    );
    expect(answer.toolCalls.map((call) => [call.id, call.arguments])).toEqual([
      ["A", '{"path":"a"}'],
      ["B", '{"path":"b"}'],
    ]);
  });

  test("interleaved calls, ids repeated on every chunk, no ids at all", () => {
    expect(
      read(
        tool({ index: 0, id: "A", function: { name: "f" } }),
        tool({ index: 1, id: "B", function: { name: "g" } }),
        tool({ index: 0, id: "A", function: { arguments: "1" } }),
        tool({ index: 1, function: { arguments: "2" } }),
      ).toolCalls.map((call) => call.arguments),
    ).toEqual(["1", "2"]);
    expect(
      read(
        tool({ function: { name: "f", arguments: "{" } }),
        tool({ function: { arguments: "}" } }),
        tool({ function: { name: "f", arguments: "[]" } }),
      ).toolCalls.map((call) => call.arguments),
    ).toEqual(["{}", "[]"]);
  });

  test("ends once, whatever the order and number of closing chunks", () => {
    const stop = { choices: [{ delta: { content: "hi" }, finish_reason: "stop" }] };
    const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 1 } };
    for (const order of [
      [stop, usage, "[DONE]"],
      [usage, stop, "[DONE]", stop],
      [stop, usage],
    ]) {
      expect(read(...order)).toMatchObject({ text: "hi", finishReason: "stop", usage: { promptTokens: 3, completionTokens: 1 } });
    }
    expect(read({ choices: [{ delta: { content: "hi" } }] }, usage).finishReason).toBeNull();
  });
});
