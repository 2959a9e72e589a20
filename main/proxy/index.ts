export * from "./contract.ts";
export type { PolicyEntry, PolicyInput, PolicyProbe, PolicyRegistry, PolicyRegistryOptions } from "./policies.ts";
export type { UpstreamDefinition } from "./upstreams/definition.ts";
export * from "./upstreams/upstream.ts";
// Functions of this face: startProxy({ store, clock? }): Promise<Proxy> · createPolicyRegistry(options): PolicyRegistry ·
// createUpstream(definition, { env, policiesFolder }): Upstream · isRolloutKey(text): boolean ·
// readCall(store, call): { conversation, answer } for views of a recorded call.
