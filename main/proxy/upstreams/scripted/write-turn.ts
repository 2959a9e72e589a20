/** An assistant's turn as text, in the Hermes form that the template of the shipped tokenizer writes. */
import type { AssistantMessage } from "../../../../engine/conversation/index.ts";
import { dumpJson, JsonSyntaxError, parseJson } from "../../../../engine/json/index.ts";
import { answerText } from "../../dialects/answer-text.ts";

export function writeTurn(message: AssistantMessage): string {
  const thought = message.reasoning === undefined || message.reasoning === "" ? "" : `<think>\n${message.reasoning}\n</think>\n\n`;
  const text = answerText(message.content);
  const calls = message.toolCalls.map((call) => {
    const given = call.kind === "custom" ? dumpJson(new Map([["input", call.arguments]])) : asTemplates(call.arguments);
    return `<tool_call>\n{"name": ${JSON.stringify(call.name)}, "arguments": ${given}}\n</tool_call>`;
  });
  return thought + [...(text === "" ? [] : [text]), ...calls].join("\n");
}

/** As `tojson` writes an object, so that the template tells this turn in the same tokens later. What is no JSON stays. */
function asTemplates(text: string): string {
  try {
    return dumpJson(parseJson(text));
  } catch (error) {
    if (error instanceof JsonSyntaxError) return text;
    throw error;
  }
}
