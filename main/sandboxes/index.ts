export { readCompose } from "./compose/read-compose.ts";
export * from "./contract.ts";
export { prepareImages } from "./docker/base-image.ts";
export { sandboxProviders } from "./providers.ts";
export { sandboxCauseOf } from "./sandbox-error.ts";
