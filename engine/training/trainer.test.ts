import { afterAll, describe, expect, test } from "vitest";
import { openRuntime } from "../../main/engine-runtime/index.ts";
import { type Matrix, matrixLike } from "../algorithms/index.ts";
import { type Adapter, createAdapter, linearKinds, loraInput, type ModelConfig } from "../models/index.ts";
import { seededRandom } from "../statistics/index.ts";
import {
  type Experience,
  namedAlgorithms,
  planMicroBatches,
  policyObjective,
  prepareExperience,
  SequenceModel,
  Trainer,
  TrainingDiverged,
} from "./index.ts";
import { randomSequences, tinyConfigs, tinyModel } from "./tiny-model.test-data.ts";

const runtime = await openRuntime({ threads: 1 });
const opened: SequenceModel[] = [];
afterAll(() => Promise.all(opened.map((model) => model.close())));

const config = tinyConfigs["tied, grouped heads"] as ModelConfig;
const { description, weights } = tinyModel(config);
const lengths = [9, 30, 17, 4, 22, 33, 12, 8];
const sequences = randomSequences(lengths, config.vocabularySize);
const memory = { attentionChunk: 16, headChunk: 64, keepProbabilities: true, checkpointLayers: false, narrowWeights: false };

function parametersOf(adapter: Adapter): Map<string, Float32Array> {
  const entries = [...adapter].flatMap(([module, { a, b }]): [string, Float32Array][] => [
    [loraInput.a(module), a.slice()],
    [loraInput.b(module), b.slice()],
  ]);
  return new Map(entries);
}

function open(positions = 4096) {
  const adapter = createAdapter(description, { rank: 4, alpha: 8, targets: linearKinds, rankStabilised: false }, 6);
  const parameters = parametersOf(adapter);
  const model = new SequenceModel({
    ...{ runtime, description, weights, adapter, parameters, trained: "adapter", memory },
    ...{ withEntropy: true, withValues: false },
  });
  opened.push(model);
  const optimiser = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01 };
  const trainer = new Trainer({ model, parameters, optimiser, clipNorm: 1, stopNorm: 1e4, limits: { positions, longest: 64 } });
  return { trainer, parameters, model };
}

/** 1 on the last third of each sequence. */
const mask: Matrix = { rows: lengths.length, width: 32, values: new Float64Array(lengths.length * 32) };
for (const [row, length] of lengths.entries()) mask.values.fill(1, row * 32 + Math.floor((length * 2) / 3), row * 32 + length - 1);

describe("supervised training", () => {
  test("lowers the loss", async () => {
    const { trainer } = open();
    const losses: number[] = [];
    for (let step = 0; step < 25; step += 1) losses.push((await trainer.supervisedStep(sequences, mask, { rate: 0.02 }))?.loss ?? Number.NaN);
    expect(losses.at(-1)).toBeLessThan(0.6 * (losses[0] ?? 0));
  });

  test("micro-batches give what one batch gives", async () => {
    const [whole, pieces] = [open(), open(32)];
    const first = await whole.trainer.supervisedStep(sequences, mask, { rate: 0.01 });
    const second = await pieces.trainer.supervisedStep(sequences, mask, { rate: 0.01 });
    expect(second?.microBatches).toBeGreaterThan(first?.microBatches ?? 99);
    expect(second?.loss).toBeCloseTo(first?.loss ?? 0, 6);
    expect(second?.norm).toBeCloseTo(first?.norm ?? 0, 5);
  });

  test("a resumed run continues to the bit", async () => {
    const steps = async (trainer: Trainer, from: number, to: number) => {
      for (let step = from; step < to; step += 1) await trainer.supervisedStep(sequences, mask, { rate: 0.01 });
    };
    const [whole, before, after] = [open(), open(), open()];
    await steps(whole.trainer, 0, 4);
    await steps(before.trainer, 0, 2);
    for (const [name, values] of before.parameters) after.parameters.get(name)?.set(values);
    after.trainer.restore(before.trainer.state);
    await steps(after.trainer, 2, 4);
    expect(after.parameters).toEqual(whole.parameters);
    expect(after.trainer.state.step).toBe(4);
  });

  test("nothing to train is a skipped step, sequences beyond the limit are named and left out", async () => {
    const { trainer } = open();
    expect(await trainer.supervisedStep(sequences, matrixLike(mask), { rate: 1 })).toBeNull();
    const long = [...sequences.slice(0, 7), ...randomSequences([65], config.vocabularySize)];
    const wide: Matrix = { rows: 8, width: 64, values: new Float64Array(8 * 64).fill(1) };
    const report = await trainer.supervisedStep(long, wide, { rate: 0.01 });
    expect(report?.tooLong).toEqual([7]);
    expect(report?.trainedTokens).toBe(7 * 64);
  });

  test("a run that diverges names step and tensor", async () => {
    const { trainer, parameters } = open();
    const [name] = parameters.keys();
    parameters.get(name ?? "")?.fill(Number.NaN);
    const failed = trainer.supervisedStep(sequences, mask, { rate: 0.01 });
    await expect(failed).rejects.toBeInstanceOf(TrainingDiverged);
    await expect(failed).rejects.toThrow(/step 1, micro-batch 1 of 1: a gradient that is no number in model\.layers/);
  });

  test("stops between micro-batches", async () => {
    const { trainer, parameters } = open(32);
    const controller = new AbortController();
    const before = new Map([...parameters].map(([name, values]) => [name, values.slice()]));
    const done: number[] = [];
    const onProgress = (count: number) => {
      done.push(count);
      if (count === 2) controller.abort(new Error("cancelled"));
    };
    await expect(trainer.supervisedStep(sequences, mask, { rate: 0.01, signal: controller.signal, onProgress })).rejects.toThrow("cancelled");
    expect(done).toEqual([1, 2]);
    expect(parameters).toEqual(before);
  });
});

