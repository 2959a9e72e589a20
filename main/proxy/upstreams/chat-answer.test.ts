import { expect, test } from "vitest";
import type { StreamedAnswer } from "../dialects/chat/stream-reader.ts";
import { answerOfServer, parseServerJson, readServerAnswer } from "./chat-answer.ts";
import { readOverflow } from "./server-failure.ts";

const read = (over: Partial<StreamedAnswer>): StreamedAnswer => ({
  text: "",
  reasoning: "",
  toolCalls: [],
  finishReason: "tool-calls",
  usage: { promptTokens: 9, completionTokens: 300 },
  model: null,
  error: undefined,
  ...over,
});
const call = (text: string) => ({ id: "a", kind: "function", name: "f", arguments: text }) as const;

test("the limit wins over a finish reason that says tool calls, and a cut call is not offered as whole", () => {
  const cut = answerOfServer(read({ toolCalls: [call("{}"), call('{"path":"a.md","text":"Chap')] }), 300, "v");
  expect(cut).toMatchObject({ finishReason: "length", unparsedToolCall: true, message: { toolCalls: [{ arguments: "{}" }] } });
  const whole = answerOfServer(read({ toolCalls: [call('{"broken')] }), 301, "v");
  expect(whole).toMatchObject({ finishReason: "tool-calls", unparsedToolCall: false, message: { toolCalls: [{ arguments: '{"broken' }] } });
});

test("numbers that are none are read", () => {
  expect(parseServerJson('{"a":"NaN Infinity \\" -Infinity","b":[-Infinity,NaN,1,Infinity]}')).toEqual({
    a: 'NaN Infinity " -Infinity',
    b: [null, null, 1, null],
  });
  expect(() => parseServerJson("{oops")).toThrow(SyntaxError);
});

test("a stream that ends without a finish reason is cut; an error inside it is told", () => {
  const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
  expect(readServerAnswer(event({ choices: [{ delta: { content: "a" } }] }), "text/event-stream")).toMatchObject({ ok: false });
  expect(readServerAnswer(event({ error: { message: "no" } }), "text/event-stream")).toMatchObject({
    ok: false,
    problem: expect.stringContaining("no"),
  });
  expect(readServerAnswer("<html>", "text/html")).toMatchObject({ ok: false });
  expect(readServerAnswer('{"choices":[]}', "application/json")).toMatchObject({ ok: false, problem: expect.stringContaining("choices") });
});

test.each([
  [
    "This model's maximum context length is 64001 tokens. However, you requested 88235 tokens (24235 in the messages, 64000 in the completion).",
    { window: 64_001, prompt: 24_235 },
  ],
  [
    "'max_tokens' is too large: 64000. This model's maximum context length is 64001 tokens and your request has 24235 input tokens.",
    { window: 64_001, prompt: 24_235 },
  ],
  ["prompt is too long", null],
])("%s", (message, expected) => {
  expect(readOverflow(message)).toEqual(expected);
});
