import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPlacementIndex, type PlacementIndex } from "../../engine/graph/index.ts";
import { loadTokenizer } from "../../engine/tokenizers/index.ts";
import { type CallRecord, openStore, type Store } from "../store/index.ts";
import { readTranscript, rebuildTrajectories, tokenSpans, trajectoryTotals } from "./index.ts";

const folder = "tests/fixtures/tokenizers/chatml-bpe";
const tokenizer = loadTokenizer(readFileSync(`${folder}/tokenizer.json`, "utf8"), readFileSync(`${folder}/tokenizer_config.json`, "utf8"));

let dataFolder: string;
let store: Store;
let placements: PlacementIndex;

beforeEach(() => {
  dataFolder = mkdtempSync(join(tmpdir(), "openforge-trajectories-"));
  store = openStore(dataFolder);
  placements = createPlacementIndex();
  store.createExperiment({ id: "e", name: "e", createdAt: 0, endedAt: null, spec: "{}", status: "running", kind: "experiment" });
  store.createRollouts([
    {
      ...{ id: "r", experimentId: "e", taskName: "t", taskDigest: "sha256:0", taskPath: "/t", harness: "react", harnessVersion: "1", policy: "p" },
      ...{ policyVersion: null, sandbox: "local", groupIndex: 0, seed: 0, phase: "running", outcome: null, reward: null, rewards: null, attempts: 1 },
      ...{ phases: [], isolation: null, fingerprint: null, calls: 0, chains: 0, promptTokens: 0, completionTokens: 0, trainable: null },
      ...{ trainableReason: null, labels: {}, policyWaitSeconds: null, steps: [], createdAt: 0, startedAt: null, endedAt: null },
    },
  ]);
});

afterEach(() => {
  store.close();
  rmSync(dataFolder, { recursive: true, force: true });
});

interface Said {
  readonly request?: unknown;
  readonly response?: unknown;
  readonly tokens?: { readonly prompt: ArrayLike<number>; readonly sampled: ArrayLike<number>; readonly logprobs?: readonly number[] };
  readonly change?: Partial<CallRecord>;
}

function record(index: number, { request = {}, response = {}, tokens, change = {} }: Said): void {
  const put = (value: unknown) => store.blobs.put(new TextEncoder().encode(JSON.stringify(value))).hash;
  const id = `c${index}`;
  const call: CallRecord = {
    ...{ id, rolloutId: "r", attempt: 0, index, dialect: "chat", method: "POST", path: "/r/r/v1/chat/completions", status: "ok", httpStatus: 200 },
    ...{ startedAt: index, endedAt: index, upstreamMs: 0, upstreamRetries: 0, replays: 0, aborted: false, late: false, quarantined: null },
    ...{ requestHeaders: {}, requestBody: put(request), responseBody: put(response), upstreamRequestBody: null, upstreamResponseBody: null },
    ...{ requestKey: id, model: "m", stream: false, capture: tokens === undefined ? "text-only" : "ids+logprobs", tokenMode: "text-in" },
    ...{ policyVersion: null, finishReason: "stop", promptTokens: tokens?.prompt.length ?? 7, completionTokens: tokens?.sampled.length ?? 2 },
    ...{ unparsedToolCall: false, breakCause: null, side: null, session: {}, error: null, ...change },
  };
  if (tokens === undefined) {
    store.recordCall(call, null);
    return;
  }
  const sampledIds = Int32Array.from(tokens.sampled);
  const placed = placements.placeCall({ callId: id, promptIds: Int32Array.from(tokens.prompt), sampledIds });
  store.recordCall(call, { callId: id, ...placed, sampledIds, logprobs: Float32Array.from(tokens.logprobs ?? Array.from(sampledIds, () => -0.25)) });
}

