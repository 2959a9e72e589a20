export { createSamplerPool, type SamplerLease, type SamplerPool } from "./pool.ts";
export { baseVersion, overflowKind, type SampleRequest, type SamplerOptions, type WeightsVersion } from "./protocol.ts";
export { openSampler, type Sampler } from "./sampler.ts";
export { createVersionHolds, type VersionHolds } from "./version-holds.ts";
