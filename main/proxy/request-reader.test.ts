import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BlobHash } from "../../engine/conversation/index.ts";
import type { Arrival } from "./call-entry.ts";
import { chatDialect } from "./dialects/chat/index.ts";
import type { Dialect, MediaStore } from "./dialects/dialect.ts";
import { textOf } from "./dialects/json-bytes.ts";
import { responsesDialect } from "./dialects/responses/index.ts";
import { createRequestReader, type RequestReader } from "./request-reader.ts";

const media: MediaStore = { put: (bytes) => `h${bytes.length}` as BlobHash, get: () => null };
const arrive = (reader: RequestReader, dialect: Dialect, body: unknown, indent?: number): Arrival =>
  reader.read({
    method: "POST",
    path: "/",
    headers: {},
    startedAt: 0,
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body, null, indent)),
    dialect,
    unknownPath: false,
    fault: null,
  });
const newReader = (volatile: readonly string[] = []) => createRequestReader(volatile, media);
/** All that comes of a request, in a form that can be compared. */
const seen = ({ body: _, asWritten, ...arrival }: Arrival) => ({
  ...arrival,
  asWritten: asWritten && [...asWritten].map(([name, bytes]) => [name, textOf(bytes)]),
});

const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAEC" } };
const chatItem = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "system", "developer", "odd"), content: fc.constantFrom("a", "é😀", "half \ud83d", '\\ud83d "q"', "") }),
  fc.constant({ role: "user", content: [{ type: "text", text: "t" }, image] }),
  fc.constant({ role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{ }" } }] }),
  fc.constant({ role: "tool", tool_call_id: "c", content: "out" }),
);
const responsesItem = fc.oneof(
  fc.record({
    type: fc.constant("message"),
    role: fc.constantFrom("user", "developer", "assistant"),
    content: fc.constantFrom("a", [{ type: "input_text", text: "b" }]),
  }),
  fc.constant({ type: "reasoning", summary: [{ type: "summary_text", text: "s" }] }),
  fc.constant({ type: "function_call", call_id: "c", name: "f", arguments: "{}" }),
  fc.constant({ type: "function_call_output", call_id: "c", output: "out" }),
  fc.constant({ type: "odd", x: 1 }),
);

describe("a session's requests, one after the other, are read as each would be alone", () => {
  test.each<[string, Dialect, fc.Arbitrary<object>, (list: readonly object[], more: object) => object]>([
    ["chat", chatDialect, chatItem, (messages, more) => ({ model: "m", tools, messages, ...more })],
    ["responses", responsesDialect, responsesItem, (input, more) => ({ model: "m", instructions: "I", input, tools: [], ...more })],
  ])("%s", (_name, dialect, item, bodyOf) => {
    const step = fc.record({
      keep: fc.nat(4),
      add: fc.array(item, { maxLength: 3 }),
      more: fc.constantFrom({}, { stream: true }, { temperature: 0.5 }, { metadata: { b: 1, a: [1.5] } }),
      indent: fc.constantFrom(undefined, undefined, 1),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 7 }), (steps) => {
        const reader = newReader();
        let list: object[] = [];
        for (const { keep, add, more, indent } of steps) {
          list = [...list.slice(0, Math.max(0, list.length - (keep === 4 ? 2 : keep === 3 ? 1 : 0))), ...add];
          const body = bodyOf(list, more);
          expect(seen(arrive(reader, dialect, body, indent))).toEqual(seen(arrive(newReader(), dialect, body, indent)));
        }
      }),
      { numRuns: 200 },
    );
  });
});

test("whatever bytes come, the answer is the same as for a fresh reader, and nothing is thrown", () => {
  const base = Buffer.from(
    JSON.stringify({
      model: "m",
      tools,
      messages: [
        { role: "user", content: 'é "x" \\' },
        { role: "user", content: "b" },
        { role: "tool", tool_call_id: "c", content: "" },
      ],
      n: 1,
    }),
  );
  const change = fc.record({
    at: fc.nat(base.length - 1),
    to: fc.nat(255),
    cut: fc.option(fc.nat(base.length)),
    insert: fc.constantFrom("", ",", "]", '"', "{", "[1,2]"),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), (changes) => {
      const reader = newReader();
      const read = (one: RequestReader, body: Buffer) =>
        seen(one.read({ method: "POST", path: "/", headers: {}, startedAt: 0, body, dialect: chatDialect, unknownPath: false, fault: null }));
      read(reader, base);
      for (const { at, to, cut, insert } of changes) {
        const changed = Buffer.concat([base.subarray(0, at), insert === "" ? Buffer.of(to) : Buffer.from(insert), base.subarray(at + 1)]);
        const body = cut === null ? changed : changed.subarray(0, cut);
        expect(read(reader, body)).toEqual(read(newReader(), body));
      }
    }),
    { numRuns: 1500 },
  );
});

describe("keys", () => {
  const key = (body: unknown, volatile: readonly string[] = [], indent?: number) => arrive(newReader(volatile), chatDialect, body, indent).requestKey;
  const messages = [{ role: "user", content: "x" }];

  test("are equal whatever the order of keys, the spelling, and how it is to be streamed", () => {
    const body = { model: "m", messages, stream: true, stream_options: { include_usage: true }, tools };
    expect(key({ tools, stream: false, messages, model: "m" }, [], 2)).toBe(key(body));
    expect(key({ ...body, messages: [{ content: [{ text: "x", type: "text", cache_control: { type: "ephemeral" } }], role: "user" }] })).toBe(
      key({ ...body, messages: [{ role: "user", content: [{ type: "text", text: "x" }] }] }),
    );
    expect(key({ ...body, tools: [] })).not.toBe(key(body));
    expect(key({ ...body, messages: [...messages, ...messages] })).not.toBe(key(body));
    expect(key({ model: "m", messages: [{ role: "user", content: "x", stream: 1 }] })).not.toBe(key({ model: "m", messages }));
  });

  test("leave out what the harness's manifest calls volatile", () => {
    const body = (id: string, at: number) => ({ model: "m", client: { id, at }, messages: [{ role: "user", content: "x", id }] });
    const volatile = ["client.*", "messages.*.id"];
    expect(key(body("a", 1), volatile)).toBe(key(body("b", 2), volatile));
    expect(key(body("a", 1), ["client.id"])).not.toBe(key(body("b", 2), ["client.id"]));
  });
});

test.each([
  ['{"messages":', "no JSON object"],
  ["[]", "no JSON object: it is no object"],
  [`{"messages":[{"role":"user","content":"x"}],"a":${"[".repeat(3000)}${"]".repeat(3000)}}`, "nested deeper"],
])("what can't be read is refused with a sentence", (body, phrase) => {
  expect(arrive(newReader(), chatDialect, body)).toMatchObject({
    conversation: null,
    refusal: { status: 400, message: expect.stringContaining(phrase) },
  });
});
