import { expect, test } from "vitest";
import type { Conversation } from "../../engine/conversation/index.ts";
import { sideOf } from "./side-calls.ts";

const conversation: Conversation = {
  ...{ model: "small-lite", tools: [], sampling: {}, stream: true, extra: "{}" },
  messages: [
    { role: "system", content: [{ type: "text", text: "You name conversations. Be brief." }] },
    { role: "user", content: [{ type: "text", text: "hello" }] },
  ],
};
const asked = (headers: Readonly<Record<string, string>> = {}) => ({ headers, conversation });

test.each([
  [{ model: "small-lite" }, true],
  [{ model: "*-lite" }, true],
  [{ model: "*-lite*" }, true],
  [{ model: "lite" }, false],
  [{ model: "small-lite*lite" }, false],
  [{ tools: false }, true],
  [{ tools: true }, false],
  [{ system: "*name conversations*brief*" }, true],
  [{ system: "*brief*name*" }, false],
  [{ headers: { "X-Kind": "title" } }, true],
  [{ headers: { "x-kind": "title", "x-other": "*" } }, true],
  [{ headers: { "x-other": "?*" } }, false],
  [{ model: "*-lite", tools: true }, false],
])("%j fits: %s", (rule, fits) => {
  expect(
    sideOf(asked({ "x-kind": "title" }), [
      { name: "other", model: "none" },
      { name: "title", ...rule },
    ]),
  ).toBe(fits ? "title" : null);
});

test("a request says it itself, by a plain name; without a rule and a word there is none", () => {
  expect(sideOf(asked({ "x-openforge-side-call": "topic" }), [{ name: "title", tools: false }])).toBe("topic");
  expect(sideOf(asked({ "x-openforge-side-call": "No Name!" }), [])).toBeNull();
  expect(sideOf({ headers: {}, conversation: null }, [{ name: "title", tools: false }])).toBeNull();
  expect(sideOf(asked(), [])).toBeNull();
});
