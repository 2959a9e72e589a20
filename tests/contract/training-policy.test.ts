/** What a training run publishes, behind the proxy: the step named answers, the stamp follows, and nothing in flight is lost at a swap. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linearKinds } from "../../engine/models/index.ts";
import { importGguf, publishedFolder } from "../../main/models/index.ts";
import { createPolicyRegistry, type PolicyInput, type PolicyRegistry, type Upstream } from "../../main/proxy/index.ts";
import { createSamplerPool } from "../../main/sampler/index.ts";
import { openEmbeddedTrainer, type TrainerSettings } from "../../main/training/index.ts";
import { layProxyBed, type OpenBed, type ProxyBed } from "../stand-ins/proxy-bed.ts";
import { startVllmServer, type VllmOptions, type VllmServer } from "../stand-ins/vllm-server.ts";

const samplers = createSamplerPool({ versionIdleMs: 100 });
const folder = mkdtempSync(join(tmpdir(), "of-published-"));
const [model, runs] = [join(folder, "tiny"), join(folder, "training")];
const lora: TrainerSettings["lora"] = { rank: 4, alpha: 16, targets: linearKinds, rankStabilised: false };
const servers: VllmServer[] = [];
let bed: ProxyBed;
let policies: PolicyRegistry;

/** Publishes steps 0, 1 and 2 of a run; each step moves the weights. */
async function publishRun(name: string, settings: TrainerSettings["lora"], more: object = {}): Promise<void> {
  const runFolder = join(runs, name);
  mkdirSync(runFolder, { recursive: true });
  const run = { baseModel: model, kind: settings === null ? "weights" : "adapter", lanes: 4, maxTokens: 16, deterministic: true, best: 1 };
  writeFileSync(join(runFolder, "run.json"), JSON.stringify({ ...run, ...more }));
  const trainer = await openEmbeddedTrainer({
    ...{ modelFolder: model, lora: settings, valueHead: false, withEntropy: false, clipNorm: 1, stopNorm: 1e4, seed: 3, threads: 1 },
    ...{ optimiser: { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 }, limits: { positions: 256, longest: 128 }, memoryBudget: 1 << 30 },
    resumeFrom: null,
  });
  const sequences = [Int32Array.from({ length: 40 }, (_unused, index) => (index * 37) % 1400)];
  const mask = { rows: 1, width: 39, values: new Float64Array(39).fill(1) };
  await trainer.publish(publishedFolder(runFolder, 0));
  for (const step of [1, 2]) {
    for (let count = 0; count < 3; count += 1) await trainer.supervisedStep({ sequences, mask, rate: 0.02 });
    await trainer.publish(publishedFolder(runFolder, step));
  }
  await trainer.close();
}

