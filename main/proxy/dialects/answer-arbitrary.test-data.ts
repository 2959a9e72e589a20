/** Answers of every shape, for tests of the dialects. */
import fc from "fast-check";
import type { Answer } from "../../../engine/conversation/index.ts";
import { canonicalJson } from "../../../engine/json/index.ts";

const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("a\nb", '"quoted" \\ back', "data: x\n\n", "据😀", "</tool_call>"));

export const answerArbitrary: fc.Arbitrary<Answer> = fc
  .record({
    content: fc.option(text, { nil: "" }),
    reasoning: fc.option(text, { nil: "" }),
    calls: fc.array(
      fc.record({
        name: fc.constantFrom("bash", "read_file"),
        namespace: fc.constantFrom(undefined, "multi_agent_v1"),
        kind: fc.constantFrom("function" as const, "custom" as const),
        value: fc.dictionary(fc.string(), fc.jsonValue()),
      }),
      { maxLength: 3 },
    ),
    finish: fc.constantFrom("stop" as const, "length" as const),
    promptTokens: fc.nat(9999),
    completionTokens: fc.nat(999),
  })
  .map(({ content, reasoning, calls, finish, promptTokens, completionTokens }) => ({
    message: {
      role: "assistant",
      content: content === "" ? [] : [{ type: "text", text: content }],
      ...(reasoning === "" ? {} : { reasoning }),
      toolCalls: calls.map(({ name, kind, value }, index) => ({
        id: `call_${index}`,
        name,
        kind,
        arguments: kind === "custom" ? `free text ${index}` : JSON.stringify(value),
      })),
    },
    finishReason: finish === "length" ? "length" : calls.length > 0 ? "tool-calls" : "stop",
    usage: { promptTokens, completionTokens },
    unparsedToolCall: false,
    policyVersion: "v1",
  }));

/** For dialects whose calls have objects for arguments, and no free text. */
export const functionAnswerArbitrary: fc.Arbitrary<Answer> = answerArbitrary.map((answer) => {
  const toolCalls = answer.message.toolCalls
    .filter(({ kind }) => kind === "function")
    .map((call) => ({ ...call, arguments: canonicalJson(call.arguments) }));
  const finishReason = answer.finishReason === "tool-calls" && toolCalls.length === 0 ? "stop" : answer.finishReason;
  return { ...answer, finishReason, message: { ...answer.message, toolCalls } };
});
