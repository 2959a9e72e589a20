import { afterAll, describe, expect, test } from "vitest";
import { openRuntime } from "../../main/engine-runtime/index.ts";
import { type Matrix, matrixLike } from "../algorithms/index.ts";
import { createAdapter, linearKinds, type MemoryPlan, type ModelConfig, weightShapes } from "../models/index.ts";
import { seededRandom } from "../statistics/index.ts";
import {
  type FloatArray,
  OpenSessions,
  packIntoRows,
  parameterShapes,
  placeInRows,
  type Scores,
  type SequenceBatch,
  SequenceModel,
} from "./index.ts";
import { randomSequences, tinyConfigs, tinyModel } from "./tiny-model.test-data.ts";

const runtime = await openRuntime({ threads: 1 });
const opened: SequenceModel[] = [];
afterAll(() => Promise.all(opened.map((model) => model.close())));

const simple: MemoryPlan = { attentionChunk: 64, headChunk: 64, keepProbabilities: true, checkpointLayers: false, narrowWeights: false };
const sparing: MemoryPlan = { attentionChunk: 3, headChunk: 5, keepProbabilities: false, checkpointLayers: true, narrowWeights: false };
const lengths = [7, 3, 5];
const rows = placeInRows(lengths, { rows: 4, width: 8 });

function open(config: ModelConfig, trained: "adapter" | "weights", float: "float32" | "float64", memory: MemoryPlan, sessions?: OpenSessions) {
  const { description, weights } = tinyModel(config);
  const settings = { rank: 2, alpha: 6, targets: linearKinds, rankStabilised: true };
  const adapter = trained === "adapter" ? createAdapter(description, settings, 4) : null;
  const random = seededRandom(8);
  const typed = (values: ArrayLike<number>): FloatArray => (float === "float64" ? Float64Array.from(values) : Float32Array.from(values));
  const parameters = new Map<string, FloatArray>();
  for (const [name, shape] of parameterShapes({ description, adapter, trained, withValues: true })) {
    const size = shape.reduce((product, length) => product * length, 1);
    const stored = weightShapes(description).has(name) ? weights.values(name) : Array.from({ length: size }, () => random() - 0.5);
    parameters.set(name, typed(stored));
  }
  const base = trained === "adapter" ? weights : null;
  const model = new SequenceModel({
    ...{ runtime, description, adapter, parameters, trained, memory, float },
    ...{ weights: base, withEntropy: true, withValues: true, ...(sessions === undefined ? {} : { sessions }) },
  });
  opened.push(model);
  return { model, parameters };
}

function batch(config: ModelConfig, placement = rows, temperature = 1): SequenceBatch {
  return { sequences: randomSequences(lengths, config.vocabularySize), placement, temperature };
}

/** Random coefficients on the tokens that exist. */
function coefficients(width: number): { byLogprob: Matrix; byEntropy: Matrix; byValue: Matrix } {
  const random = seededRandom(2);
  const shape: Matrix = { rows: lengths.length, width, values: new Float64Array(lengths.length * width) };
  const filled = (): Matrix => {
    const matrix = matrixLike(shape);
    lengths.forEach((length, row) => {
      for (let column = 0; column < length - 1; column += 1) matrix.values[row * width + column] = random() - 0.5;
    });
    return matrix;
  };
  return { byLogprob: filled(), byEntropy: filled(), byValue: filled() };
}

function objective({ logprobs, entropy, values }: Scores, { byLogprob, byEntropy, byValue }: ReturnType<typeof coefficients>): number {
  const dot = (left: Matrix | null, right: Matrix): number =>
    (left?.values ?? []).reduce((sum, value, index) => sum + value * (right.values[index] ?? 0), 0);
  return dot(logprobs, byLogprob) + dot(entropy, byEntropy) + dot(values, byValue);
}

function largestDifference(left: ReadonlyMap<string, FloatArray>, right: ReadonlyMap<string, FloatArray>): number {
  return Math.max(
    ...[...left].map(([name, values]) => {
      const other = right.get(name);
      const largest = Math.max(...Array.from(values, Math.abs), 1e-3);
      return Math.max(...Array.from(values, (value, index) => Math.abs(value - (other?.[index] ?? Number.NaN)))) / largest;
    }),
  );
}

