export {
  type Adapter,
  type AdapterShape,
  createAdapter,
  type LoraModule,
  type LoraSettings,
  type LoraShape,
  loraFactor,
  mergedWeights,
} from "./adapter.ts";
export { type FamilyName, type LinearKind, linearKinds, type ModelConfig } from "./config.ts";
export { buildDecodingGraph, cacheNames, type DecodingGraphOptions } from "./decoding-graph.ts";
export { describeModel, type Layer, type Linear, linearsOf, type ModelDescription, type Norm, weightShapes } from "./description.ts";
export { ggufWeights, readGgufConfig } from "./gguf-model.ts";
export { adapterShapes, loraInput, type Trained, trainedShapes } from "./graph-weights.ts";
export { readEndIds, readHuggingFaceConfig } from "./hugging-face-config.ts";
export { ModelError } from "./model-error.ts";
export { checkpointWeights, type ModelWeights, type WeightPlace, weightsInMemory } from "./model-weights.ts";
export { readPeftAdapter, writePeftAdapter } from "./peft-adapter.ts";
export { ropeFrequencies } from "./rope.ts";
export {
  buildSequenceGraph,
  coefficientInputs,
  gradientOutput,
  inverseTemperatureInput,
  type MemoryPlan,
  queriesAtOnce,
  type SequenceGraphOptions,
  valueHeadInputs,
} from "./sequence-graph.ts";
export { type SpecialIdsForConfig, writeHuggingFaceConfig } from "./write-config.ts";
