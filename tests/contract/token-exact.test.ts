/**
 * What the engine saw and sampled is what comes out of the records, id for id: a stand-in vLLM server with a real tokenizer and
 * template behind the proxy, and a harness that misbehaves as real ones do.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPolicyRegistry, createUpstream, type Upstream } from "../../main/proxy/index.ts";
import type { NodeRecord, TokenMode } from "../../main/store/index.ts";
import { rebuildTrajectories } from "../../main/trajectories/index.ts";
import { layProxyBed, type ProxyBed } from "../stand-ins/proxy-bed.ts";
import { createRandom } from "../stand-ins/random.ts";
import { runHarness } from "../stand-ins/random-harness.ts";
import type { Sample } from "../stand-ins/token-policy.ts";
import { startVllmServer, type VllmServer } from "../stand-ins/vllm-server.ts";

let bed: ProxyBed;
let folder: string;
let server: VllmServer | null = null;

beforeEach(async () => {
  bed = await layProxyBed();
  folder = mkdtempSync(join(tmpdir(), "of-tokens-"));
});
afterEach(async () => {
  await bed.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function vllm(
  template: string,
  seed: number,
  over: { readonly contextWindow?: number } = {},
): Promise<{ started: VllmServer; upstream: Upstream }> {
  const started = await startVllmServer({ template, seed, ...over });
  server = started;
  const fixture = resolve("tests/fixtures/tokenizers/chatml-bpe");
  for (const name of ["tokenizer.json", "tokenizer_config.json"]) copyFileSync(join(fixture, name), join(folder, name));
  writeFileSync(join(folder, "chat_template.jinja"), started.template);
  const messageRules = { developer: "system", mergeSystem: true, mergeUser: false } as const;
  const upstream = await createUpstream(
    { kind: "vllm", id: "stand-in", url: started.url, tokenizer: folder, toolFormat: "hermes", messageRules },
    { env: {}, policiesFolder: "", media: { put: (bytes) => bed.store.blobs.put(bytes).hash, get: (hash) => bed.store.blobs.get(hash) } },
  );
  return { started, upstream };
}

const sampleKey = (sample: Sample): string => `${sample.promptIds.join(",")}|${sample.sampledIds.join(",")}`;

/** What each call was asked with and answered, put together from the nodes of its path. */
function samplesOf(nodes: ReadonlyMap<string, NodeRecord>): readonly Sample[] {
  const promptOf = (node: NodeRecord): readonly number[] => {
    const parent = node.parentCallId === null ? undefined : nodes.get(node.parentCallId);
    return parent === undefined ? [...node.addedPromptIds] : [...promptOf(parent), ...parent.sampledIds, ...node.addedPromptIds];
  };
  return [...nodes.values()].map((node) => ({ promptIds: promptOf(node), sampledIds: [...node.sampledIds] }));
}

/** Every sample of the server is recorded once; every chain, laid out, is a prompt that it saw and what it sampled there. */
function checkRollout(
  rolloutId: string,
  samples: readonly Sample[],
): { chains: number; breaks: Readonly<Record<string, number | undefined>>; calls: number } {
  const trajectories = rebuildTrajectories(bed.store, rolloutId);
  const calls = bed.store.callsOf(rolloutId);
  const nodes = new Map(bed.store.nodesOf(rolloutId).map((node) => [node.callId, node]));
  const seen = new Set(samples.map(sampleKey));
  expect(samplesOf(nodes).map(sampleKey).sort(), "no sample is lost, none is doubled").toEqual(samples.map(sampleKey).sort());
  trajectories.chains.forEach((chain, number) => {
    if (chain.tokens === 0) return;
    const { ids, mask } = trajectories.tokensOf(number);
    const last = chain.calls.at(-1);
    const node = nodes.get(calls.find((call) => call.index === last)?.id ?? "");
    if (node === undefined) throw new Error("a chain ends at a call without tokens");
    const whole = [...ids];
    const promptIds = whole.slice(0, whole.length - node.sampledIds.length);
    expect(seen.has(sampleKey({ promptIds, sampledIds: [...node.sampledIds] })), "a chain is what the server saw and sampled").toBe(true);
    expect(mask.length).toBe(ids.length);
  });
  return { chains: trajectories.chains.length, breaks: trajectories.breaks, calls: calls.length };
}

