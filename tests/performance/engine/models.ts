/** Models of the benchmarks, with random weights: speed does not depend on what they say. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describeModel, type ModelConfig, weightShapes, writeHuggingFaceConfig } from "../../../engine/models/index.ts";
import { seededRandom } from "../../../engine/statistics/index.ts";
import { cacheFolder } from "../../../main/machine/index.ts";
import { writeModelFolder } from "../../../main/models/index.ts";

const shared = {
  ...({ family: "qwen3", normEpsilon: 1e-6, ropeTheta: 1e6, ropeScaling: null, tiedEmbeddings: true, biases: [], queryKeyNorm: true } as const),
  contextLength: 4096,
};

/** Of the size of a starter policy: 0.6 million parameters. */
export const starter: ModelConfig = {
  ...{ ...shared, vocabularySize: 1200, hiddenSize: 128, layerCount: 3, headCount: 4, keyValueHeadCount: 2, headSize: 32, feedForwardSize: 256 },
};

const sizes = {
  "3M": { ...shared, vocabularySize: 512, hiddenSize: 256, layerCount: 4, headCount: 4, keyValueHeadCount: 2, headSize: 64, feedForwardSize: 688 },
  "121M": {
    ...{ ...shared, vocabularySize: 50_304, hiddenSize: 768, layerCount: 12, headCount: 12, keyValueHeadCount: 4, headSize: 64 },
    feedForwardSize: 2304,
  },
} as const satisfies Record<string, ModelConfig>;

export type ModelSize = keyof typeof sizes;

/** Random weights of a description: matrices of about unit gain, norms of 1. */
export function randomWeights(config: ModelConfig): (name: string) => Float32Array {
  const shapes = weightShapes(describeModel(config));
  const random = seededRandom(1);
  return (name) => {
    const shape = shapes.get(name) ?? [];
    const length = shape.reduce((product, size) => product * size, 1);
    if (shape.length === 1) return new Float32Array(length).fill(1);
    const spread = Math.sqrt(3 / (shape[1] ?? 1));
    return Float32Array.from({ length }, () => spread * (2 * random() - 1));
  };
}

/** Folder of a model, made once. */
export async function modelFolder(size: ModelSize): Promise<string> {
  const folder = join(cacheFolder(), "bench-models", size);
  if (existsSync(folder)) return folder;
  mkdirSync(join(cacheFolder(), "bench-models"), { recursive: true });
  const config = sizes[size];
  const files = { "config.json": writeHuggingFaceConfig(config, { bos: null, eos: null, pad: null }) };
  await writeModelFolder(folder, { description: describeModel(config), weight: randomWeights(config), files });
  return folder;
}
