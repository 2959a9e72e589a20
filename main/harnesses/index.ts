export * from "./launch.ts";
export * from "./manifest.ts";
export * from "./registry.ts";
