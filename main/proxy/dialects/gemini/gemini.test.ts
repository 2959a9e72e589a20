import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Answer, BlobHash } from "../../../../engine/conversation/index.ts";
import { readSse } from "../../streams/sse.ts";
import { functionAnswerArbitrary } from "../answer-arbitrary.test-data.ts";
import type { AnswerContext, MediaStore } from "../dialect.ts";
import { readWhole } from "../request-body.ts";
import { geminiDialect } from "./index.ts";

const media: MediaStore = { put: (bytes) => `h${bytes.length}` as BlobHash, get: () => null };
const reply = { model: "m", stream: true, includeUsage: true, encryptedReasoning: false, parallelToolCalls: true };
const context: AnswerContext = { callId: "r1-0-3", createdAt: 1_700_000_000, reply };
const path = "/r/a/v1beta/models/gem%2F1:streamGenerateContent?alt=sse";
const decode = (body: string, at = path) => geminiDialect.decode(readWhole(Buffer.from(body), "contents"), media, at);
const text = (value: string) => ({ type: "text" as const, text: value });

describe("a request", () => {
  test("as Gemini CLI sends it: model and stream in the path, calls and their answers with and without ids", () => {
    const decoded =
      decode(`{"systemInstruction":{"role":"user","parts":[{"text":"S"}]},"generationConfig":{"temperature":1,"topP":0.95,"topK":64,"maxOutputTokens":9,"thinkingConfig":{"includeThoughts":true}},
      "tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object","z":1.0}},{"name":"g","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}}]},{"googleSearch":{}}],
      "toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}},
      "contents":[{"role":"user","parts":[{"text":"T"},{"inlineData":{"mimeType":"image/png","data":"AAEC"}}]},
       {"role":"model","parts":[{"text":"hm","thought":true},{"text":"A"},{"functionCall":{"id":"1","name":"f","args":{"n":1.0}},"thoughtSignature":"foreign"},{"functionCall":{"name":"g","args":{}}}]},
       {"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"output":"out"}}},{"functionResponse":{"name":"g","response":{"output":"x","exitCode":1.0}}}]}]}`);
    expect(decoded).toMatchObject({ ok: true, reply: { model: "gem/1", stream: true } });
    if (!decoded.ok) return;
    const { conversation } = decoded;
    expect(conversation.tools).toEqual([
      { kind: "function", name: "f", description: "d", parameters: '{"type":"object","z":1.0}' },
      { kind: "function", name: "g", parameters: '{"type":"object","properties":{"a":{"type":"string"}}}' },
      { kind: "other", raw: '{"googleSearch":{}}' },
    ]);
    expect(conversation.toolChoice).toEqual({ name: "f" });
    expect(conversation.sampling).toEqual({ temperature: 1, topP: 0.95, topK: 64, maxTokens: 9 });
    expect(conversation.messages).toEqual([
      { role: "system", content: [text("S")] },
      { role: "user", content: [text("T"), { type: "image", source: { kind: "blob", hash: "h3" }, mediaType: "image/png" }] },
      {
        role: "assistant",
        content: [text("A")],
        reasoning: "hm",
        toolCalls: [
          { id: "1", kind: "function", name: "f", arguments: '{"n":1.0}' },
          { id: "call_1_3", kind: "function", name: "g", arguments: "{}" },
        ],
      },
      { role: "tool", toolCallId: "1", name: "f", content: [text("out")] },
      { role: "tool", toolCallId: "call_1_3", name: "g", content: [text('{"output":"x","exitCode":1.0}')] },
    ]);
  });

  test("a stream that is not asked for as events is answered as a list of one", () => {
    const decoded = decode('{"contents":[{"parts":[{"text":"x"}]}]}', "/r/a/v1beta/models/m:streamGenerateContent");
    expect(decoded).toMatchObject({ ok: true, reply: { stream: false, asList: true } });
    const answer = {
      message: { role: "assistant", content: [text("y")], toolCalls: [] },
      finishReason: "stop",
      usage: { promptTokens: 1, completionTokens: 1 },
    };
    const body = geminiDialect.answerBody({ ...(answer as unknown as Answer) }, { ...context, reply: { ...reply, asList: true } });
    expect(JSON.parse(body)).toHaveLength(1);
    expect(geminiDialect.readAnswer(body, false)).toMatchObject(answer);
  });

  test.each([
    ['{"contents":5}', "contents"],
    ['{"contents":[]}', "at least one message"],
    ['{"contents":[{"parts":[{"text":5}]}]}', "text"],
  ])("that is none gets a sentence: %s", (body, phrase) => {
    expect(decode(body)).toMatchObject({ ok: false, fault: { status: 400, message: expect.stringContaining(phrase) } });
  });
});

describe("an answer", () => {
  test("reads back the same from body and stream; what ends it comes last", () => {
    fc.assert(
      fc.property(functionAnswerArbitrary, (answer) => {
        const { message, usage } = answer;
        // This dialect has one word for both, and says the rest by the calls.
        const finishReason = answer.finishReason === "stop" && message.toolCalls.length > 0 ? "tool-calls" : answer.finishReason;
        const stream = geminiDialect.answerStream(answer, context);
        const chunks = readSse(stream).map((event) => JSON.parse(event.data));
        expect(chunks.map((chunk) => chunk.candidates[0].finishReason !== undefined)).toEqual(
          chunks.map((_chunk, index) => index === chunks.length - 1),
        );
        expect(geminiDialect.readAnswer(stream, true)).toEqual({ message, finishReason, usage });
        expect(geminiDialect.readAnswer(geminiDialect.answerBody(answer, context), false)).toEqual({ message, finishReason, usage });
      }),
    );
  });

  test("reasoning before a call comes back by its signature", () => {
    const answer: Answer = {
      message: { role: "assistant", content: [], reasoning: "why", toolCalls: [{ id: "1", kind: "function", name: "f", arguments: '{"a":1.0}' }] },
      finishReason: "tool-calls",
      usage: { promptTokens: 1, completionTokens: 1 },
      unparsedToolCall: false,
      policyVersion: "v",
    };
    const parts = JSON.parse(geminiDialect.answerBody(answer, context)).candidates[0].content.parts.filter(
      (part: { thought?: boolean }) => !part.thought,
    );
    const returned = decode(JSON.stringify({ contents: [{ parts: [{ text: "x" }] }, { role: "model", parts }] }));
    expect(returned.ok && returned.conversation.messages.at(-1)).toMatchObject({ reasoning: "why", toolCalls: [{ id: "1", name: "f" }] });
  });

  test("errors have this dialect's words", () => {
    expect(JSON.parse(geminiDialect.errorBody({ status: 429, code: "x", type: "x", message: "slow" }))).toEqual({
      error: { code: 429, message: "slow", status: "RESOURCE_EXHAUSTED" },
    });
  });
});
