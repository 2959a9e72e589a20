import { describe, expect, test } from "vitest";
import { type GraphCall, reconstruct } from "./index.ts";
import { graphCall, place, rebuild, type ServedCall } from "./served-calls.test-data.ts";

describe("causes of breaks, by the messages", () => {
  const m = (role: string, key = role) => ({ role, key });
  const first = { messages: [m("system"), m("user")], answer: "answer", tools: "t" };
  const goesOn = [m("system"), m("user"), { role: "assistant", key: "answer" }, m("tool")];
  const second = (further: Partial<GraphCall>): ServedCall => ({
    call: graphCall(1, null, { tools: "t", ...further }),
    prompt: [1, 9, 9],
    sampled: [3],
    logprobs: [],
  });
  const cause = (call: Partial<GraphCall>, firstCall: Partial<GraphCall> = first, later: readonly ServedCall[] = []) =>
    rebuild([{ call: graphCall(0, null, firstCall), prompt: [1], sampled: [2], logprobs: [] }, second(call), ...later]).chains.find((chain) =>
      chain.calls.includes(1),
    )?.breakCause;

  test("recorded by the prompt assembly", () => expect(cause({ recordedBreak: "compaction", messages: goesOn })).toBe("compaction"));
  test("the conversation went on, the template did not", () => expect(cause({ messages: goesOn })).toBe("template"));
  test("other tools", () => expect(cause({ messages: goesOn, tools: "other" })).toBe("tools-changed"));
  test("an answer that was changed", () =>
    expect(cause({ messages: [...goesOn.slice(0, 2), m("assistant", "changed"), m("tool")] })).toBe("edited-turn"));
  test("history dropped", () =>
    expect(
      cause({ messages: [m("system"), m("user"), m("user", "summary")] }, { ...first, messages: [...goesOn, m("assistant", "x"), m("tool", "y")] }),
    ).toBe("compaction"));
  test("another thread", () => expect(cause({ messages: goesOn, thread: "b" }, { ...first, thread: "a" })).toBe("subagent"));
  test("another conversation while the first goes on", () => {
    const later: ServedCall = { call: graphCall(2, null, { messages: goesOn, tools: "t" }), prompt: [1, 2, 5], sampled: [6], logprobs: [] };
    expect(cause({ messages: [m("system", "other"), m("user", "task")] }, first, [later])).toBe("subagent");
  });
  test("another conversation that takes the place of the first", () =>
    expect(cause({ messages: [m("system"), m("user", "summary")] })).toBe("compaction"));

  test("the same text in other tokens", () => {
    const letters = new Map([
      [1, "p"],
      [2, "ab"],
      [3, "a"],
      [4, "b"],
      [5, "!"],
    ]);
    const decode = (tokens: Int32Array) => Array.from(tokens, (id) => letters.get(id) ?? "?").join("");
    const served: ServedCall[] = [
      { call: graphCall(0, null, first), prompt: [1], sampled: [2], logprobs: [] },
      { call: graphCall(1, null, { messages: goesOn, tools: "t" }), prompt: [1, 3, 4, 5], sampled: [5], logprobs: [] },
    ];
    const rebuilt = reconstruct(
      served.map((one) => one.call),
      place(served),
      { decode },
    );
    expect(rebuilt.counts.breaks).toEqual({ "re-tokenisation": 1 });
  });
});
