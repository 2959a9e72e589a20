export * from "./contract.ts";
export { createUpstream, type UpstreamParts } from "./create-upstream.ts";
export { isRolloutKey } from "./keys.ts";
export type * from "./policy-contract.ts";
export { createPolicyRegistry } from "./policy-registry.ts";
export { type ReadCall, readCall } from "./read-call.ts";
export { type ProxyOptions, startProxy } from "./start-proxy.ts";
export type { UpstreamDefinition } from "./upstreams/definition.ts";
export * from "./upstreams/upstream.ts";
