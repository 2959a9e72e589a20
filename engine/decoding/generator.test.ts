import { afterAll, describe, expect, test } from "vitest";
import { openRuntime } from "../../main/engine-runtime/index.ts";
import { type Adapter, createAdapter, linearKinds, loraInput, type ModelConfig } from "../models/index.ts";
import { deriveSeed, seededRandom } from "../statistics/index.ts";
import { placeInRows, SequenceModel } from "../training/index.ts";
import { randomSequences, tinyConfigs, tinyModel } from "../training/tiny-model.test-data.ts";
import { adapterFeeds, ContextOverflow, DecoderModel, type GenerationRequest, Generator, type GeneratorOptions, plainSampling } from "./index.ts";

const runtime = await openRuntime({ threads: 2 });
const opened: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(opened.map((model) => model.close())));

const capacity = 128;
const config = tinyConfigs["norms of queries and keys"] as ModelConfig;
const { description, weights } = tinyModel(config);
const shape = createAdapter(description, { rank: 2, alpha: 4, targets: linearKinds, rankStabilised: false }, 1);

/** An adapter that changes the model a good deal. */
function strongAdapter(seed: number): Adapter {
  const random = seededRandom(seed);
  return new Map([...shape].map(([module, lora]) => [module, { ...lora, b: lora.b.map(() => random() - 0.5) }]));
}
const versions: Readonly<Record<string, Adapter>> = { base: shape, one: strongAdapter(11), two: strongAdapter(12) };

async function open(lanes: number, options: Partial<GeneratorOptions> = {}): Promise<Generator> {
  const model = await DecoderModel.open({ runtime, description, weights, adapter: shape, lanes, capacity });
  opened.push(model);
  const generator = new Generator(model, { deterministic: false, chunk: 16, parkedBytes: 1 << 20, ...options });
  for (const [name, adapter] of Object.entries(versions)) generator.publish(name, adapterFeeds(adapter));
  return generator;
}

function request(promptIds: Int32Array, changes: Partial<GenerationRequest> = {}, maxTokens = 12): GenerationRequest {
  const stop = { endIds: [], maxTokens, stopStrings: [], decoder: null };
  return { promptIds, sampling: plainSampling, stop, seed: 7, version: "base", ...changes };
}

const prompts = randomSequences([1, 5, 17, 40, 33, 64, 16, 90, 3], config.vocabularySize);

/** Log-probabilities of each token by the scoring graph. */
async function scored(sequence: Int32Array, version: string): Promise<Float64Array> {
  const parameters = new Map<string, Float32Array>();
  for (const [module, { a, b }] of versions[version] ?? []) parameters.set(loraInput.a(module), a).set(loraInput.b(module), b);
  const memory = { attentionChunk: 64, headChunk: 64, keepProbabilities: true, checkpointLayers: false, narrowWeights: false };
  const options = { runtime, description, weights, adapter: shape, parameters, trained: "adapter" as const };
  const model = new SequenceModel({ ...options, withEntropy: false, withValues: false, memory });
  const placement = placeInRows([sequence.length], { rows: 1, width: sequence.length - 1 });
  const { logprobs } = await model.score({ sequences: [sequence], placement });
  await model.close();
  return logprobs.values;
}

function joined(prompt: Int32Array, ids: ArrayLike<number> & Iterable<number>): Int32Array {
  return Int32Array.from([...prompt, ...ids]);
}

describe.each([
  ["free", false],
  ["deterministic", true],
])("%s mode", (_name, deterministic) => {
  test("sampled log-probabilities are those of the scoring graph, requests of several versions at once", async () => {
    const generator = await open(3, { deterministic });
    const names = Object.keys(versions);
    const results = await Promise.all(
      prompts.map((prompt, index) => generator.generate(request(prompt, { version: names[index % 3] ?? "base", seed: index }))),
    );
    for (const [index, { ids, logprobs, ending }] of results.entries()) {
      const prompt = prompts[index] ?? new Int32Array();
      const expected = (await scored(joined(prompt, ids), names[index % 3] ?? "base")).subarray(prompt.length - 1);
      expect(ending.reason).toBe("length");
      expect(ids.length).toBe(12);
      expect(Math.max(...expected.map((value, at) => Math.abs(value - (logprobs[at] ?? Number.NaN))))).toBeLessThan(1e-4);
    }
  });

  test("a growing conversation reads only what is new", async () => {
    const generator = await open(2, { deterministic });
    let prompt = prompts[4] ?? new Int32Array();
    const first = await generator.generate(request(prompt));
    prompt = Int32Array.from([...prompt, ...first.ids, 1, 2, 3]);
    const second = await generator.generate(request(prompt, { seed: 8 }));
    // Free: everything but the last sampled token, which was never read. Deterministic: whole chunks of 16 of the first prompt.
    expect(second.reusedTokens).toBe(deterministic ? 32 : 33 + 11);
    const expected = (await scored(joined(prompt, second.ids), "base")).subarray(prompt.length - 1);
    expect(Math.max(...expected.map((value, at) => Math.abs(value - (second.logprobs[at] ?? Number.NaN))))).toBeLessThan(1e-4);
    expect(generator.counts).toMatchObject({ promptTokens: 33 + 48, sampledTokens: 24, readTokens: 33 + 48 - second.reusedTokens });
  });
});

