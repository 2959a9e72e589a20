import { describe, expect, test } from "vitest";
import type { Message, ToolCall } from "../../../engine/conversation/index.ts";
import { chatMessages, chatTools } from "./chat-form.ts";

const text = (words: string) => ({ type: "text" as const, text: words });
const call = (change: Partial<ToolCall> = {}): ToolCall => ({ id: "a", name: "bash", kind: "function", arguments: '{"command":"ls"}', ...change });
const asking = (toolCalls: readonly ToolCall[]): Message => ({ role: "assistant", content: [], toolCalls });

describe("chatMessages", () => {
  test("joins texts, keeps reasoning, and speaks of developers as of the system", () => {
    const messages: readonly Message[] = [
      { role: "developer", content: [text("Be brief."), text(" Be kind.")] },
      { role: "assistant", content: [text("Yes.")], reasoning: "Why not.", toolCalls: [] },
    ];
    expect(chatMessages(messages)).toEqual([
      { role: "system", content: "Be brief. Be kind." },
      { role: "assistant", content: "Yes.", reasoning_content: "Why not." },
    ]);
  });

  test("arguments are objects; what is none stands under input", () => {
    const calls = [
      call(),
      call({ id: "b", kind: "custom", arguments: "*** patch" }),
      call({ id: "c", arguments: "[1]" }),
      call({ id: "d", arguments: '{"a":' }),
    ];
    const [message] = chatMessages([asking(calls)]) ?? [];
    expect(message?.tool_calls?.map((made) => made.function.arguments)).toEqual([
      { command: "ls" },
      { input: "*** patch" },
      { input: "[1]" },
      { input: '{"a":' },
    ]);
  });

  test("a result whose call is gone keeps its words and loses its id", () => {
    const result: Message = { role: "tool", toolCallId: "a", content: [text("x")] };
    expect(chatMessages([asking([call()]), result])?.[1]).toEqual({ role: "tool", content: "x", tool_call_id: "a" });
    expect(chatMessages([result])).toEqual([{ role: "tool", content: "x" }]);
  });

  test("what text cannot carry is not dropped in silence", () => {
    expect(chatMessages([{ role: "user", content: [text("see"), { type: "image", source: { kind: "url", url: "http://x/a.png" } }] }])).toBeNull();
    expect(chatMessages([{ role: "other", raw: "{}" }])).toBeNull();
  });
});

test("tools carry their namespace and their schema; kinds of a dialect's own are left out", () => {
  const tools = chatTools([
    { kind: "function", name: "list", namespace: "store", description: "Lists.", parameters: '{"type":"object","properties":{}}' },
    { kind: "function", name: "wait" },
    { kind: "other", raw: '{"type":"web_search"}' },
  ]);
  expect(tools).toEqual([
    { type: "function", function: { name: "store.list", description: "Lists.", parameters: { type: "object", properties: {} } } },
    { type: "function", function: { name: "wait" } },
  ]);
});
