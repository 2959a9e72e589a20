export { sandboxArchitecture } from "./install.ts";
export * from "./launch.ts";
export * from "./manifest.ts";
export * from "./registry.ts";
