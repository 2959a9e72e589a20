export { samplerOptions } from "./defaults.ts";
export { createSamplerPool, type SamplerLease, type SamplerPool } from "./pool.ts";
export { baseVersion, overflowKind, type SampleRequest, type SamplerOptions } from "./protocol.ts";
export { openSampler, type Sampler } from "./sampler.ts";