test("a linear rollout is one chain, with its totals and its token view", () => {
  const first = tokenizer.encode("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  const answer = tokenizer.encode("Grüße 😀<|im_end|>");
  const next = [...first, ...answer, ...tokenizer.encode("\n<|im_start|>user\nMore<|im_end|>\n<|im_start|>assistant\n")];
  record(0, { tokens: { prompt: first, sampled: answer, logprobs: Array.from(answer, (_, at) => (at === 1 ? Number.NaN : -0.5)) } });
  record(1, { tokens: { prompt: next, sampled: [tokenizer.special.eos ?? 0] } });
  record(2, { change: { status: "error", capture: "nothing", promptTokens: 0, completionTokens: 0, error: "The policy did not answer." } });

  const trajectories = rebuildTrajectories(store, "r");
  expect(trajectories.chains).toMatchObject([{ calls: [0, 1], breakCause: null, trained: answer.length }]);
  expect(trajectories.withoutLogprob).toBe(1);
  expect(trajectoryTotals(trajectories)).toEqual({
    calls: 3,
    chains: 1,
    promptTokens: first.length + next.length,
    completionTokens: answer.length + 1,
    trainable: true,
    trainableReason: null,
  });

  const spans = tokenSpans(trajectories, 0, tokenizer);
  expect(spans.map((span) => [span.callIndex, span.kind, span.mask])).toEqual([
    [0, "prompt", 0],
    [0, "sampled", 1],
    [0, "sampled", 0],
    [0, "sampled", 1],
    [1, "prompt", 0],
    [1, "sampled", 1],
  ]);
  expect(spans.flatMap((span) => span.texts ?? []).join("")).toBe(tokenizer.decode([...next, tokenizer.special.eos ?? 0]));
  expect(spans[0]?.logprobs).toBeNull();
  expect(spans[2]?.logprobs).toBeNull();
  expect(spans[1]?.logprobs).toEqual([-0.5]);
  expect(tokenSpans(trajectories, 0, null)[0]?.texts).toBeNull();
  expect(() => tokenSpans(trajectories, 1, null)).toThrow(RangeError);
});

test("aborted, quarantined and late calls take no part; an answer given again does", () => {
  record(0, { tokens: { prompt: [1], sampled: [2] }, change: { aborted: true, status: "aborted" } });
  record(1, { tokens: { prompt: [1], sampled: [3] }, change: { quarantined: "two answers, and no telling which was used" } });
  record(2, { tokens: { prompt: [1], sampled: [4] }, change: { late: true } });
  record(3, { tokens: { prompt: [1], sampled: [5] }, change: { aborted: true, replays: 1 } });
  const trajectories = rebuildTrajectories(store, "r");
  expect(trajectories.chains.map((chain) => chain.calls)).toEqual([[3]]);
  expect(trajectories.excluded).toEqual({ undelivered: 1, quarantined: 1, late: 1 });
});

test("a side call has its own chain that is not trained; a count of tokens is no call at all", () => {
  record(0, { tokens: { prompt: [9], sampled: [8] }, change: { side: "title" } });
  record(1, { change: { status: "counted", capture: "nothing", promptTokens: 0, completionTokens: 0 } });
  record(2, { tokens: { prompt: [1], sampled: [2] } });
  const trajectories = rebuildTrajectories(store, "r");
  expect(trajectories.chains).toMatchObject([
    { calls: [0], trained: 0, breakCause: "side" },
    { calls: [2], trained: 1, breakCause: null },
  ]);
  expect(trajectories).toMatchObject({ calls: 2, trainable: true, excluded: { side: 1 }, promptTokens: 2, completionTokens: 2 });
  expect(store.rollout("r")).toMatchObject({ calls: 2 });
  expect(readTranscript(store, "r", trajectories).map(({ call }) => call.index)).toEqual([0, 2]);
});

test("an attempt is rebuilt by itself, and a rollout without calls says so", () => {
  expect(rebuildTrajectories(store, "r")).toMatchObject({ chains: [], trainable: false, reason: "no calls were captured" });
  record(0, { tokens: { prompt: [1], sampled: [2] } });
  expect(rebuildTrajectories(store, "r", { attempt: 0 }).chains).toHaveLength(1);
  expect(rebuildTrajectories(store, "r", { attempt: 1 }).chains).toHaveLength(0);
});

test("a recorded cause is taken, and threads tell subagents apart", () => {
  record(0, { tokens: { prompt: [1], sampled: [2] }, change: { session: { "session-id": "s", "thread-id": "a", "x-parent-thread-id": "z" } } });
  record(1, { tokens: { prompt: [7], sampled: [8] }, change: { breakCause: "subagent", session: { "session-id": "s", "thread-id": "b" } } });
  record(2, { tokens: { prompt: [1, 2, 3], sampled: [4] }, change: { session: { "session-id": "s", "thread-id": "a" } } });
  const trajectories = rebuildTrajectories(store, "r");
  expect(trajectories.chains).toMatchObject([{ calls: [0, 2] }, { calls: [1], breakCause: "subagent" }]);
  expect(trajectories.breaks).toEqual({ subagent: 1 });
});

describe("with messages", () => {
  const chat = (messages: readonly unknown[]) => ({ model: "m", messages });
  const answered = (content: string) => ({
    ...{ id: "x", object: "chat.completion", created: 0, model: "m", usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } },
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  });
  const system = { role: "system", content: "Be brief." };
  const user = { role: "user", content: "Go." };
  const more = { role: "user", content: "More." };

  test("text-only calls are chained by their messages and say why they are not trained", () => {
    record(0, { request: chat([system, user]), response: answered("One.") });
    record(1, { request: chat([system, user, { role: "assistant", content: "One." }, more]), response: answered("Two.") });
    record(2, { request: chat([system, { role: "user", content: "Other." }]), response: answered("Three.") });
    const trajectories = rebuildTrajectories(store, "r");
    expect(trajectories.chains).toMatchObject([
      { calls: [0, 1], tokens: 0, reason: "no token ids" },
      { calls: [2], trainable: false },
    ]);
    expect(trajectoryTotals(trajectories)).toMatchObject({ trainable: false, trainableReason: "no token ids", promptTokens: 21 });
  });

  test("a break without a recorded cause is told by the messages", () => {
    record(0, { request: chat([system, user]), response: answered("One."), tokens: { prompt: [1, 2], sampled: [3, 4] } });
    record(1, {
      request: chat([system, user, { role: "assistant", content: "One." }, more]),
      response: answered("Two."),
      tokens: { prompt: [1, 2, 9, 9, 5], sampled: [6] },
    });
    expect(rebuildTrajectories(store, "r").breaks).toEqual({ template: 1 });
  });
});
