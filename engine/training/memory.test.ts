import { describe, expect, test } from "vitest";
import { createAdapter, describeModel, linearKinds, type ModelConfig } from "../models/index.ts";
import { choosePlan, estimateMemory, memoryPlans, type TrainingSize } from "./index.ts";

/** SmolLM2-135M. */
const config: ModelConfig = {
  ...{ family: "llama", vocabularySize: 49_152, hiddenSize: 576, layerCount: 30, headCount: 9, keyValueHeadCount: 3, headSize: 64 },
  ...{ feedForwardSize: 1536, normEpsilon: 1e-5, ropeTheta: 1e5, ropeScaling: null, tiedEmbeddings: true, biases: [], queryKeyNorm: false },
  contextLength: 8192,
};
const description = describeModel(config);
const adapter = createAdapter(description, { rank: 16, alpha: 32, targets: linearKinds, rankStabilised: false }, 1);
const size: TrainingSize = { description, adapter, trained: "adapter", weightBytes: 4, rows: 1, width: 512 };
const megabyte = 1 << 20;

describe("memory of a step", () => {
  test("lies near the measured peaks: 1,856, 1,640 and 1,043 MB of the whole process at 512 tokens", () => {
    const base = { attentionChunk: 256, headChunk: 256, keepProbabilities: true, checkpointLayers: false, narrowWeights: false };
    // Node and ONNX Runtime themselves take about 120 MB.
    const total = (changes: Partial<typeof base>) => estimateMemory(size, { ...base, ...changes }).total / megabyte + 120;
    expect(total({}) / 1856).toBeGreaterThan(0.9);
    expect(total({}) / 1856).toBeLessThan(1.15);
    expect(total({ keepProbabilities: false }) / 1640).toBeGreaterThan(0.9);
    expect(total({ keepProbabilities: false }) / 1640).toBeLessThan(1.15);
    expect(total({ checkpointLayers: true }) / 1043).toBeGreaterThan(0.9);
    expect(total({ checkpointLayers: true }) / 1043).toBeLessThan(1.15);
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
    expect(choosePlan(long, 4000 * megabyte)?.plan.checkpointLayers).toBe(true);
    expect(choosePlan(long, 100 * megabyte)).toBeNull();
  });
});
