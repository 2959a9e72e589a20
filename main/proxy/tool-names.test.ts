import { expect, test } from "vitest";
import type { Conversation, ToolCall, ToolDefinition } from "../../engine/conversation/index.ts";
import { nameAsHarness, showPlainTools } from "./tool-names.ts";

const tools: readonly ToolDefinition[] = [
  { kind: "function", name: "wait" },
  { kind: "function", name: "wait", namespace: "agents", namespaceDescription: "d" },
  { kind: "function", name: "spawn", namespace: "agents", namespaceDescription: "d" },
  { kind: "function", name: "close", namespace: "agents" },
  { kind: "function", name: "close", namespace: "windows" },
  { kind: "other", raw: "{}" },
];
const call = (name: string): ToolCall => ({ id: "i", kind: "function", name, arguments: "{}" });
const named = (name: string): string => {
  const [only] = nameAsHarness({ role: "assistant", content: [], toolCalls: [call(name)] }, tools).toolCalls;
  return `${only?.namespace ?? ""}.${only?.name}`;
};

test("a namespaced tool is shown with its namespace, and called back by that or by a bare name that is its own", () => {
  const conversation: Conversation = {
    model: "m",
    messages: [{ role: "assistant", content: [], toolCalls: [{ ...call("spawn"), namespace: "agents" }] }],
    tools,
    sampling: {},
    stream: false,
    extra: "{}",
  };
  const plain = showPlainTools(conversation);
  expect(plain.tools.map((tool) => (tool.kind === "function" ? tool.name : "other"))).toEqual([
    "wait",
    "agents__wait",
    "agents__spawn",
    "agents__close",
    "windows__close",
    "other",
  ]);
  expect(plain.messages).toMatchObject([{ toolCalls: [{ name: "agents__spawn" }] }]);
  expect(named("agents__wait")).toBe("agents.wait");
  expect(named("spawn")).toBe("agents.spawn");
  expect(named("wait"), "a plain tool of that name goes first").toBe(".wait");
  expect(named("close"), "two could be meant: it stays").toBe(".close");
  expect(named("nobody")).toBe(".nobody");
});

test("a conversation without namespaces is the same object", () => {
  const conversation: Conversation = { model: "m", messages: [], tools: [{ kind: "function", name: "f" }], sampling: {}, stream: false, extra: "{}" };
  expect(showPlainTools(conversation)).toBe(conversation);
});
