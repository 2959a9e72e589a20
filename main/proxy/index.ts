export * from "./contract.ts";
export { createUpstream } from "./create-upstream.ts";
export { isRolloutKey } from "./keys.ts";
export type * from "./policy-contract.ts";
export { createPolicyRegistry } from "./policy-registry.ts";
export { policyTokenizer } from "./policy-tokenizer.ts";
export { readCall } from "./read-call.ts";
export { startProxy } from "./start-proxy.ts";
export * from "./upstreams/upstream.ts";
