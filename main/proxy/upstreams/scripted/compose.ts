/** The answer that a rule gives in a situation: captures filled in, shell calls in the harness's own words. Pure. */
import type { AssistantMessage, FinishReason, ToolCall } from "../../../../engine/conversation/index.ts";
import { canonicalJson } from "../../../../engine/json/index.ts";
import { type Captures, fillText, fillValue } from "./match.ts";
import { offeredName } from "./offered-name.ts";
import type { ScriptAnswer } from "./schema.ts";
import { commandLine, endingCommand, shellCall } from "./shell-tools.ts";

export interface ComposedAnswer {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
  /** A call's arguments are wrong on purpose. */
  readonly malformed: boolean;
}

export function composeAnswer(
  answer: ScriptAnswer,
  captures: Captures,
  tools: ReadonlySet<string>,
  idOf: (index: number) => string,
  harness = "",
): ComposedAnswer {
  const calls: ToolCall[] = [];
  const commands: string[] = [];
  const said: string[] = answer.text === undefined ? [] : [fillText(answer.text, captures)];
  for (const call of answer.calls ?? []) {
    const id = idOf(calls.length);
    if ("shell" in call) {
      const command = fillText(call.shell, captures);
      const shell = shellCall(tools, command);
      if (shell === null) commands.push(command);
      else calls.push({ id, kind: "function", name: shell.name, arguments: JSON.stringify(shell.arguments) });
      continue;
    }
    const wanted = call.namespace === undefined ? call.tool : `${call.namespace}__${call.tool}`;
    const name = offeredName(wanted, tools) ?? wanted;
    if (call.input !== undefined) calls.push({ id, kind: "custom", name, arguments: fillText(call.input, captures) });
    else if (call.raw !== undefined) calls.push({ id, kind: "function", name, arguments: fillText(call.raw, captures) });
    else calls.push({ id, kind: "function", name, arguments: canonicalJson(JSON.stringify(fillValue(call.arguments ?? {}, captures))) });
  }
  const ending = (answer.calls ?? []).length === 0 ? endingCommand(harness) : null;
  const last = ending === null ? null : shellCall(tools, ending);
  if (last !== null) calls.push({ id: idOf(0), kind: "function", name: last.name, arguments: JSON.stringify(last.arguments) });
  const line = commandLine(harness, commands);
  said.push(...(line === null ? commands.map((command) => `No shell tool is offered to run: ${command}`) : [line]));
  const text = said.join("\n");
  return {
    message: {
      role: "assistant",
      content: text === "" ? [] : [{ type: "text", text }],
      ...(answer.reasoning === undefined ? {} : { reasoning: fillText(answer.reasoning, captures) }),
      toolCalls: calls,
    },
    finishReason: answer.finish ?? (calls.length > 0 ? "tool-calls" : "stop"),
    malformed: (answer.calls ?? []).some((call) => "raw" in call && call.raw !== undefined),
  };
}
