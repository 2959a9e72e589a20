import type { PromptBuilder, PromptBuilderInput } from "./contract.ts";

export * from "./contract.ts";

/** Prompts for one policy. Probes the template, so make it once a policy. */
export function createPromptBuilder(input: PromptBuilderInput): PromptBuilder {
  throw new Error(`not built yet: ${input.template.source.length}`);
}
