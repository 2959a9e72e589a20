/**
 * SGLang and llama.cpp behind the proxy: what they saw and sampled is what comes out of the records, id for id, and what they leave out
 * or garble is said, never guessed. The stand-ins have a real tokenizer and template and the servers' own shapes.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isJsonObject } from "../../engine/json/index.ts";
import { createPolicyRegistry, type PolicyRegistry, type Upstream } from "../../main/proxy/index.ts";
import { rebuildTrajectories } from "../../main/trajectories/index.ts";
import { type LlamaStandIn, type LlamaStandInOptions, startLlamaStandIn } from "../stand-ins/llama-server.ts";
import { layProxyBed, type ProxyBed } from "../stand-ins/proxy-bed.ts";
import { createRandom } from "../stand-ins/random.ts";
import { runHarness } from "../stand-ins/random-harness.ts";
import { type SglangServer, type SglangServerOptions, startSglangServer } from "../stand-ins/sglang-server.ts";
import { logprobOf, type TokenPolicy } from "../stand-ins/token-policy.ts";

let bed: ProxyBed;
let folder: string;
let policies: PolicyRegistry;
const closing: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  bed = await layProxyBed();
  folder = mkdtempSync(join(tmpdir(), "of-servers-"));
  const fixture = resolve("tests/fixtures/tokenizers/chatml-bpe");
  for (const name of ["tokenizer.json", "tokenizer_config.json"]) copyFileSync(join(fixture, name), join(folder, name));
  policies = createPolicyRegistry({ store: bed.store, policiesFolder: resolve("resources/policies"), env: {} });
});
afterEach(async () => {
  for (const each of closing.splice(0)) await each.close();
  await bed.close();
  rmSync(folder, { recursive: true, force: true });
});

async function add(server: TokenPolicy & { readonly url: string; close(): Promise<void> }, withTokenizer = true): Promise<Upstream> {
  closing.push(server);
  writeFileSync(join(folder, "chat_template.jinja"), server.template);
  await policies.add({ id: "here", url: server.url, ...(withTokenizer ? { tokenizer: folder } : {}) });
  const upstream = await policies.resolve("here");
  closing.unshift(upstream);
  return upstream;
}
const sglang = async (over: Partial<SglangServerOptions> = {}): Promise<SglangServer> =>
  startSglangServer({ template: "thinking-drop", seed: 11, ...over });
const llama = async (over: Partial<LlamaStandInOptions> = {}): Promise<LlamaStandIn> =>
  startLlamaStandIn({ template: "thinking-drop", seed: 12, ...over });

const question = { model: "m", messages: [{ role: "user", content: "hello" }], max_tokens: 60 };

function notesOf(rolloutId: string): string {
  return bed.store
    .eventsAfter(0, 1_000, { rolloutId })
    .map(({ payload }) => payload)
    .join("\n");
}

/** Rollouts of a harness that only goes on: one chain each, laid out as the server saw and sampled it, its log-probs those of the server. */
async function goOn(upstream: Upstream, server: TokenPolicy): Promise<{ readonly trained: number; readonly without: number }> {
  const totals = { trained: 0, without: 0 };
  for (let seed = 0; seed < 12; seed++) {
    const from = server.samples.length;
    const open = await bed.open(upstream, { tokenMode: "as-sampled" });
    await runHarness(open, createRandom(seed), { kind: "linear", turns: 4 });
    await open.session.close();
    const { chains, tokensOf, trainedTokens, withoutLogprob } = rebuildTrajectories(bed.store, open.rolloutId);
    const samples = server.samples.slice(from);
    const last = samples.at(-1);
    expect(chains).toHaveLength(1);
    expect([...tokensOf(0).ids]).toEqual([...(last?.promptIds ?? []), ...(last?.sampledIds ?? [])]);
    expect(trainedTokens + withoutLogprob).toBe(samples.reduce((sum, { sampledIds }) => sum + sampledIds.length, 0));
    for (const { sampledIds, logprobs } of bed.store.nodesOf(open.rolloutId))
      sampledIds.forEach((id, index) => {
        const logprob = logprobs?.[index] ?? Number.NaN;
        if (Number.isFinite(logprob)) expect(logprob).toBeCloseTo(logprobOf(id), 5);
      });
    totals.trained += trainedTokens;
    totals.without += withoutLogprob;
  }
  return totals;
}

