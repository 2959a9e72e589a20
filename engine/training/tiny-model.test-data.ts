/** Small random models for tests. */
import { describeModel, type ModelConfig, type ModelDescription, type ModelWeights, weightShapes, weightsInMemory } from "../models/index.ts";
import { seededRandom } from "../statistics/index.ts";

const plain: ModelConfig = {
  family: "llama",
  vocabularySize: 19,
  hiddenSize: 12,
  layerCount: 2,
  headCount: 4,
  keyValueHeadCount: 2,
  headSize: 16,
  feedForwardSize: 10,
  normEpsilon: 1e-5,
  ropeTheta: 100,
  ropeScaling: null,
  tiedEmbeddings: true,
  biases: [],
  queryKeyNorm: false,
  contextLength: 64,
};

export const tinyConfigs: Readonly<Record<string, ModelConfig>> = {
  "tied, grouped heads": plain,
  "biases, untied": { ...plain, family: "qwen2", biases: ["query", "key", "value"], tiedEmbeddings: false },
  "norms of queries and keys": { ...plain, family: "qwen3", queryKeyNorm: true, keyValueHeadCount: 4 },
  "every bias, scaled positions": {
    ...plain,
    biases: ["query", "key", "value", "output", "gate", "up", "down"],
    keyValueHeadCount: 1,
    ropeScaling: { kind: "llama3", factor: 4, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalPositions: 16 },
  },
};

/** Weights of about unit gain; norms near 1. */
export function tinyModel(config: ModelConfig, seed = 3): { readonly description: ModelDescription; readonly weights: ModelWeights } {
  const description = describeModel(config);
  const random = seededRandom(seed);
  const all = new Map(
    [...weightShapes(description)].map(([name, shape]) => {
      const width = shape.at(-1) ?? 1;
      const spread = shape.length === 1 ? 0.3 : 1.7 / Math.sqrt(width);
      const centre = name.includes("norm") ? 1 : 0;
      return [
        name,
        Float32Array.from({ length: shape.reduce((product, size) => product * size, 1) }, () => centre + spread * (2 * random() - 1)),
      ] as const;
    }),
  );
  const read = (name: string): Float32Array => {
    const values = all.get(name);
    if (values === undefined) throw new RangeError(`no weight ${name}`);
    return values;
  };
  return { description, weights: weightsInMemory(read) };
}

export function randomSequences(lengths: readonly number[], vocabulary: number, seed = 9): readonly Int32Array[] {
  const random = seededRandom(seed);
  return lengths.map((length) => Int32Array.from({ length }, () => Math.floor(random() * vocabulary)));
}
