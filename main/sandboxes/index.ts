export * from "./contract.ts";
export { type SandboxProvidersOptions, sandboxProviders } from "./providers.ts";