test("deterministic mode repeats to the bit in any order of arrival and with other lanes busy", async () => {
  const run = async (order: readonly number[], lanes: number) => {
    const generator = await open(4, { deterministic: true, parkedBytes: lanes === 4 ? 0 : 1 << 20 });
    const results = new Map<number, { ids: Int32Array; logprobs: Float32Array }>();
    await Promise.all(
      order.map(async (index) => {
        const prompt = prompts[index] ?? new Int32Array();
        const { ids, logprobs } = await generator.generate(
          request(prompt, { seed: deriveSeed("run", index), version: index % 2 === 0 ? "one" : "two" }),
        );
        const longer = await generator.generate(
          request(joined(prompt, ids), { seed: deriveSeed("run", index, 2), version: index % 2 === 0 ? "one" : "two" }),
        );
        results.set(index, { ids: joined(ids, longer.ids), logprobs: Float32Array.from([...logprobs, ...longer.logprobs]) });
      }),
    );
    return order.toSorted((left, right) => left - right).map((index) => results.get(index));
  };
  const all = prompts.map((_prompt, index) => index);
  expect(await run(all.toReversed(), 4)).toEqual(await run(all, 5));
});

test("a branch reuses what it shares with a busy lane, and a parked conversation comes back", async () => {
  const generator = await open(1);
  const main = prompts[5] ?? new Int32Array();
  const first = await generator.generate(request(main));
  await generator.generate(request(prompts[7] ?? new Int32Array()));
  const back = await generator.generate(request(joined(main, first.ids)));
  expect(back.reusedTokens).toBe(64 + 11);
  const two = await open(2);
  const branch = Int32Array.from([...main.subarray(0, 50), 5, 5]);
  const [whole, other] = await Promise.all([two.generate(request(main, {}, 40)), Promise.resolve().then(() => two.generate(request(branch)))]);
  expect(whole.reusedTokens).toBe(0);
  const again = await two.generate(request(branch, { seed: 9 }));
  expect(other.ids.length).toBe(12);
  expect(again.reusedTokens).toBe(51);
});

test("another version reuses nothing, and a version in use cannot be retired", async () => {
  const generator = await open(1);
  const prompt = prompts[3] ?? new Int32Array();
  const pending = generator.generate(request(prompt, { version: "one" }));
  expect(() => generator.retire("one")).toThrow("in use");
  await pending;
  expect((await generator.generate(request(prompt, { version: "two" }))).reusedTokens).toBe(0);
  generator.retire("one");
  await expect(generator.generate(request(prompt, { version: "one" }))).rejects.toThrow("has not been published");
  expect(() => generator.publish("two", {})).toThrow("before");
});

test("an abort frees the lane at once; other requests go on", async () => {
  const generator = await open(1);
  const controller = new AbortController();
  const long = generator.generate(request(prompts[0] ?? new Int32Array(), {}, 100), controller.signal);
  const waiting = generator.generate(request(prompts[1] ?? new Int32Array(), {}, 4));
  controller.abort(new Error("the harness hung up"));
  await expect(long).rejects.toThrow("hung up");
  expect((await waiting).ids.length).toBe(4);
});

test("the limit is what the context leaves; a prompt without room is refused", async () => {
  const generator = await open(1);
  const prompt = Int32Array.from({ length: capacity - 3 }, (_unused, index) => index % config.vocabularySize);
  const { ids, ending } = await generator.generate(request(prompt, {}, 50));
  expect(ids.length).toBe(2);
  expect(ending.reason).toBe("length");
  await expect(generator.generate(request(new Int32Array(capacity - 1)))).rejects.toBeInstanceOf(ContextOverflow);
  await expect(generator.generate(request(new Int32Array()))).rejects.toThrow("no tokens");
});

test("a failing run rejects what is under way, and the next request works", async () => {
  const generator = await open(1);
  await expect(generator.generate(request(Int32Array.of(config.vocabularySize + 5)))).rejects.toThrow();
  expect((await generator.generate(request(Int32Array.of(1)))).ids.length).toBe(12);
});

test("requests that begin alike and come at once read what they share once", async () => {
  const generator = await open(3);
  const [shared = new Int32Array(), ...others] = randomSequences([40, 5, 5], config.vocabularySize, 21);
  const alike = [shared, ...others.map((rest) => joined(shared, [...rest]))];
  const results = await Promise.all(alike.map((prompt, index) => generator.generate(request(prompt, { seed: index }))));
  expect(results.map(({ reusedTokens }) => reusedTokens)).toEqual([0, 40, 40]);
  for (const [index, { ids, logprobs }] of results.entries()) {
    const prompt = alike[index] ?? new Int32Array();
    const expected = (await scored(joined(prompt, ids), "base")).subarray(prompt.length - 1);
    expect(Math.max(...expected.map((value, at) => Math.abs(value - (logprobs[at] ?? Number.NaN))))).toBeLessThan(1e-4);
  }
});
