/** Many versions in one process: what is under way keeps its weights, and nothing that was read under one is used for another. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plainSampling } from "../../engine/decoding/index.ts";
import { openModelFolder, writeModelFolder } from "../models/index.ts";
import { baseVersion, createSamplerPool, type SamplerLease, type WeightsVersion } from "./index.ts";

const base = "tests/fixtures/models/llama-tied/hf";
const adapter: WeightsVersion = { name: "a@1", source: { kind: "adapter", folder: "tests/fixtures/models/llama-tied/adapter" } };
const wish = { modelFolder: base, lanes: 4, contextWindow: 250, deterministic: true };
const never = new AbortController().signal;
let folder = "";
let pool: ReturnType<typeof createSamplerPool>;

/** The base with its last norm scaled: another model of the same architecture. */
async function scaled(name: string, factor: number): Promise<WeightsVersion> {
  const target = join(folder, name);
  const model = await openModelFolder(base);
  const files = { "config.json": await readFile(join(base, "config.json"), "utf8") };
  const weight = (weight: string): Float32Array =>
    model.weights.values(weight).map((value) => (weight === "model.norm.weight" ? value * factor : value));
  await writeModelFolder(target, { description: model.description, weight, files });
  model.close();
  return { name, source: { kind: "weights", folder: target } };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "openforge-versions-"));
  pool = createSamplerPool({ versionIdleMs: 50 });
});
afterAll(async () => {
  await pool.close();
  await rm(folder, { recursive: true, force: true });
});

interface Said {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly reused: number;
}

async function say(lease: SamplerLease, seed: number, maxTokens = 40): Promise<Said> {
  const promptIds = Int32Array.from({ length: 150 }, (_unused, index) => (index * 7 + 3) % 90);
  const result = await lease.sample({ promptIds, sampling: plainSampling, endIds: [], maxTokens, stopStrings: [], seed }, never);
  if (!result.ok) throw new Error(result.failure.message);
  const { ids, logprobs, reusedTokens } = result.sample;
  return { ids: [...ids], logprobs: [...logprobs], reused: reusedTokens };
}

const spoken = ({ ids, logprobs }: Said) => ({ ids, logprobs });

test("requests under way across swaps keep their weights; prefixes are reused inside a version and never across two", async () => {
  const versions = [baseVersion, adapter, await scaled("w@1", 2), await scaled("w@2", 3)];
  const alone: Said[] = [];
  for (const version of versions) {
    const lease = await pool.acquire(wish, version);
    alone.push(await say(lease, 1));
    expect((await say(lease, 1)).reused).toBe(128);
    lease.release();
  }
  expect(new Set(alone.map(({ logprobs }) => logprobs.join())).size).toBe(versions.length);
  // All at once, each version let go of as soon as its requests are asked: nothing is dropped, and each says what it says alone.
  const asked = versions.map(async (version) => {
    const lease = await pool.acquire(wish, version);
    const answers = [1, 1, 1, 1, 1, 1].map((seed) => say(lease, seed));
    lease.release();
    return Promise.all(answers);
  });
  const together = await Promise.all(asked);
  for (const [index, answers] of together.entries()) for (const answer of answers) expect(spoken(answer)).toEqual(spoken(alone[index] ?? answer));
});

test("a version that nobody holds is gone, and loads anew for the next", async () => {
  const lease = await pool.acquire(wish, adapter);
  const first = await say(lease, 2);
  lease.release();
  await new Promise((resolve) => setTimeout(resolve, 200));
  const next = await pool.acquire(wish, adapter);
  const again = await say(next, 2);
  expect(again.reused).toBe(0);
  expect(spoken(again)).toEqual(spoken(first));
  next.release();
});

test("weights of their own are loaded in a moment", async () => {
  const versions = await Promise.all([4, 5, 6].map((factor) => scaled(`quick@${factor}`, factor)));
  const times: number[] = [];
  for (const version of versions) {
    const start = performance.now();
    const lease = await pool.acquire(wish, version);
    times.push(performance.now() - start);
    lease.release();
  }
  console.log(`loading a version: ${times.map((ms) => ms.toFixed(0)).join(", ")} ms`);
  expect(Math.min(...times)).toBeLessThan(1_000);
});

test.runIf(process.platform === "linux")("a process that dies is started again, with the weights, at the next call", async () => {
  const lease = await pool.acquire({ ...wish, lanes: 3 }, adapter);
  const first = await say(lease, 4);
  const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(process.pid)], { encoding: "utf8" })
    .trim()
    .split(/\s+/)
    .map(Number);
  process.kill(Math.max(...children.filter(isSampler)), "SIGKILL");
  const lost = await lease.sample(
    { promptIds: Int32Array.of(1), sampling: plainSampling, endIds: [], maxTokens: 200, stopStrings: [], seed: 1 },
    never,
  );
  expect(lost).toMatchObject({ ok: false, failure: { kind: "lost" } });
  expect(spoken(await say(lease, 4))).toEqual(spoken(first));
  lease.release();
});

function isSampler(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("sampler");
  } catch {
    return false;
  }
}

test("weights of another architecture are refused in one sentence, and others go on", async () => {
  const wrong = { name: "wrong", source: { kind: "weights", folder: "tests/fixtures/models/qwen2-bias/hf" } } as const;
  await expect(pool.acquire(wish, wrong)).rejects.toThrow("is a model of another architecture than");
  await expect(pool.acquire(wish, { ...wrong, source: { kind: "weights", folder } })).rejects.toThrow("has no config.json");
  const lease = await pool.acquire(wish, baseVersion);
  expect((await say(lease, 3, 4)).ids.length).toBe(4);
  lease.release();
});
