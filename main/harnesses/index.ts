export { createManifest } from "./create-manifest.ts";
export { sandboxArchitecture } from "./install.ts";
export * from "./launch.ts";
export * from "./manifest.ts";
export { mcpRefusal, skillsRefusal } from "./refusal.ts";
export * from "./registry.ts";
export { type FromResident, fromResidentSchema, type ToResident } from "./resident-messages.ts";
