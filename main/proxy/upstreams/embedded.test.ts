import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Conversation } from "../../../engine/conversation/index.ts";
import { importGguf } from "../../models/index.ts";
import { createSamplerPool } from "../../sampler/index.ts";
import { createUpstream } from "../create-upstream.ts";
import { loadPolicyText } from "../policy-text.ts";
import type { Upstream, UpstreamRequest } from "./upstream.ts";

const samplers = createSamplerPool();
let folder = "";
let upstream: Upstream;
beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "openforge-embedded-")), "tiny");
  await importGguf("tests/fixtures/gguf/tiny-llama.gguf", folder);
  const media = { put: () => "" as never, get: () => null };
  const parts = { env: {}, policiesFolder: "resources/policies", media, embedded: { samplers, modelsFolder: folder } };
  upstream = await createUpstream({ kind: "embedded", id: "tiny", folder, deterministic: true, lanes: 2 }, parts);
});
afterAll(async () => {
  await upstream.close();
  await samplers.close();
  await rm(join(folder, ".."), { recursive: true, force: true });
});

const conversation: Conversation = {
  model: "tiny",
  messages: [{ role: "user", content: [{ type: "text", text: "how many boats?" }] }],
  tools: [],
  sampling: { maxTokens: 12, temperature: 0.7, topP: 0.9 },
  stream: false,
  extra: "{}",
};
const request: UpstreamRequest = { conversation, rolloutId: "r", attempt: 0, callIndex: 3, seed: 5, labels: { dialect: "chat" } };
const never = new AbortController().signal;

async function answer(changes: Partial<UpstreamRequest> = {}) {
  const result = await upstream.complete({ ...request, ...changes }, never);
  if (!result.ok) throw new Error(result.failure.message);
  return result.answer;
}

test("gives ids with log-probabilities whose text is the message", async () => {
  expect(upstream).toMatchObject({ kind: "embedded", capture: "ids+logprobs", takesTokenIds: true, contextWindow: 512, tokenizerFolder: folder });
  const { tokens, message, usage, policyVersion } = await answer();
  const { tokenizer, builder } = await loadPolicyText(folder);
  expect(policyVersion).toBe("tiny");
  expect(usage).toMatchObject({ promptTokens: tokens?.promptIds.length, completionTokens: tokens?.sampledIds.length });
  expect(tokens?.logprobs?.length).toBe(tokens?.sampledIds.length);
  const [part] = message.content;
  const said = [message.reasoning ?? "", part?.type === "text" ? part.text : ""].join("");
  const text = tokenizer.decode((tokens?.sampledIds ?? new Int32Array()).filter((id) => !builder.endIds.includes(id)));
  expect(text.replace(/<\/?think>\n*/g, "").trim()).toContain(said.trim());
});

test("a prompt of ids is taken as it is", async () => {
  const promptIds = Int32Array.from([1481, 84, 610, 198]);
  const { tokens } = await answer({ promptIds, endIds: [] });
  expect(tokens?.promptIds).toEqual(promptIds);
  expect(tokens?.sampledIds.length).toBe(12);
});

test("the same call of the same seed says the same, whatever the rollout is called; another call something else", async () => {
  const first = (await answer()).tokens;
  expect((await answer({ rolloutId: "other" })).tokens).toEqual(first);
  expect((await answer({ callIndex: 4 })).tokens).not.toEqual(first);
  expect((await answer({ seed: 6 })).tokens).not.toEqual(first);
});

test("a prompt longer than the window is an overflow, a stop text ends the answer", async () => {
  const long = await upstream.complete({ ...request, promptIds: new Int32Array(700) }, never);
  expect(long).toMatchObject({ ok: false, failure: { kind: "context-overflow" } });
  const greedy = { ...conversation, sampling: { maxTokens: 12, temperature: 0 } };
  const whole = await answer({ conversation: greedy, promptIds: Int32Array.from([1481, 84, 610, 198]) });
  const text = whole.message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const stop = text.slice(5, 8);
  const stopped = await answer({
    conversation: { ...greedy, sampling: { ...greedy.sampling, stop: [stop] } },
    promptIds: Int32Array.from([1481, 84, 610, 198]),
  });
  const stoppedText = stopped.message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  expect(text.trim().startsWith(stoppedText.trim())).toBe(true);
  expect(stoppedText).not.toContain(stop);
  expect(stopped.finishReason).toBe("stop");
});
