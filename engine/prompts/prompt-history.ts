/** The prompts of one attempt, each built on what was really sampled before it. */
import type { Conversation } from "../conversation/index.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import type { AssembleOptions, PromptHistory } from "./contract.ts";
import type { FittedConversation } from "./fit-conversation.ts";
import { concatenateIds, idsOf } from "./id-chain.ts";
import { messageKey } from "./message-keys.ts";
import type { BuiltText, PromptAssembler } from "./prompt-assembler.ts";
import { type Continuation, type KeptPrompt, type RecordedCall, RecordedCalls } from "./recorded-calls.ts";

export function createPromptHistory(assembler: PromptAssembler, tokenizer: Tokenizer): PromptHistory {
  const calls = new RecordedCalls();
  return {
    assemble(conversation, options) {
      const continuation = calls.find(conversation);
      const known = continuation.same;
      if (known?.facts.mode === options.mode) return { ...known.facts, ids: idsOf(known.ids) };
      const fitted = assembler.fit(conversation);
      const prompt =
        options.mode === "as-sampled"
          ? asSampled(assembler, conversation, fitted, continuation, options)
          : asTemplate(assembler, tokenizer, conversation, fitted, continuation, options);
      calls.keep(conversation, prompt);
      return { ...prompt.facts, ids: idsOf(prompt.ids) };
    },
    record({ callId, conversation, promptIds, sampledIds, message }) {
      calls.add(conversation, messageKey(message), { callId, promptIds, sampledIds, messageCount: conversation.messages.length });
    },
  };
}

function kept(
  built: BuiltText,
  { adaptations }: FittedConversation,
  before: RecordedCall | null,
  { mode, breakCause }: Pick<KeptPrompt["facts"], "mode" | "breakCause">,
): KeptPrompt {
  const { reasoningOpened, forgedTokens } = built;
  return {
    facts: { mode, parentCallId: before?.callId ?? null, breakCause, reasoningOpened, adaptations, forgedTokens },
    ids: { before, added: built.ids },
  };
}

function asSampled(
  assembler: PromptAssembler,
  conversation: Conversation,
  fitted: FittedConversation,
  { parent, breakCause }: Continuation,
  { mode, now }: AssembleOptions,
): KeptPrompt {
  if (parent === null) return kept(assembler.whole(fitted, conversation, now), fitted, null, { mode, breakCause });
  const between = assembler.after(fitted, conversation, parent.messageCount, parent.sampledIds, now);
  if (between === null) return kept(assembler.whole(fitted, conversation, now), fitted, null, { mode, breakCause: "template" });
  return kept(between, fitted, parent, { mode, breakCause: null });
}

function asTemplate(
  assembler: PromptAssembler,
  tokenizer: Tokenizer,
  conversation: Conversation,
  fitted: FittedConversation,
  { parent, breakCause }: Continuation,
  { mode, now }: AssembleOptions,
): KeptPrompt {
  const built = assembler.whole(fitted, conversation, now);
  if (parent === null) return kept(built, fitted, null, { mode, breakCause });
  const before = concatenateIds([idsOf(parent.prompt), parent.sampledIds]);
  if (beginsWith(built.ids, before)) return kept({ ...built, ids: built.ids.slice(before.length) }, fitted, parent, { mode, breakCause: null });
  const isSameText = built.text.startsWith(tokenizer.decode(before));
  return kept(built, fitted, null, { mode, breakCause: isSameText ? "re-tokenisation" : "template" });
}

function beginsWith(ids: Int32Array, beginning: Int32Array): boolean {
  return beginning.length <= ids.length && beginning.every((id, index) => ids[index] === id);
}
