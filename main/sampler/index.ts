export { type SamplerChoices, samplerOptions } from "./defaults.ts";
export { createSamplerPool, type SamplerLease, type SamplerPool } from "./pool.ts";
export { baseVersion, overflowKind, type SampleRequest, type SamplerInfo, type SamplerOptions } from "./protocol.ts";
export { openSampler, type SampleResult, type Sampler } from "./sampler.ts";
