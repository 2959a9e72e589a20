import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { plainSampling } from "../../engine/decoding/index.ts";
import { importGguf } from "../models/index.ts";
import { baseVersion, openSampler, type SampleRequest, type Sampler, type SamplerOptions } from "./index.ts";

const fixtures = "tests/fixtures";
const opened: Sampler[] = [];
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "openforge-sampler-"));
});
afterAll(async () => {
  for (const sampler of opened) await sampler.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(changes: Partial<SamplerOptions> = {}): Promise<Sampler> {
  const options = {
    modelFolder: `${fixtures}/models/llama-tied/hf`,
    lanes: 2,
    contextWindow: 250,
    deterministic: false,
    parkedBytes: 0,
    threads: 1,
  };
  const sampler = await openSampler({ ...options, ...changes });
  opened.push(sampler);
  await sampler.publish(baseVersion);
  return sampler;
}

function request(promptIds: readonly number[], changes: Partial<SampleRequest> = {}): SampleRequest {
  const greedy = { ...plainSampling, temperature: 0 };
  return {
    promptIds: Int32Array.from(promptIds),
    sampling: greedy,
    endIds: [],
    maxTokens: 24,
    stopStrings: [],
    seed: 1,
    version: baseVersion.name,
    ...changes,
  };
}

const never = new AbortController().signal;

test("answers as the reference does, and its adapter changes the answer", async () => {
  const caseText = await readFile(`${fixtures}/models/llama-tied/case.json`, "utf8");
  const { greedy } = z
    .object({ greedy: z.array(z.object({ prompt: z.array(z.number()), output: z.array(z.number()) })) })
    .parse(JSON.parse(caseText));
  const sampler = await open();
  expect(sampler.info).toMatchObject({ contextWindow: 250, lanes: 2, provider: { name: "cpu" }, writesInPlace: true });
  const results = await Promise.all(greedy.map(({ prompt }) => sampler.sample(request(prompt), never)));
  expect(results.map((result) => (result.ok ? [...result.sample.ids] : result.failure))).toEqual(greedy.map(({ output }) => output));
  await sampler.publish({ name: "adapter", source: { kind: "adapter", folder: `${fixtures}/models/llama-tied/adapter` } });
  const prompt = greedy[1]?.prompt ?? [];
  const adapted = await sampler.sample(request(prompt, { version: "adapter" }), never);
  expect(adapted.ok && [...adapted.sample.ids]).not.toEqual(greedy[1]?.output);
  await sampler.retire("adapter");
  expect(await sampler.sample(request(prompt, { version: "adapter" }), never)).toMatchObject({ ok: false, failure: { kind: "failed" } });
  expect((await sampler.counts()).sampledTokens).toBe(24 * (greedy.length + 1));
  const other = { kind: "adapter", folder: `${fixtures}/models/qwen2-bias/adapter` } as const;
  await expect(sampler.publish({ name: "other", source: other })).rejects.toThrow("models/qwen2-bias/adapter cannot be loaded");
});

test("a stop string ends the answer; a long prompt is a failure of its own kind", async () => {
  const model = join(folder, "tiny");
  await importGguf(`${fixtures}/gguf/tiny-llama.gguf`, model);
  const sampler = await open({ modelFolder: model });
  const whole = await sampler.sample(request([274, 602, 724]), never);
  if (!whole.ok) throw new Error(whole.failure.message);
  const { loadTokenizer } = await import("../../engine/tokenizers/index.ts");
  const tokenizer = loadTokenizer(await readFile(join(model, "tokenizer.json"), "utf8"));
  const pieces = tokenizer.decodePieces(whole.sample.ids);
  const stop = pieces[6] ?? "";
  const stopped = await sampler.sample(request([274, 602, 724], { stopStrings: [stop] }), never);
  const kept = pieces.indexOf(stop);
  expect(stopped).toMatchObject({ ok: true, sample: { reason: "stop-string", ids: whole.sample.ids.slice(0, kept) } });
  const long = await sampler.sample(request(Array(300).fill(5)), never);
  expect(long).toMatchObject({ ok: false, failure: { kind: "context-overflow" } });
});

describe("ends", () => {
  test("a cancelled request rejects with the signal's reason, others go on", async () => {
    const sampler = await open({ lanes: 1 });
    const controller = new AbortController();
    const long = sampler.sample(request([1], { maxTokens: 240 }), controller.signal);
    const next = sampler.sample(request([2], { maxTokens: 2 }), never);
    controller.abort(new Error("hung up"));
    await expect(long).rejects.toThrow("hung up");
    expect(await next).toMatchObject({ ok: true });
  });

  test("what a dead process was asked fails as lost", async () => {
    const sampler = await open();
    const pending = sampler.sample(request([1], { maxTokens: 240 }), never);
    await sampler.close();
    expect(await pending).toMatchObject({ ok: false, failure: { kind: "lost" } });
    expect(sampler.alive).toBe(false);
    expect(await sampler.sample(request([1]), never)).toMatchObject({ ok: false, failure: { kind: "lost" } });
  });

  test("a model that cannot be loaded is said in one sentence", async () => {
    await expect(open({ modelFolder: folder })).rejects.toThrow(/cannot be loaded: .* has no config\.json/);
  });
});