beforeAll(async () => {
  bed = await layProxyBed();
  await importGguf("tests/fixtures/gguf/tiny-llama.gguf", model);
  await publishRun("lora", lora);
  await publishRun("full", null);
  policies = createPolicyRegistry({
    ...{ store: bed.store, policiesFolder: resolve("resources/policies"), env: {}, trainingFolder: runs },
    embedded: { samplers, modelsFolder: folder },
  });
});
afterAll(async () => {
  await bed.close();
  await samplers.close();
  for (const server of servers) await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(open: OpenBed, question: string): Promise<string> {
  const reply = await open.chat({ model: "m", messages: [{ role: "user", content: question }] });
  expect(reply.status).toBe(200);
  const { choices } = (await reply.json()) as { choices: { message: { content: string | null } }[] };
  return choices[0]?.message.content ?? "";
}

function stampsOf(open: OpenBed): readonly (string | null)[] {
  return bed.store.callsOf(open.rolloutId).map((call) => call.policyVersion);
}

describe.each(["lora", "full"])("a run of kind %s", (run) => {
  test("rollouts in flight keep their step while later ones are sampled from the next", async () => {
    const opened: { readonly step: number; readonly open: OpenBed; readonly upstream: Upstream }[] = [];
    for (const step of [0, 1, 2]) {
      const upstream = await policies.resolve(`training:${run}@${step}`);
      opened.push({ step, upstream, open: await bed.open(upstream, { tokenMode: "as-sampled", seed: 5 }) });
    }
    const said = await Promise.all(
      opened.map(async ({ open, upstream }) => {
        const first = await Promise.all([ask(open, "how many boats?"), ask(open, "how many sails?")]);
        const last = await ask(open, "count again");
        await open.session.close();
        await upstream.close();
        return [...first, last].join("|");
      }),
    );
    for (const { step, open } of opened) expect(stampsOf(open)).toEqual(Array(3).fill(`${run}@${step}`));
    expect(new Set(said).size).toBe(3);
    // The same step says the same again, loaded anew.
    const upstream = await policies.resolve(`training:${run}@1`);
    const open = await bed.open(upstream, { tokenMode: "as-sampled", seed: 5 });
    expect(said[1]?.split("|")[0]).toBe(await ask(open, "how many boats?"));
    await upstream.close();
  });

  test("a moving name is made fast; a step that is not there is refused", async () => {
    expect(await Promise.all([`${run}`, `${run}@last`, `${run}@best?temperature=0.7`].map((name) => policies.pin(`training:${name}`)))).toEqual(
      [`${run}@2`, `${run}@2`, `${run}@1?temperature=0.7`].map((name) => `training:${name}`),
    );
    expect(await policies.pin("scripted")).toBe("scripted");
    await expect(policies.resolve(`training:${run}@7`)).rejects.toThrow('no published step "7"');
    for (const settings of ["topP=0.5", "temperature=", "temperature=-1", "temperature=1&lanes=2"])
      await expect(policies.resolve(`training:${run}@1?${settings}`)).rejects.toThrow("cannot be read");
    expect(await policies.tokenizerFolder(`training:${run}`)).toBe(model);
    expect(await policies.probe(`training:${run}`)).toMatchObject({ capture: "ids+logprobs", lost: [], policy: { takesTokenIds: true } });
  });
});

test("a run's temperature holds whatever a harness asks for, and the record says so", async () => {
  const upstream = await policies.resolve("training:lora@1?temperature=0");
  const open = await bed.open(upstream, { tokenMode: "as-sampled", seed: 1 });
  const other = await bed.open(upstream, { tokenMode: "as-sampled", seed: 2 });
  const body = { model: "m", temperature: 1.3, top_p: 0.5, messages: [{ role: "user", content: "how many boats?" }] };
  const answers = await Promise.all([open, other].map(async (each) => ((await (await each.chat(body)).json()) as { choices: unknown }).choices));
  expect(answers[0]).toEqual(answers[1]);
  const events = bed.store.eventsAfter(0, 1000, { rolloutId: open.rolloutId });
  expect(events.some(({ payload }) => payload.includes("Drawn at temperature 0 from all tokens"))).toBe(true);
  await upstream.close();
});

describe("a run that a vLLM server samples for", () => {
  async function vllm(options: Partial<VllmOptions>, costs: Partial<PolicyInput> = {}): Promise<VllmServer> {
    const server = await startVllmServer({ template: "chatml-stable", seed: 5, ...options });
    servers.push(server);
    await policies.add({ id: "box", url: server.url, kind: "vllm", replace: true, ...costs });
    return server;
  }

  test("loads the adapter for who asks, stamps its answers, and takes it out when nobody holds it", async () => {
    const server = await vllm({ takesAdapters: true });
    writeFileSync(join(runs, "lora", "run.json"), JSON.stringify({ baseModel: model, kind: "adapter", sampler: { vllm: "box" }, temperature: 1 }));
    const [one, two] = await Promise.all(["training:lora@1", "training:lora@2"].map((name) => policies.resolve(name)));
    if (one === undefined || two === undefined) throw new Error("unreachable");
    expect([...server.adapters.values()].toSorted()).toEqual([1, 2].map((step) => publishedFolder(join(runs, "lora"), step)));
    const opened = await Promise.all([bed.open(one), bed.open(two)]);
    await Promise.all(opened.map((open) => ask(open, "how many boats?")));
    expect(opened.map(stampsOf)).toEqual([["lora@1"], ["lora@2"]]);
    expect(server.models.toSorted()).toEqual([...server.adapters.keys()].toSorted());
    expect(one.tokenizerFolder).toBe(model);
    await Promise.all([one.close(), two.close()]);
    const next = await policies.resolve("training:lora@0");
    expect([...server.adapters.values()]).toContain(publishedFolder(join(runs, "lora"), 0));
    await expect.poll(() => server.adapters.size).toBe(1);
    await next.close();
    await policies.close();
    expect(server.adapters.size).toBe(0);
  });

  test("costs what the server costs: every step counts for it, and its limit holds for the run", async () => {
    await vllm({ takesAdapters: true }, { prices: { input: 1e6, output: 1e6 }, spendingLimit: 5 });
    writeFileSync(join(runs, "lora", "run.json"), JSON.stringify({ baseModel: model, kind: "adapter", sampler: { vllm: "box" }, temperature: 1 }));
    const spending = () => policies.list().find(({ definition }) => definition.id === "box")?.spending;
    const [one, two] = [await policies.resolve("training:lora@1"), await policies.resolve("training:lora@2")];
    const [first, second] = [await bed.open(one), await bed.open(two)];
    await ask(first, "how many boats?");
    const [call] = bed.store.callsOf(first.rolloutId);
    expect(spending()).toMatchObject({ calls: 1, promptTokens: call?.promptTokens, completionTokens: call?.completionTokens, limit: 5 });
    expect(spending()?.cost).toBeGreaterThan(5);
    const refused = await second.chat({ model: "m", messages: [{ role: "user", content: "how many sails?" }] });
    expect([refused.status, await refused.text()]).toEqual([402, expect.stringContaining("The policy box has reached its spending limit")]);
    await Promise.all([one.close(), two.close()]);
    policies.remove("box");
  });

  test("a server that takes none, or cannot see the folder, is one sentence with what to do", async () => {
    writeFileSync(join(runs, "lora", "run.json"), JSON.stringify({ baseModel: model, kind: "adapter", sampler: { vllm: "box" } }));
    await vllm({});
    await expect(policies.resolve("training:lora@1")).rejects.toMatchObject({
      message: expect.stringMatching(/^The vLLM server at .* takes no adapters while it runs\.$/),
      remedy: expect.stringContaining("VLLM_ALLOW_RUNTIME_LORA_UPDATING=True"),
    });
    writeFileSync(join(runs, "full", "run.json"), JSON.stringify({ baseModel: model, kind: "weights", sampler: { vllm: "box" } }));
    await expect(policies.resolve("training:full@1")).rejects.toThrow("a vLLM server takes only adapters");
    writeFileSync(join(runs, "full", "run.json"), JSON.stringify({ baseModel: model, kind: "weights", sampler: { vllm: "nowhere" } }));
    await expect(policies.resolve("training:full@1")).rejects.toThrow('the vLLM policy "nowhere", which is not saved here');
  });
});
