import fc from "fast-check";
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

test("messages that are the same objects are grouped as equal ones are", () => {
  const turn = fc.record({
    from: fc.nat({ max: 30 }),
    keep: fc.nat({ max: 4 }),
    add: fc.array(fc.constantFrom("a", "b"), { maxLength: 2 }),
    own: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 30 }), (script) => {
      const [same, fresh] = [createSessionGrouping<number>(), createSessionGrouping<number>()];
      const histories: (readonly Message[])[] = [[says("system", "S")]];
      const pool = new Map(
        ["a", "b"].flatMap(
          (text) =>
            [
              [`${text}?`, says("user", text)],
              [`${text}!`, answers(text)],
            ] as const,
        ),
      );
      script.forEach(({ from, keep, add, own }, number) => {
        const earlier = histories[from % histories.length] ?? [];
        // A message may stand in several histories, and in several places of one.
        const added = add.flatMap((text) => [own ? answers(text) : pool.get(`${text}!`), own ? says("user", text) : pool.get(`${text}?`)]);
        const messages = [...earlier.slice(0, Math.max(1, earlier.length - keep)), ...added.filter((message) => message !== undefined)];
        histories.push(messages);
        const asked = request(messages);
        const copied = { ...asked, messages: messages.map((message) => ({ ...message })) };
        const found = same.find(asked);
        expect(found).toBe(fresh.find(copied));
        same.keep(asked, found ?? number);
        fresh.keep(copied, found ?? number);
      });
    }),
  );
});
