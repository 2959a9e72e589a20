import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Answer, BlobHash } from "../../../../engine/conversation/index.ts";
import { canonicalJson } from "../../../../engine/json/index.ts";
import { readSse } from "../../streams/sse.ts";
import { functionAnswerArbitrary } from "../answer-arbitrary.test-data.ts";
import type { AnswerContext, MediaStore } from "../dialect.ts";
import { readWhole } from "../request-body.ts";
import { messagesDialect } from "./index.ts";
import { checkMessagesStream, type MessagesEvent } from "./stream-grammar.ts";

const media: MediaStore = { put: (bytes) => `h${bytes.length}` as BlobHash, get: () => null };
const context: AnswerContext = {
  callId: "r1-0-3",
  createdAt: 1_700_000_000,
  reply: { model: "m", stream: true, includeUsage: true, encryptedReasoning: false, parallelToolCalls: true },
};
const decode = (text: string) => messagesDialect.decode(readWhole(Buffer.from(text), "messages"), media, "/r/a/v1/messages");
const text = (value: string) => ({ type: "text" as const, text: value });

describe("a request", () => {
  test("as Claude Code sends it: system blocks, cache markers, system messages inside, several tool answers in one message", () => {
    const decoded =
      decode(`{"model":"S","max_tokens":32000,"stream":true,"metadata":{"user_id":"J"},"thinking":{"type":"adaptive"},"context_management":{"edits":[{"type":"x","keep":1.0}]},
      "system":[{"type":"text","text":"BILLING"},{"type":"text","text":"S1","cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"any","disable_parallel_tool_use":true},"stop_sequences":["END"],"temperature":1,"top_k":5,
      "tools":[{"name":"Bash","description":"D","input_schema":{"type":"object","z":1.0},"cache_control":{"type":"ephemeral"}},{"name":"Later","defer_loading":true},{"type":"computer_20250124","name":"computer","display_width_px":1024}],
      "messages":[{"role":"user","content":[{"type":"text","text":"REMINDER"},{"type":"text","text":"TASK","cache_control":{"type":"ephemeral"}}]},{"role":"system","content":"MORE"},
       {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"foreign"},{"type":"text","text":"T"},{"type":"tool_use","id":"a","name":"Bash","input":{"n":1.0,"10":2}},{"type":"tool_use","id":"b","name":"Bash","input":{}}]},
       {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"out","is_error":true},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"seen"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAEC"}}]},{"type":"text","text":"go on"}]},
       {"role":"assistant","content":"plain"},{"role":"user","content":"last"}]}`);
    expect(decoded).toMatchObject({ ok: true, reply: { model: "S", stream: true, parallelToolCalls: false } });
    if (!decoded.ok) return;
    const { conversation } = decoded;
    expect(conversation.tools).toEqual([
      { kind: "function", name: "Bash", description: "D", parameters: '{"type":"object","z":1.0}' },
      { kind: "function", name: "Later", extra: '{"defer_loading":true}' },
      { kind: "other", raw: '{"type":"computer_20250124","name":"computer","display_width_px":1024}' },
    ]);
    expect(conversation.toolChoice).toBe("required");
    expect(conversation.sampling).toEqual({ temperature: 1, topK: 5, maxTokens: 32000, stop: ["END"] });
    expect(conversation.extra).toBe(
      '{"metadata":{"user_id":"J"},"thinking":{"type":"adaptive"},"context_management":{"edits":[{"type":"x","keep":1.0}]}}',
    );
    expect(conversation.messages).toEqual([
      { role: "system", content: [text("BILLING"), text("S1")] },
      { role: "user", content: [text("REMINDER"), text("TASK")] },
      { role: "system", content: [text("MORE")] },
      {
        role: "assistant",
        content: [text("T")],
        reasoning: "hm",
        toolCalls: [
          { id: "a", kind: "function", name: "Bash", arguments: '{"n":1.0,"10":2}' },
          { id: "b", kind: "function", name: "Bash", arguments: "{}" },
        ],
      },
      { role: "tool", toolCallId: "a", content: [text("out")], extra: '{"is_error":true}' },
      { role: "tool", toolCallId: "b", content: [text("seen"), { type: "image", source: { kind: "blob", hash: "h3" }, mediaType: "image/png" }] },
      { role: "user", content: [text("go on")] },
      { role: "assistant", content: [text("plain")], toolCalls: [] },
      { role: "user", content: [text("last")] },
    ]);
    expect(decoded.marks.map(({ items, messages }) => [items, messages.length])).toEqual([
      [6, 8],
      [5, 7],
    ]);
  });

  test("with and without cache markers says the same, as text or as one block", () => {
    const marked = decode('{"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]}');
    const plain = decode('{"messages":[{"role":"user","content":"x"}]}');
    expect(marked.ok && marked.conversation.messages).toEqual(plain.ok && plain.conversation.messages);
  });

  test.each([
    ['{"messages":5}', "messages"],
    ['{"messages":[]}', "at least one message"],
    ['{"messages":[{"role":"user"}]}', "content"],
    ['{"messages":[{"role":"user","content":"x"}],"max_tokens":0}', "max_tokens"],
  ])("that is none gets a sentence: %s", (body, phrase) => {
    expect(decode(body)).toMatchObject({ ok: false, fault: { status: 400, message: expect.stringContaining(phrase) } });
  });
});