describe("policy training", () => {
  const rollouts = [1, 0, 0.5, 1, 1].map((reward, index) => ({ reward, group: index < 3 ? "a" : "b", length: 40 }));
  const rolloutOfRow = [0, 0, 1, 2, 2, 3, 4, 4];

  async function steps(count: number, positions: number) {
    const { trainer, parameters } = open(positions);
    const algorithm = namedAlgorithms.grpo;
    const reports = [];
    let changed = 0;
    for (let step = 0; step < count; step += 1) {
      const known = await trainer.score(sequences);
      const experience: Experience = {
        rollouts,
        rolloutOfRow,
        mask,
        old: known.logprobs,
        sampler: known.logprobs,
        reference: known.logprobs,
        values: null,
      };
      const prepared = prepareExperience(experience, algorithm, 0);
      const objective = (scores: typeof known) => policyObjective(algorithm, experience, prepared, scores);
      reports.push(await trainer.policyStep(sequences, prepared.mask, objective, { rate: 0.01, known }));
      const after = (await trainer.score(sequences)).logprobs;
      changed = prepared.advantages.values.reduce(
        (sum, advantage, index) => sum + advantage * ((after.values[index] ?? 0) - (known.logprobs.values[index] ?? 0)),
        0,
      );
    }
    return { reports, parameters, changed };
  }

  test("makes better rollouts likelier, and two runs are equal to the bit", async () => {
    const [first, second] = [await steps(3, 64), await steps(3, 64)];
    expect(first.parameters).toEqual(second.parameters);
    expect(first.changed).toBeGreaterThan(0);
    expect(first.reports[0]?.metrics).toMatchObject({ clipFraction: 0, divergence: 0 });
  });

  test("scores that are known spare a pass and change nothing", async () => {
    const [one, two] = [open(), open()];
    const objective = (scores: { logprobs: Matrix }) => ({
      loss: 0,
      metrics: {},
      coefficients: { byLogprob: { ...mask, values: mask.values.map((trained, index) => -trained * Math.exp(scores.logprobs.values[index] ?? 0)) } },
    });
    let passes = 0;
    const onProgress = () => {
      passes += 1;
    };
    await one.trainer.policyStep(sequences, mask, objective, { rate: 0.01, onProgress });
    const counted = passes;
    await two.trainer.policyStep(sequences, mask, objective, { rate: 0.01, known: await two.trainer.score(sequences), onProgress });
    expect(passes).toBe(counted + counted / 2);
    expect(one.parameters).toEqual(two.parameters);
  });
});

