export * from "./contract.ts";
export { type PreparedImage, prepareImages } from "./docker/base-image.ts";
export { type SandboxProvidersOptions, sandboxProviders } from "./providers.ts";
export { type SandboxCause, sandboxCauseOf } from "./sandbox-error.ts";
