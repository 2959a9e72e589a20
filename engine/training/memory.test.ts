import { describe, expect, test } from "vitest";
import { createAdapter, describeModel, linearKinds, type ModelConfig } from "../models/index.ts";
import { choosePlan, estimateMemory, memoryPlans, type TrainingSize } from "./index.ts";

/** SmolLM2-135M. */
const config: ModelConfig = {
  ...{ family: "llama", vocabularySize: 49_152, hiddenSize: 576, layerCount: 30, headCount: 9, keyValueHeadCount: 3, headSize: 64 },
  ...{ feedForwardSize: 1536, normEpsilon: 1e-5, ropeTheta: 1e5, ropeScaling: null, tiedEmbeddings: true, biases: [], queryKeyNorm: false },
  contextLength: 8192,
};
/** 121 million parameters, with norms of queries and keys. */
const normalisedConfig: ModelConfig = {
  ...{ ...config, family: "qwen3", vocabularySize: 50_304, hiddenSize: 768, layerCount: 12, headCount: 12, keyValueHeadCount: 4 },
  ...{ feedForwardSize: 2304, queryKeyNorm: true },
};

function sizeOf(of: ModelConfig): TrainingSize {
  const description = describeModel(of);
  const adapter = createAdapter(description, { rank: 16, alpha: 32, targets: linearKinds, rankStabilised: false }, 1);
  return { description, adapter, trained: "adapter", weightBytes: 4, rows: 1, width: 512 };
}

const size = sizeOf(config);
const normalised = sizeOf(normalisedConfig);
const { description } = size;
const megabyte = 1 << 20;

describe("memory of a step", () => {
  test("lies near the measured peaks of whole processes at 512 tokens", () => {
    const base = { attentionChunk: 256, headChunk: 256, keepProbabilities: true, checkpointLayers: false, narrowWeights: false };
    const again = { keepProbabilities: false, headChunk: 128 };
    const measured: readonly [TrainingSize, Partial<typeof base>, megabytes: number][] = [
      [size, {}, 1547],
      [size, { keepProbabilities: false }, 1359],
      [size, again, 1290],
      [size, { checkpointLayers: true }, 1021],
      [size, { ...again, checkpointLayers: true }, 1018],
      [normalised, {}, 1199],
      [normalised, { keepProbabilities: false }, 1099],
      [normalised, again, 1054],
      [normalised, { checkpointLayers: true }, 896],
      [normalised, { ...again, checkpointLayers: true }, 848],
    ];
    for (const [one, changes, megabytes] of measured) {
      const ratio = estimateMemory(one, { ...base, ...changes }).total / 1e6 / megabytes;
      expect(ratio).toBeGreaterThan(0.9);
      expect(ratio).toBeLessThan(1.1);
    }
  });

  test("all weights trained: four times their size beside the activations", () => {
    const estimate = estimateMemory({ ...size, adapter: null, trained: "weights" }, memoryPlans(description, false)[0] ?? ({} as never));
    expect(estimate.mappedWeights).toBe(0);
    expect(estimate.gradients + estimate.optimiser).toBe(4 * estimate.parameters);
    expect(estimate.parameters / 4 / 1e6).toBeCloseTo(134.5, 1);
  });

  test("plans go from fast to frugal, and the first that fits is taken", () => {
    const long = { ...size, width: 4096 };
    const totals = memoryPlans(description, false).map((plan) => estimateMemory(long, plan).total);
    expect(totals).toEqual(totals.toSorted((left, right) => right - left));
    expect(choosePlan(size, 8000 * megabyte)?.plan.checkpointLayers).toBe(false);
    expect(choosePlan(long, 3000 * megabyte)?.plan.checkpointLayers).toBe(true);
    expect(choosePlan(long, 100 * megabyte)).toBeNull();
  });
});
