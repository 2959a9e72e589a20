/**
 * Whether a template keeps what it has written: is the prompt of a turn still the beginning of the next call's prompt, and
 * the conversation closed after the reply too? Where it does not, rendering every prompt anew breaks the chain of tokens.
 */
import { chatContext } from "./chat-context.ts";
import type { ChatInput, ChatTemplate, RenderOptions, TurnStability } from "./contract.ts";

/** One verdict per assistant turn that has something before and after it. Throws `TemplateError` when a part cannot be rendered. */
export function checkStability(
  template: ChatTemplate,
  input: Omit<ChatInput, "addGenerationPrompt">,
  options: RenderOptions,
): readonly TurnStability[] {
  const { messages } = input;
  const render = (count: number, addGenerationPrompt: boolean): string =>
    template.render(chatContext({ ...input, messages: messages.slice(0, count), addGenerationPrompt }), options).text;
  const turns = messages.flatMap((message, index) => (message.get("role") === "assistant" ? [index] : []));
  return turns.flatMap((turn, place) => {
    const next = turns[place + 1] ?? messages.length;
    if (turn === 0 || turn === messages.length - 1) return [];
    const nextPrompt = render(next, true);
    return [{ turn, next, promptKept: nextPrompt.startsWith(render(turn, true)), replyKept: nextPrompt.startsWith(render(turn + 1, false)) }];
  });
}
