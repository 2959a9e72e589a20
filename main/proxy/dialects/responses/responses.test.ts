import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Answer, BlobHash } from "../../../../engine/conversation/index.ts";
import { readSse } from "../../streams/sse.ts";
import { answerArbitrary } from "../answer-arbitrary.test-data.ts";
import type { AnswerContext, MediaStore } from "../dialect.ts";
import { readWhole } from "../request-body.ts";
import { responsesDialect } from "./index.ts";
import { checkResponsesStream, type ResponsesEvent } from "./stream-grammar.ts";

const media: MediaStore = { put: (bytes) => `h${bytes.length}` as BlobHash, get: () => null };
const context: AnswerContext = {
  callId: "r1-0-3",
  createdAt: 1_700_000_000,
  reply: { model: "m", stream: true, includeUsage: true, encryptedReasoning: true, parallelToolCalls: true },
};
const decode = (text: string) => responsesDialect.decode(readWhole(Buffer.from(text), "input"), media, "");

describe("a request", () => {
  test("is read whole: one assistant turn from its items, namespaces, unknown items and tools kept as written", () => {
    const decoded =
      decode(`{"model":"S","stream":true,"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":7,"tool_choice":"auto","parallel_tool_calls":true,
      "instructions":"I","client_metadata":{"b":1.0},
      "tools":[{"type":"function","name":"exec_command","strict":false,"parameters":{"z":1.0,"1":2}},{"type":"namespace","name":"multi_agent_v1","description":"N","tools":[{"type":"function","name":"spawn_agent","parameters":{}}]},{"type":"custom","name":"patch","format":{"x":1.0}}],
      "input":[{"type":"message","id":"x","role":"developer","content":[{"type":"input_text","text":"D"}]},{"role":"user","content":"U"},
        {"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"think"}],"encrypted_content":"foreign"},
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":"T","annotations":[]}]},
        {"type":"function_call","id":"f","call_id":"c1","namespace":"multi_agent_v1","name":"spawn_agent","arguments":"{ }"},
        {"type":"custom_tool_call","call_id":"c2","name":"patch","input":"raw"},
        {"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"out"},{"type":"input_image","image_url":"data:image/png;base64,AAEC"}]},
        {"type":"custom_tool_call_output","call_id":"c2","output":"ok"},
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":"first"}]},{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}]},
        {"type":"additional_tools","role":"developer","tools":[1.0]}]}`);
    expect(decoded).toMatchObject({ ok: true, reply: { encryptedReasoning: true } });
    if (!decoded.ok) return;
    expect(decoded.conversation.extra).toBe('{"store":false,"client_metadata":{"b":1.0}}');
    expect(decoded.conversation.tools).toEqual([
      { kind: "function", name: "exec_command", parameters: '{"z":1.0,"1":2}', strict: false },
      { kind: "function", name: "spawn_agent", namespace: "multi_agent_v1", namespaceDescription: "N", parameters: "{}" },
      { kind: "other", raw: '{"type":"custom","name":"patch","format":{"x":1.0}}' },
    ]);
    expect(decoded.conversation.messages).toEqual([
      { role: "system", content: [{ type: "text", text: "I" }] },
      { role: "developer", content: [{ type: "text", text: "D" }] },
      { role: "user", content: [{ type: "text", text: "U" }] },
      {
        role: "assistant",
        reasoning: "think",
        content: [{ type: "text", text: "T" }],
        toolCalls: [
          { id: "c1", kind: "function", namespace: "multi_agent_v1", name: "spawn_agent", arguments: "{ }" },
          { id: "c2", kind: "custom", name: "patch", arguments: "raw" },
        ],
      },
      {
        role: "tool",
        toolCallId: "c1",
        content: [
          { type: "text", text: "out" },
          { type: "image", source: { kind: "blob", hash: "h3" }, mediaType: "image/png" },
        ],
      },
      { role: "tool", toolCallId: "c2", content: [{ type: "text", text: "ok" }] },
      { role: "assistant", content: [{ type: "text", text: "first" }], toolCalls: [] },
      { role: "assistant", content: [], reasoning: "s", toolCalls: [] },
      { role: "other", raw: '{"type":"additional_tools","role":"developer","tools":[1.0]}' },
    ]);
  });

  test.each([
    ['{"input":5}', "input"],
    ['{"input":[]}', "at least one message"],
    ['{"input":"x","previous_response_id":"r"}', "whole history"],
  ])("that is none gets a sentence: %s", (text, phrase) => {
    expect(decode(text)).toMatchObject({ ok: false, fault: { status: 400, message: expect.stringContaining(phrase) } });
  });
});

describe("an answer", () => {
  test("passes the grammar, reads back the same, and comes back whole in the next request", () => {
    fc.assert(
      fc.property(answerArbitrary, (answer: Answer) => {
        const stream = responsesDialect.answerStream(answer, context);
        const events = readSse(stream).map((event) => JSON.parse(event.data) as ResponsesEvent);
        expect(() => checkResponsesStream(events)).not.toThrow();
        const { message, finishReason, usage } = answer;
        expect(responsesDialect.readAnswer(stream, true)).toEqual({ message, finishReason, usage });
        expect(responsesDialect.readAnswer(responsesDialect.answerBody(answer, context), false)).toEqual({ message, finishReason, usage });

        const output = events.at(-1)?.response?.output ?? [];
        const returned = decode(JSON.stringify({ input: [{ role: "user", content: "x" }, ...output.map(emptied)] }));
        const isEmpty = message.content.length === 0 && message.reasoning === undefined && message.toolCalls.length === 0;
        if (returned.ok && !isEmpty) expect(returned.conversation.messages.slice(1)).toEqual([message]);
      }),
    );
  });

  test("an error in an open stream is one failed response", () => {
    const text = responsesDialect.errorStream({ status: 502, code: "server_error", type: "server_error", message: "gone" }, context);
    expect(readSse(text).map((event) => event.event)).toEqual(["response.created", "response.failed"]);
  });

  test("the grammar refuses what clients trip over", () => {
    const answer = fc.sample(answerArbitrary, { seed: 7, numRuns: 50 }).find((each) => each.message.toolCalls.length > 1);
    if (answer === undefined) throw new Error("no sample with two tool calls");
    const events = readSse(responsesDialect.answerStream(answer, context)).map((event) => JSON.parse(event.data) as ResponsesEvent);
    const numbered = (list: readonly ResponsesEvent[]) => list.map((event, index) => ({ ...event, sequence_number: index }));
    for (let missing = 0; missing < events.length; missing += 1) {
      const without = numbered(events.filter((_, index) => index !== missing));
      if (events[missing]?.type === "response.in_progress") expect(() => checkResponsesStream(without)).not.toThrow();
      else expect(() => checkResponsesStream(without), events[missing]?.type).toThrow("responses stream");
    }
    expect(() => checkResponsesStream(numbered([...events, ...events]))).toThrow();
  });
});

/** As some clients do: everything of a reasoning item but what was sealed is emptied. */
function emptied(item: unknown): unknown {
  return typeof item === "object" && item !== null && "encrypted_content" in item ? { ...item, content: [], summary: [] } : item;
}
