/** An assistant's turn as text, in the Hermes form that the template of the shipped tokenizer writes. */
import type { AssistantMessage } from "../../../../engine/conversation/index.ts";
import { answerText } from "../../dialects/answer-text.ts";

export function writeTurn(message: AssistantMessage): string {
  const thought = message.reasoning === undefined || message.reasoning === "" ? "" : `<think>\n${message.reasoning}\n</think>\n\n`;
  const text = answerText(message.content);
  const calls = message.toolCalls.map((call) => {
    const given = call.kind === "custom" ? JSON.stringify({ input: call.arguments }) : call.arguments;
    return `<tool_call>\n{"name": ${JSON.stringify(call.name)}, "arguments": ${given}}\n</tool_call>`;
  });
  return thought + [...(text === "" ? [] : [text]), ...calls].join("\n");
}
