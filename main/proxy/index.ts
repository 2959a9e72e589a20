export * from "./contract.ts";
export { isRolloutKey } from "./keys.ts";
export {
  createPolicyRegistry,
  type PolicyEntry,
  type PolicyInput,
  type PolicyProbe,
  type PolicyRegistry,
  type PolicyRegistryOptions,
} from "./policies.ts";
export { type ReadCall, readCall } from "./read-call.ts";
export { type ProxyOptions, startProxy } from "./start-proxy.ts";
export type { UpstreamDefinition } from "./upstreams/definition.ts";
export * from "./upstreams/upstream.ts";
