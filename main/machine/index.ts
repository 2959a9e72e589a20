export * from "./folders.ts";