describe("an answer", () => {
  test("passes the grammar, reads back the same, and comes back whole in the next request", () => {
    fc.assert(
      fc.property(functionAnswerArbitrary, (answer) => {
        const stream = messagesDialect.answerStream(answer, context);
        const events = readSse(stream).map((event) => JSON.parse(event.data) as MessagesEvent);
        expect(() => checkMessagesStream(events)).not.toThrow();
        const { message, finishReason, usage } = answer;
        const body = messagesDialect.answerBody(answer, context);
        expect(messagesDialect.readAnswer(stream, true)).toEqual({ message, finishReason, usage });
        expect(messagesDialect.readAnswer(body, false)).toEqual({ message, finishReason, usage });

        const returned = decode(
          `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":${JSON.stringify(JSON.parse(body).content)}}]}`,
        );
        if (!returned.ok) throw new Error(returned.fault.message);
        const expected = {
          ...message,
          toolCalls: message.toolCalls.map((call) => ({ ...call, arguments: canonicalJson(reordered(call.arguments)) })),
        };
        expect(returned.conversation.messages.at(-1)).toEqual(expected);
      }),
    );
  });

  test("counts tokens from a cache apart, and adds them again", () => {
    const answer: Answer = {
      message: { role: "assistant", content: [text("x")], toolCalls: [] },
      finishReason: "stop",
      usage: { promptTokens: 100, completionTokens: 5, cachedTokens: 60 },
      unparsedToolCall: false,
      policyVersion: "v",
    };
    const body = messagesDialect.answerBody(answer, context);
    expect(JSON.parse(body).usage).toMatchObject({ input_tokens: 40, cache_read_input_tokens: 60 });
    expect(messagesDialect.readAnswer(body, false)?.usage).toEqual(answer.usage);
  });

  test("a hidden reasoning comes back by its signature", () => {
    const body = JSON.parse(
      messagesDialect.answerBody(
        {
          message: { role: "assistant", content: [], reasoning: "secret", toolCalls: [] },
          finishReason: "stop",
          usage: { promptTokens: 1, completionTokens: 1 },
          unparsedToolCall: false,
          policyVersion: "v",
        },
        context,
      ),
    );
    const hidden = { ...body.content[0], thinking: "" };
    const returned = decode(
      JSON.stringify({
        messages: [
          { role: "user", content: "x" },
          { role: "assistant", content: [hidden] },
        ],
      }),
    );
    expect(returned.ok && returned.conversation.messages.at(-1)).toMatchObject({ reasoning: "secret" });
  });

  test("errors have this dialect's words, and say an overlong prompt as clients look for it", () => {
    const fault = { status: 400, code: "context_length_exceeded", type: "invalid_request_error", message: "9 > 8." };
    expect(JSON.parse(messagesDialect.errorBody(fault))).toEqual({
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 9 > 8." },
    });
    const [event] = readSse(messagesDialect.errorStream({ ...fault, status: 502, code: "server_error" }, context));
    expect(event?.event).toBe("error");
    expect(JSON.parse(event?.data ?? "")).toMatchObject({ error: { type: "api_error" } });
  });
});

/** JavaScript writes number-like keys first; what a client parsed and wrote again is in that order. */
function reordered(json: string): string {
  return JSON.stringify(JSON.parse(json));
}