describe("SGLang", () => {
  test("is recognised, and gives ids and log-probs for prompts of ids; nothing is lost", async () => {
    const server = await sglang();
    await add(server);
    expect(policies.list().find(({ definition }) => definition.id === "here")).toMatchObject({ definition: { kind: "sglang" }, takesTokenIds: true });
    expect(await policies.probe("here")).toMatchObject({ capture: "ids+logprobs", lost: [] });
  });

  test("a harness that goes on is one chain, and every token is trained once", async () => {
    const server = await sglang({ weightVersion: "step-7" });
    const upstream = await add(server);
    expect((await goOn(upstream, server)).without).toBe(0);
    expect(bed.store.callsOf("r1").map(({ policyVersion }) => policyVersion)).toContain("stand-in@step-7");
  });

  test("without a tokenizer it is text only, and the probe says what would help", async () => {
    const upstream = await add(await sglang(), false);
    expect(await policies.probe("here")).toMatchObject({ capture: "text-only", lost: [expect.stringContaining("give --tokenizer")] });
    const open = await bed.open(upstream, { tokenMode: "as-sampled" });
    expect((await open.chat(question)).status).toBe(200);
    expect(bed.store.callsOf(open.rolloutId)).toMatchObject([{ status: "ok", capture: "text-only" }]);
  });

  test("what is asked for goes in its own words", async () => {
    const server = await sglang();
    const open = await bed.open(await add(server), { tokenMode: "as-sampled" });
    await open.chat({ ...question, temperature: 0.5, top_p: 0.9, top_k: 0, seed: 4, stop: ["###"] });
    const [asked] = server.asked;
    expect(asked?.get("return_logprob")).toBe(true);
    const parameters = asked?.get("sampling_params");
    const told = isJsonObject(parameters ?? null) ? Object.fromEntries(parameters as ReadonlyMap<string, unknown>) : {};
    expect(Object.entries(told).map(([name, value]) => `${name} ${String(value)}`)).toEqual(
      expect.arrayContaining(["max_new_tokens 60", "temperature 0.5", "top_p 0.9", "top_k -1", "stop ###", "sampling_seed 4", "no_stop_trim true"]),
    );
  });

  test.each([
    ["ids that are cut at a stop text", { finish_reason: { type: "stop", matched: "###" } }, "go on past it"],
    ["other log-probs than ids", { output_token_logprobs: [[-1, 5, null]] }, "of other tokens"],
    ["fewer ids than tokens", { completion_tokens: 4_000 }, "of 4000 tokens"],
  ])("%s: the call is text only and says why", async (_name, meta, why) => {
    const open = await bed.open(await add(await sglang({ meta })), { tokenMode: "as-sampled" });
    expect((await open.chat(question)).status).toBe(200);
    expect(bed.store.callsOf(open.rolloutId)).toMatchObject([{ capture: "text-only" }]);
    expect(notesOf(open.rolloutId)).toContain(why);
  });

  test.each([
    [
      "a prompt that is too long",
      { type: "abort", message: "The input is longer than the model's context length", status_code: 400 },
      400,
      "context_length_exceeded",
    ],
    ["a call that it refuses", { type: "abort", message: "Invalid grammar", status_code: 400 }, 400, "invalid_request"],
  ])("%s, told inside an answer, is an error of its kind", async (_name, reason, status, code) => {
    const open = await bed.open(await add(await sglang({ meta: { finish_reason: reason } })), { tokenMode: "as-sampled" });
    const response = await open.chat(question);
    expect([response.status, await response.json()]).toEqual([status, { error: expect.objectContaining({ code }) }]);
  });

  test("a call that is given up is aborted by name", async () => {
    const server = await sglang({ hangs: true });
    const open = await bed.open(await add(server), { tokenMode: "as-sampled" });
    const asking = open.chat(question).catch(() => null);
    await expect.poll(() => server.asked.length).toBe(1);
    open.session.endAgentPhase();
    await expect.poll(() => server.aborted).toEqual([server.asked[0]?.get("rid")]);
    await asking;
  });
});

