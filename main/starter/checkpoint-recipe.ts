/** How the starter policy that ships was made: nothing but these numbers and the teacher decides its weights. */
import type { ModelConfig } from "../../engine/models/index.ts";
import type { Schedule } from "../../engine/optimiser/index.ts";
import type { StarterHarness } from "./contract.ts";

export interface CheckpointRecipe {
  readonly seed: number;
  readonly steps: number;
  /** Transcripts of a step. */
  readonly transcripts: number;
  /** Share of each harness among the transcripts. */
  readonly harnesses: Readonly<Record<StarterHarness, number>>;
  /** Share of the tokens that the policy did not write that are learned too: what tasks and tools look like. */
  readonly context: number;
  readonly rate: Omit<Schedule, "steps">;
}

export const shippedRecipe: CheckpointRecipe = {
  seed: 1,
  steps: 1400,
  transcripts: 32,
  harnesses: { react: 0.6, console: 0.2, scratchpad: 0.2 },
  context: 0.3,
  rate: { peak: 4e-3, warmUp: 30, shape: "cosine", floor: 0.1 },
};

export function starterConfig(vocabularySize: number): ModelConfig {
  return {
    ...{ family: "qwen3", vocabularySize, hiddenSize: 128, layerCount: 3, headCount: 4, keyValueHeadCount: 2, headSize: 32, feedForwardSize: 256 },
    ...{ normEpsilon: 1e-6, ropeTheta: 10_000, ropeScaling: null, tiedEmbeddings: true, biases: [], queryKeyNorm: true, contextLength: 256 },
  };
}
