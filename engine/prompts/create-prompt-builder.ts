import type { ConversationRules, PromptBuilder, PromptBuilderInput } from "./contract.ts";
import { ConversationRenderer } from "./conversation-renderer.ts";
import { probeRules } from "./probe-rules.ts";
import { probeToolCallFormat } from "./probe-tool-calls.ts";
import { PromptAssembler } from "./prompt-assembler.ts";
import { createPromptHistory } from "./prompt-history.ts";
import { followSampledAnswer, readSampledAnswer } from "./read-answer.ts";
import { SpecialTokens } from "./special-tokens.ts";
import { probeClosingIds } from "./turn-end.ts";

/** Gets to know a policy's template and tokenizer; takes some milliseconds. Throws for variables that are no JSON object. */
export function createPromptBuilder({
  tokenizer,
  template,
  endIds = [],
  variables,
  rules: given,
  toolCallFormat,
}: PromptBuilderInput): PromptBuilder {
  const renderer = new ConversationRenderer(template, tokenizer, variables);
  const special = new SpecialTokens(tokenizer);
  const rules: ConversationRules = { ...probeRules(renderer), ...given };
  const format = toolCallFormat === undefined ? probeToolCallFormat(renderer, rules, special) : toolCallFormat;
  const own = tokenizer.special.eos === null ? [] : [tokenizer.special.eos];
  const ending = new Set([...own, ...endIds, ...probeClosingIds(renderer, rules, special, new Set([...own, ...endIds]))]);
  const assembler = new PromptAssembler({ tokenizer, renderer, rules, special, endIds: ending });
  return {
    rules,
    toolCallFormat: format,
    endIds: [...ending],
    history: () => createPromptHistory(assembler, tokenizer),
    readAnswer: (sampled) => readSampledAnswer(sampled, { tokenizer, format, endIds: ending }),
    followAnswer: (begun) => followSampledAnswer(begun, { tokenizer, format, endIds: ending }),
  };
}
