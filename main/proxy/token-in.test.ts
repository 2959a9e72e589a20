import { join } from "node:path";
import { expect, it } from "vitest";
import type { Answer, Conversation } from "../../engine/conversation/index.ts";
import { loadPolicyText } from "./policy-text.ts";
import { createTokenIn } from "./token-in.ts";

const tokenizer = join(import.meta.dirname, "../../resources/policies/tokenizer");
const conversation: Conversation = {
  model: "m",
  stream: false,
  messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
  tools: [],
  sampling: {},
  extra: "{}",
};

it("says so when a server samples an id that the tokenizer does not have", async () => {
  const { builder } = await loadPolicyText(tokenizer);
  const tokenIn = createTokenIn({ builder, mode: "as-sampled", contextWindow: null });
  const prepared = tokenIn.prepare(conversation, 0);
  if (!prepared.ok) throw new Error(prepared.failure.message);
  const answer = (ids: readonly number[]): Answer => ({
    message: { role: "assistant", content: [], toolCalls: [] },
    finishReason: "stop",
    usage: { promptTokens: 1, completionTokens: ids.length },
    unparsedToolCall: false,
    policyVersion: "m",
    tokens: { promptIds: prepared.prompt.ids, sampledIds: Int32Array.from(ids) },
  });
  expect(tokenIn.read(answer([100]), prepared.prompt, conversation, "r-0-0")).toMatchObject({ ok: true });
  expect(tokenIn.read(answer([100, 999_999]), prepared.prompt, conversation, "r-0-0")).toMatchObject({
    ok: false,
    failure: { kind: "garbled", retryable: false, message: expect.stringContaining("999999"), remedy: expect.stringContaining("tokenizer") },
  });
});