describe("llama.cpp", () => {
  test("is recognised, gives ids and log-probs both ways, and says its window", async () => {
    const server = await llama({ contextWindow: 4_096 });
    const upstream = await add(server);
    expect(upstream.contextWindow).toBe(4_096);
    expect(await policies.probe("here")).toMatchObject({ capture: "ids+logprobs", lost: [], policy: { definition: { kind: "llama.cpp" } } });
    await policies.add({ id: "plain", url: server.url });
    expect(await policies.probe("plain")).toMatchObject({
      capture: "ids+logprobs",
      lost: [expect.stringContaining("--tokenizer"), expect.stringContaining("character")],
    });
  });

  test("a harness that goes on is one chain; a token that ends inside a character has an id and no log-prob", async () => {
    const server = await llama();
    const { trained, without } = await goOn(await add(server), server);
    expect(without).toBeGreaterThan(0);
    expect(trained).toBeGreaterThan(10 * without);
  });

  test("all that shapes the draw is said, for its own defaults leave tokens out; log-probs are those of the draw", async () => {
    const server = await llama();
    const open = await bed.open(await add(server), { tokenMode: "as-sampled" });
    await open.chat({ ...question, temperature: 0.5 });
    await open.chat({ ...question, temperature: 0 });
    const drawn = server.asked.map((body) => ["temperature", "top_k", "top_p", "min_p"].map((name) => Number(body.get(name))));
    expect(drawn).toEqual([
      [0.5, 0, 1, 0],
      [0, 0, 1, 0],
    ]);
    expect(server.asked.map((body) => body.get("post_sampling_probs"))).toEqual([true, false]);
  });

  test("messages: the prompt's ids are asked for, and a call that cuts a character has none", async () => {
    const server = await llama();
    const open = await bed.open(await add(server, false), { tokenMode: "text-in" });
    for (let call = 0; call < 20; call++) await open.chat({ ...question, messages: [{ role: "user", content: `hello ${call}` }] });
    const calls = bed.store.callsOf(open.rolloutId);
    const nodes = new Map(bed.store.nodesOf(open.rolloutId).map((node) => [node.callId, node]));
    const whole = calls.filter(({ capture }) => capture === "ids+logprobs");
    expect(whole.length).toBeGreaterThan(0);
    expect(whole.length).toBeLessThan(calls.length);
    for (const { id, index } of whole) {
      expect([...(nodes.get(id)?.sampledIds ?? [])]).toEqual(server.samples[index]?.sampledIds);
      expect(nodes.get(id)?.parentCallId === null ? [...(nodes.get(id)?.addedPromptIds ?? [])] : server.samples[index]?.promptIds).toEqual(
        server.samples[index]?.promptIds,
      );
    }
    expect(notesOf(open.rolloutId)).toContain("a part of a character");
  });

  test.each([
    ["stops at a text", { stop_type: "word", stopping_word: "###" }, "go on past it"],
    ["cut the prompt", { truncated: true }, "cut the prompt"],
    ["read another prompt", { tokens_evaluated: 3 }, "read 3 tokens"],
    ["is too old to give ids", { tokens: undefined }, "older"],
    ["gives too few ids", { tokens: [5] }, "1 ids of"],
  ])("a server that %s: the call is text only and says why", async (_name, over, why) => {
    const open = await bed.open(await add(await llama({ over })), { tokenMode: "as-sampled" });
    expect((await open.chat(question)).status).toBe(200);
    expect(bed.store.callsOf(open.rolloutId)).toMatchObject([{ capture: "text-only" }]);
    expect(notesOf(open.rolloutId)).toContain(why);
  });

  test("probabilities without ids: the ids stand, the log-probs are none", async () => {
    const upstream = await add(await llama({ over: { completion_probabilities: [{ content: "x", probs: [] }] } }));
    const open = await bed.open(upstream, { tokenMode: "as-sampled" });
    await open.chat(question);
    expect(bed.store.callsOf(open.rolloutId)).toMatchObject([{ capture: "ids" }]);
  });

  test("a prompt beyond its window, and one that its template refuses, are the dialect's own errors", async () => {
    const upstream = await add(await llama({ contextWindow: 64 }), false);
    const open = await bed.open(upstream, { tokenMode: "text-in" });
    const long = await open.chat({ ...question, messages: [{ role: "user", content: "word ".repeat(200) }] });
    expect([long.status, await long.json()]).toEqual([400, { error: expect.objectContaining({ code: "context_length_exceeded" }) }]);
  });
});
