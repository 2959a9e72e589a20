export * from "./contract.ts";
export { createPromptBuilder } from "./create-prompt-builder.ts";