describe.each(Object.entries(tinyConfigs))("%s", (_name, config) => {
  test.each([
    ["adapter", 1, simple],
    ["adapter", 0.7, sparing],
    ["weights", 0.7, simple],
    ["weights", 1, sparing],
  ] as const)("float64 gradients of the %s at temperature %f agree with central differences", async (trained, temperature, memory) => {
    const { model, parameters } = open(config, trained, "float64", memory);
    const one = batch(config, rows, temperature);
    const given = coefficients(6);
    const { gradients } = await model.gradients(one, given);
    const copies = new Map([...gradients].map(([name, values]) => [name, values.slice()]));
    let worst = 0;
    for (const [name, gradient] of copies) {
      const values = parameters.get(name) ?? new Float64Array();
      const largest = Math.max(...Array.from(gradient, Math.abs));
      const index = Math.floor(gradient.length / 3);
      const original = values[index] ?? 0;
      const at = async (value: number): Promise<number> => {
        values[index] = value;
        return objective(await model.score(one), given);
      };
      const slope = ((await at(original + 1e-5)) - (await at(original - 1e-5))) / 2e-5;
      values[index] = original;
      worst = Math.max(worst, Math.abs(slope - (gradient[index] ?? 0)) / largest);
    }
    expect(copies.size).toBe(parameters.size);
    expect(worst).toBeLessThan(1e-7);
  });

  test("float32 with fused kernels, sparing memory, packed: the same scores and gradients", async () => {
    const exact = open(config, "weights", "float64", simple);
    const packed = open(config, "weights", "float32", sparing);
    const given = coefficients(6);
    const expected = await exact.model.gradients(batch(config), given);
    const found = await packed.model.gradients(batch(config, packIntoRows(lengths, { rows: 2, width: 6 })), given);
    expect(found.scores.logprobs.values.every((value, index) => Math.abs(value - (expected.scores.logprobs.values[index] ?? 0)) < 1e-5)).toBe(true);
    expect(largestDifference(expected.gradients, found.gradients)).toBeLessThan(2e-5);
  });
});

test("the second call on a bucket gives the same to the bit", async () => {
  const [config] = Object.values(tinyConfigs);
  if (config === undefined) throw new Error("unreachable");
  const { model } = open(config, "adapter", "float32", simple);
  const first = (await model.gradients(batch(config), coefficients(6))).gradients;
  const copies = new Map([...first].map(([name, values]) => [name, values.slice()]));
  await model.score(batch(config));
  expect((await model.gradients(batch(config), coefficients(6))).gradients).toEqual(copies);
});

test("models that share little memory give the same to the bit as with sessions of their own", async () => {
  const [config] = Object.values(tinyConfigs);
  if (config === undefined) throw new Error("unreachable");
  const results: unknown[] = [];
  for (const sessions of [undefined, new OpenSessions(1)]) {
    const [one, other] = [open(config, "adapter", "float32", simple, sessions), open(config, "weights", "float32", sparing, sessions)];
    for (const { model } of [one, other, one]) {
      const { gradients, scores } = await model.gradients(batch(config), coefficients(6));
      results.push(
        [...gradients.values()].map((values) => values.slice()),
        scores.logprobs,
        (await model.score(batch(config))).logprobs,
      );
    }
  }
  expect(results).toHaveLength(18);
  expect(results.slice(9)).toEqual(results.slice(0, 9));
});

describe("placement", () => {
  test("packs the longest first and names what does not fit", () => {
    expect(packIntoRows([5, 3, 4], { rows: 2, width: 6 }).places).toEqual([
      { row: 0, start: 0, length: 4 },
      { row: 0, start: 4, length: 2 },
      { row: 1, start: 0, length: 3 },
    ]);
    expect(() => packIntoRows([5, 5], { rows: 1, width: 6 })).toThrow("does not fit into 1 rows of 6");
    expect(() => placeInRows([1], { rows: 1, width: 6 })).toThrow("nothing to predict");
  });
});
