import { expect, it } from "vitest";
import type { Answer, Usage } from "../../engine/conversation/index.ts";
import { completeAnswer } from "./answer-form.ts";

function answered(usage: Usage): Answer {
  const message = { role: "assistant", content: [], toolCalls: [] } as const;
  return completeAnswer({ message, finishReason: "stop", usage, unparsedToolCall: false, policyVersion: "m" }, "r-0-0");
}

it("counts tokens in whole numbers, whatever a server says", () => {
  expect(answered({ promptTokens: 11, completionTokens: 3, cachedTokens: 2 }).usage).toEqual({
    promptTokens: 11,
    completionTokens: 3,
    cachedTokens: 2,
  });
  expect(answered({ promptTokens: 1.5, completionTokens: -3 }).usage).toEqual({ promptTokens: 1, completionTokens: 0 });
  expect(answered({ promptTokens: 1e300, completionTokens: Number.NaN }).usage).toEqual({
    promptTokens: Number.MAX_SAFE_INTEGER,
    completionTokens: 0,
  });
});
