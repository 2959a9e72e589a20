import { expect, test } from "vitest";
import type { Message } from "../../engine/conversation/index.ts";
import { createSessionGrouping, type GroupedRequest } from "./session-grouping.ts";

const says = (role: "system" | "user", text: string): Message => ({ role, content: [{ type: "text", text }] });
const answers = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }], toolCalls: [] });
let count = 0;
const request = (messages: readonly Message[], more: Partial<GroupedRequest> = {}): GroupedRequest => ({
  headers: {},
  bodyNames: [],
  requestKey: `k${count++}`,
  messages,
  ...more,
});

test("a request that goes on from an earlier one is of its session; an equal opening begins another", () => {
  const grouping = createSessionGrouping<string>();
  const opening = [says("system", "S"), says("user", "hello")];
  const first = request(opening);
  expect(grouping.find(first)).toBeNull();
  grouping.keep(first, "one");
  expect(grouping.find(request(opening)), "another conversation").toBeNull();
  expect(grouping.find({ ...request(opening), requestKey: first.requestKey }), "a client's retry").toBe("one");
  const second = request([...opening, answers("hi"), says("user", "more")]);
  expect(grouping.find(second)).toBe("one");
  grouping.keep(second, "one");
  expect(grouping.find(request([...opening, answers("hi"), says("user", "more"), answers("x"), says("user", "y")]))).toBe("one");
  expect(grouping.find(request([says("system", "T"), says("user", "hello"), answers("hi"), says("user", "more")]))).toBeNull();
});

test("the client's name for its session comes first; a subagent is of its parent's", () => {
  const grouping = createSessionGrouping<string>();
  const opening = [says("user", "hello")];
  grouping.keep(request(opening, { headers: { "x-session-id": "a" } }), "one");
  expect(grouping.find(request([says("user", "other")], { headers: { "x-session-id": "a" } }))).toBe("one");
  expect(grouping.find(request(opening, { headers: { "x-session-id": "b", "x-parent-session-id": "a" } }))).toBe("one");
  expect(grouping.find(request(opening, { headers: { "x-session-id": "b" } }))).toBeNull();
  grouping.keep(request(opening, { bodyNames: ["cache-1"] }), "two");
  expect(grouping.find(request([says("user", "z")], { bodyNames: ["cache-1"] }))).toBe("two");
});
