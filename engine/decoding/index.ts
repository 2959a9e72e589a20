export { type AdapterFeeds, adapterFeeds, DecoderModel, type DecoderModelOptions } from "./decoder-model.ts";
export { ContextOverflow, type Generation, type GenerationRequest, Generator, type GeneratorCounts, type GeneratorOptions } from "./generator.ts";
export { KeyValueCache } from "./key-value-cache.ts";
export { plainSampling, type SampledToken, type SamplingSettings, TokenSampler } from "./sampling.ts";
export { type Ending, StopCondition, type StopSettings } from "./stop-condition.ts";
