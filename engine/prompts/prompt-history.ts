/** The prompts of one attempt, each built on what was really sampled before it. */
import type { Conversation } from "../conversation/index.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import type { AssembledPrompt, AssembleOptions, PromptHistory } from "./contract.ts";
import type { FittedConversation } from "./fit-conversation.ts";
import { messageKey } from "./message-keys.ts";
import type { BuiltText, PromptAssembler } from "./prompt-assembler.ts";
import { type Continuation, type RecordedCall, RecordedCalls } from "./recorded-calls.ts";

export function createPromptHistory(assembler: PromptAssembler, tokenizer: Tokenizer): PromptHistory {
  const calls = new RecordedCalls();
  return {
    assemble(conversation, options) {
      const continuation = calls.find(conversation);
      if (continuation.same?.mode === options.mode) return continuation.same;
      const fitted = assembler.fit(conversation);
      const prompt =
        options.mode === "as-sampled"
          ? asSampled(assembler, conversation, fitted, continuation, options)
          : asTemplate(assembler, tokenizer, conversation, fitted, continuation, options);
      calls.keep(conversation, prompt);
      return prompt;
    },
    record({ callId, conversation, promptIds, sampledIds, message }) {
      calls.add(conversation, messageKey(message), { callId, promptIds, sampledIds, messageCount: conversation.messages.length });
    },
  };
}

function finish(built: BuiltText, fitted: FittedConversation, rest: Pick<AssembledPrompt, "mode" | "parentCallId" | "breakCause">): AssembledPrompt {
  return { ids: built.ids, ...rest, reasoningOpened: built.reasoningOpened, adaptations: fitted.adaptations, forgedTokens: built.forgedTokens };
}

function asSampled(
  assembler: PromptAssembler,
  conversation: Conversation,
  fitted: FittedConversation,
  { parent, breakCause }: Continuation,
  { mode, now }: AssembleOptions,
): AssembledPrompt {
  if (parent === null) return finish(assembler.whole(fitted, conversation, now), fitted, { mode, parentCallId: null, breakCause });
  const between = assembler.after(fitted, conversation, parent.messageCount, parent.sampledIds, now);
  if (between === null) return finish(assembler.whole(fitted, conversation, now), fitted, { mode, parentCallId: null, breakCause: "template" });
  const ids = concatenated(parent.promptIds, parent.sampledIds, between.ids);
  return finish({ ...between, ids }, fitted, { mode, parentCallId: parent.callId, breakCause: null });
}

function asTemplate(
  assembler: PromptAssembler,
  tokenizer: Tokenizer,
  conversation: Conversation,
  fitted: FittedConversation,
  { parent, breakCause }: Continuation,
  { mode, now }: AssembleOptions,
): AssembledPrompt {
  const built = assembler.whole(fitted, conversation, now);
  if (parent === null) return finish(built, fitted, { mode, parentCallId: null, breakCause });
  if (goesOn(built.ids, parent)) return finish(built, fitted, { mode, parentCallId: parent.callId, breakCause: null });
  const isSameText = built.text.startsWith(decoded(tokenizer, parent));
  return finish(built, fitted, { mode, parentCallId: null, breakCause: isSameText ? "re-tokenisation" : "template" });
}

function concatenated(...parts: readonly Int32Array[]): Int32Array {
  const ids = new Int32Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    ids.set(part, offset);
    offset += part.length;
  }
  return ids;
}

function goesOn(ids: Int32Array, { promptIds, sampledIds }: RecordedCall): boolean {
  if (ids.length < promptIds.length + sampledIds.length) return false;
  return promptIds.every((id, index) => ids[index] === id) && sampledIds.every((id, index) => ids[promptIds.length + index] === id);
}

function decoded(tokenizer: Tokenizer, { promptIds, sampledIds }: RecordedCall): string {
  return tokenizer.decode(concatenated(promptIds, sampledIds));
}
