export { baseVersion, type SampleRequest, type SamplerInfo, type SamplerOptions } from "./protocol.ts";
export { openSampler, type SampleResult, type Sampler } from "./sampler.ts";
