import { describe, expect, test } from "vitest";
import type { Conversation, Message } from "../../../engine/conversation/index.ts";
import { chatDialect } from "../dialects/chat/index.ts";
import type { MediaStore } from "../dialects/dialect.ts";
import { readWhole } from "../dialects/request-body.ts";
import { type ChatRequestOptions, chatRequestMembers, jsonObject } from "./chat-request.ts";

const media: MediaStore = {
  put: () => {
    throw new Error("not needed");
  },
  get: () => Buffer.from([0, 1, 2]),
};
const rules = { developer: "system", mergeSystem: true, mergeUser: false } as const;
const said = (role: "system" | "developer" | "user", text: string): Message => ({ role, content: [{ type: "text", text }] });
const conversation = (messages: readonly Message[], over: Partial<Conversation> = {}): Conversation => ({
  model: "m",
  messages,
  tools: [],
  sampling: {},
  stream: false,
  extra: "{}",
  ...over,
});
function sent(asked: Conversation, over: Partial<ChatRequestOptions> = {}) {
  const encoded = chatRequestMembers(asked, { media, rules, sameDialect: false, ...over });
  if (!encoded.ok) throw new Error(encoded.message);
  const text = Buffer.from(jsonObject(encoded.members)).toString();
  return { ...encoded, text, body: JSON.parse(text) as Record<string, unknown> };
}

describe("what the target can't carry is moved or refused, never dropped", () => {
  test("an image in a tool's answer follows in a user message, after all answers of the turn", () => {
    const image = { type: "image", source: { kind: "blob", hash: "h" as never }, mediaType: "image/png" } as const;
    const messages: Message[] = [
      { role: "tool", toolCallId: "a", content: [{ type: "text", text: "see" }, image] },
      { role: "tool", toolCallId: "b", content: [{ type: "text", text: "b" }] },
      said("user", "next"),
    ];
    expect(sent(conversation(messages)).body.messages).toEqual([
      { role: "tool", tool_call_id: "a", content: "see" },
      { role: "tool", tool_call_id: "b", content: "b" },
      {
        role: "user",
        content: [
          { type: "text", text: "Part of the tool's answer:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAEC" } },
        ],
      },
      { role: "user", content: "next" },
    ]);
  });

  test("an item of another dialect is refused with a sentence; a tool of another kind is left out and noted", () => {
    const raw = '{"type":"computer_call"}';
    expect(chatRequestMembers(conversation([{ role: "other", raw }]), { media, rules, sameDialect: false })).toMatchObject({
      ok: false,
      message: expect.stringContaining("computer_call"),
    });
    const tools = [{ kind: "other", raw: '{"type":"web_search"}' }] as const;
    const left = sent(conversation([said("user", "x")], { tools }));
    expect(left.notes[0]).toContain("web_search");
    expect(left.body.tools).toBeUndefined();
    expect(sent(conversation([{ role: "other", raw: '{"role":"x"}' }], { tools }), { sameDialect: true }).body).toMatchObject({
      messages: [{ role: "x" }],
      tools: [{ type: "web_search" }],
    });
  });
});

test("roles and runs are fitted by the declared rules", () => {
  const messages = [said("system", "a"), said("developer", "b"), said("user", "c"), said("user", "d"), said("developer", "e")];
  expect(sent(conversation(messages)).body.messages).toEqual([
    { role: "system", content: "a\n\nb" },
    { role: "user", content: "c" },
    { role: "user", content: "d" },
    { role: "system", content: "e" },
  ]);
  const joined = { developer: "user", mergeSystem: false, mergeUser: true } as const;
  expect(sent(conversation(messages), { rules: joined }).body.messages).toEqual([
    { role: "system", content: "a" },
    { role: "user", content: "b\n\nc\n\nd\n\ne" },
  ]);
});

test("schemas, numbers and unknown fields go as they were spelled", () => {
  const tools = [{ kind: "function", name: "f", parameters: '{"2":1.0,"1":1e2}', strict: true }] as const;
  const { text } = sent(
    conversation([said("user", "x")], { tools, extra: '{"metadata":{"b":1.0}}', sampling: { temperature: 0, stop: ["y"], maxTokens: 5 } }),
    { sameDialect: true },
  );
  expect(text).toContain('"parameters":{"2":1.0,"1":1e2}');
  expect(text).toContain('"metadata":{"b":1.0}');
  expect(text).toContain('"temperature":0,"max_tokens":5,"stop":["y"]');
});

describe("a request of the same dialect goes as it was written", () => {
  const read = (text: string) => {
    const body = readWhole(Buffer.from(text), "messages");
    const decoded = chatDialect.decode(body, media, "");
    if (!decoded.ok) throw new Error(decoded.fault.message);
    return sent(decoded.conversation, { sameDialect: true, asWritten: body.raw });
  };

  test("but for what is the caller's to say", () => {
    const plain = read('{"model":"m","stream":true,"max_tokens":7,"n":1,"top_p":0.90,"messages":[ {"role":"user","content":"x","z":1.0} ]}');
    expect(plain.asWritten).toBe(true);
    expect(plain.text).toBe('{"top_p":0.90,"messages":[ {"role":"user","content":"x","z":1.0} ],"max_tokens":7}');
  });

  test.each([
    '{"messages":[{"role":"developer","content":"x"}]}',
    '{"messages":[{"role":"system","content":"x"},{"role":"system","content":"y"}]}',
    '{"messages":[{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"http://x/y.png"}}]}]}',
  ])("unless something has to be mended: %s", (text) => {
    expect(read(text).asWritten).toBe(false);
  });
});