async function runMany(
  rollouts: number,
  kind: "linear" | "wild",
  tokenMode: TokenMode,
  template: string,
): Promise<{ oneChain: number; breaks: Record<string, number>; calls: number }> {
  const { started, upstream } = await vllm(template, 7);
  const breaks: Record<string, number> = {};
  let oneChain = 0;
  let calls = 0;
  for (let index = 0; index < rollouts; index += 1) {
    const open = await bed.open(upstream, { tokenMode });
    const from = started.samples.length;
    await runHarness(open, createRandom(1000 + index), { kind, turns: 4 });
    await open.session.close();
    const checked = checkRollout(open.rolloutId, started.samples.slice(from));
    if (checked.chains === 1) oneChain += 1;
    calls += checked.calls;
    for (const [cause, count] of Object.entries(checked.breaks)) breaks[cause] = (breaks[cause] ?? 0) + (count ?? 0);
  }
  return { oneChain, breaks, calls };
}

describe("over random rollouts with subagents, compactions, edits, cuts and aborts", () => {
  test.each([
    ["as-sampled", "thinking-drop", 70],
    ["as-template", "chatml-stable", 60],
    ["text-in", "thinking-drop", 70],
  ] as const)("token mode %s under %s: every chain is, id for id, what the server saw and sampled", async (mode, template, rollouts) => {
    const { breaks, calls } = await runMany(rollouts, "wild", mode, template);
    console.log(`${mode}, ${template}: ${rollouts} rollouts, ${calls} calls, breaks ${JSON.stringify(breaks)}`);
    expect(calls).toBeGreaterThan(rollouts * 3);
    if (mode === "as-sampled")
      expect([breaks.template, breaks["re-tokenisation"]], "only what the harness changed breaks a chain").toEqual([undefined, undefined]);
  });
});

describe("linear rollouts under a template that drops earlier reasoning", () => {
  test("are exactly one chain in token-in mode", async () => {
    const { oneChain, breaks } = await runMany(40, "linear", "as-sampled", "thinking-drop");
    expect(breaks).toEqual({});
    expect(oneChain).toBe(40);
  });

  test("break in text-in mode, and the causes are counted", async () => {
    const { oneChain, breaks } = await runMany(20, "linear", "text-in", "thinking-drop");
    console.log(`text-in, linear, thinking-drop: ${oneChain} of 20 in one chain, breaks ${JSON.stringify(breaks)}`);
    expect(Object.values(breaks).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  });
});

test("a policy named by its URL alone is asked what it is, and a probe tells what works", async () => {
  const { started } = await vllm("chatml-stable", 5);
  const policies = createPolicyRegistry({ store: bed.store, policiesFolder: resolve("resources/policies"), env: {} });
  const added = await policies.add({ id: "here", url: started.url });
  expect(added).toMatchObject({ definition: { kind: "vllm" }, takesTokenIds: false });
  expect(await policies.probe("here")).toMatchObject({ capture: "ids+logprobs", lost: [expect.stringContaining("--tokenizer")] });
  await expect(policies.add({ id: "here", url: started.url })).rejects.toThrow('There is a policy "here" already');
  await expect(policies.add({ id: "there", url: started.url, tokenizer: "/nowhere" })).rejects.toThrow("can't be used: it has no tokenizer.json");
  await policies.add({ id: "here", url: started.url, tokenizer: folder, replace: true });
  expect(await policies.probe("here")).toMatchObject({ capture: "ids+logprobs", lost: [], policy: { takesTokenIds: true, capture: "ids+logprobs" } });
  writeFileSync(join(folder, "chat_template.jinja"), "{% for message in messages %}{{ message.content }}{% endfor %}");
  expect((await policies.probe("here")).lost).toEqual([expect.stringContaining("renders the same messages to other ids")]);
});

describe("limits", () => {
  test("an overlong prompt is the dialect's own error; an answer's share is what is left of the window", async () => {
    const { upstream, started } = await vllm("chatml-stable", 3, { contextWindow: 300 });
    const open = await bed.open(upstream, { tokenMode: "as-sampled" });
    const long = { model: "m", messages: [{ role: "user", content: "word ".repeat(400) }] };
    const overflow = await open.chat(long);
    expect([overflow.status, await overflow.text()]).toEqual([400, expect.stringContaining("maximum context length is 300 tokens")]);
    expect(started.samples).toHaveLength(0);
    expect((await open.chat({ model: "m", max_tokens: 5000, messages: [{ role: "user", content: "hi" }] })).status).toBe(200);
    expect(bed.store.eventsAfter(0, 100, { rolloutId: open.rolloutId }).some((event) => event.payload.includes("asked for 5000 tokens"))).toBe(true);
  });
});