describe("experience", () => {
  const tokens: Matrix = { rows: 4, width: 3, values: Float64Array.of(1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1) };
  const zeros = matrixLike(tokens);
  const experience: Experience = {
    rollouts: [
      { reward: 1, group: "a", length: 10 },
      { reward: 0, group: "a", length: 10 },
      { reward: 2, group: "b", length: 10 },
    ],
    rolloutOfRow: [0, 0, 1, 2],
    mask: tokens,
    old: zeros,
    sampler: null,
    reference: null,
    values: zeros,
  };

  test("chains of a rollout share one advantage; a group of one keeps its score", () => {
    const { advantages, flatGroupShare } = prepareExperience(experience, namedAlgorithms.grpo, 0);
    const a = Math.SQRT1_2 * (1 / (1 + 1e-6 * Math.SQRT2));
    expect([...advantages.values].map((value) => Number(value.toFixed(5)))).toEqual(
      [a, a, 0, 0, a, a, -a, 0, -a, 2, 2, 2].map((value) => Number((value / (value === 2 ? 1 + 1e-6 : 1)).toFixed(5))),
    );
    expect(flatGroupShare).toBe(0);
  });

  test("a group of equal rewards is dropped where the algorithm says so", () => {
    const flat = { ...experience, rollouts: experience.rollouts.map((rollout) => ({ ...rollout, reward: 1 })) };
    const { mask: kept, flatGroupShare } = prepareExperience(flat, namedAlgorithms.dapo, 0);
    expect([...kept.values]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
    expect(flatGroupShare).toBe(0.5);
  });

  const only = (...indices: number[]): Matrix => ({ ...tokens, values: tokens.values.map((_value, index) => (indices.includes(index) ? 1 : 0)) });
  const equal = experience.rollouts.map((rollout) => ({ ...rollout, reward: 1, group: "a" }));
  test.each([
    ["grpo", { mask: only() }, "no token of the batch is trained"],
    ["dapo", { rollouts: equal }, "equal"],
    ["reinforce++", { mask: only() }, "no token"],
    ["reinforce++", { mask: only(0) }, "whitened"],
    ["reinforce++-baseline", { mask: only(1) }, "whitened"],
    ["ppo", { mask: only(0) }, "whitened"],
  ] as const)("%s skips a batch that leaves nothing to train, and says why", (name, change, why) => {
    const prepared = prepareExperience({ ...experience, ...change }, namedAlgorithms[name], 0.001);
    expect(prepared.skipped).toContain(why);
    expect([...prepared.mask.values, ...prepared.advantages.values].every((value) => value === 0)).toBe(true);
  });

  test("a batch of tokens that sampler and trainer disagree on is skipped", () => {
    const sampler: Matrix = { ...zeros, values: zeros.values.map(() => -9) };
    const rejection = [{ statistic: "k1", level: "token", low: 0.5, high: 2 }] as const;
    const rejecting = { ...namedAlgorithms["reinforce++"], correction: { importance: null, rejection } };
    expect(prepareExperience({ ...experience, sampler }, rejecting, 0).skipped).toContain("too far apart");
  });

  test("divergence in the reward and the penalty on length lower the score", () => {
    const further: Matrix = { ...zeros, values: zeros.values.map(() => 0.5) };
    const algorithm = { ...namedAlgorithms["dr-grpo"], divergence: { place: "reward", estimator: "k1", coefficient: 0.1, adaptive: null } } as const;
    const { advantages, divergenceInReward } = prepareExperience({ ...experience, old: further, reference: zeros }, algorithm, 0.1);
    // Rollout 0 has four trained tokens, rollout 1 two: 1 − 0.2 and 0 − 0.1, less their mean.
    expect(advantages.values[0]).toBeCloseTo(0.45, 12);
    expect(divergenceInReward).toBeCloseTo(0.5, 6);
    const long = { ...experience, rollouts: experience.rollouts.map((rollout, index) => ({ ...rollout, length: index === 0 ? 100 : 10 })) };
    const shaped = prepareExperience(long, { ...namedAlgorithms["dr-grpo"], overlong: { limit: 100, buffer: 50, factor: 1 } }, 0);
    expect(shaped.advantages.values[0]).toBeCloseTo(0, 12);
  });

  test("tokens that the sampler saw otherwise weigh less", () => {
    const sampler: Matrix = { ...zeros, values: zeros.values.map((_value, index) => (index === 0 ? -9 : 0)) };
    const { correction } = prepareExperience({ ...experience, sampler }, namedAlgorithms.grpo, 0);
    expect(correction?.weights?.values[0]).toBe(2);
    expect(correction?.weights?.values[1]).toBe(1);
  });

  test.each(Object.entries(namedAlgorithms))("%s runs from experience to coefficients", (_name, algorithm) => {
    const random = seededRandom(3);
    const noise: Matrix = { ...zeros, values: zeros.values.map(() => -random()) };
    const full = { ...experience, sampler: noise, reference: noise, old: { ...noise, values: noise.values.map((value) => value - 0.1) } };
    const prepared = prepareExperience(full, algorithm, algorithm.divergence?.coefficient ?? 0);
    const { loss, coefficients } = policyObjective(algorithm, full, prepared, { logprobs: noise, entropy: noise, values: noise });
    expect(Number.isFinite(loss)).toBe(true);
    expect(coefficients.byLogprob.values.some((value) => value !== 0)).toBe(true);
    tokens.values.forEach((trained, index) => {
      if (trained === 0) expect(coefficients.byLogprob.values[index]).toBe(0);
    });
    expect(coefficients.byValue === undefined).toBe(algorithm.value === null);
  });
});

describe("micro-batches", () => {
  test("hold every sequence once, inside the bucket and the limit", () => {
    const many = Array.from({ length: 60 }, (_unused, index) => 2 + ((index * 37) % 300));
    const { batches, tooLong } = planMicroBatches(many, { positions: 512, longest: 256 });
    expect([...batches.flatMap(({ members }) => members), ...tooLong].toSorted((left, right) => left - right)).toEqual(
      many.map((_length, index) => index),
    );
    for (const { placement } of batches) expect(placement.rows * placement.width).toBeLessThanOrEqual(512);
    expect(tooLong.every((index) => (many[index] ?? 0) > 256)).toBe(true);
  });
});
