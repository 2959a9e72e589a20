/** Test data: a harness and a policy that talk, as the prompt tests need them. */
import fc from "fast-check";
import type { AssistantMessage, Conversation, Message, ToolDefinition } from "../conversation/index.ts";
import { type ChatTemplate, compileTemplate } from "../templates/index.ts";
import { loadTokenizer, type Tokenizer } from "../tokenizers/index.ts";
import type { ToolCallFormat } from "../tool-calls/index.ts";
import type { PromptBuilder } from "./index.ts";
import { createPromptBuilder } from "./index.ts";

export const tokenizerNames = ["chatml-bpe", "llama3-bpe", "spm-legacy", "spm-metaspace"] as const;
export const templateNames = ["chatml-stable", "thinking-drop", "header-json", "inst-brackets", "pythonic-calls", "xml-coder"] as const;

/** The fixtures, by a function that reads a file of `tests/fixtures`. */
export function fixtureReader(readFixture: (path: string) => string) {
  const readTokenizer = (name: string): Tokenizer =>
    loadTokenizer(readFixture(`tokenizers/${name}/tokenizer.json`), readFixture(`tokenizers/${name}/tokenizer_config.json`));
  const readTemplate = (name: string): ChatTemplate => compileTemplate(readFixture(`chat-templates/${name}.jinja`));
  const builderOf = (tokenizer: string, template: string): PromptBuilder =>
    createPromptBuilder({ tokenizer: readTokenizer(tokenizer), template: readTemplate(template) });
  return { readTokenizer, readTemplate, builderOf };
}

export const runTool: ToolDefinition & { kind: "function" } = {
  kind: "function",
  name: "run",
  description: "Runs a command.",
  parameters: '{"type": "object", "properties": {"command": {"type": "string"}, "limit": {"type": "number", "default": 1.0}}}',
};

export function conversationOf(messages: readonly Message[], tools: readonly ToolDefinition[] = []): Conversation {
  return { model: "m", messages, tools, sampling: {}, stream: false, extra: "{}" };
}

export function answer(text: string): AssistantMessage {
  return { role: "assistant", content: [{ type: "text", text }], toolCalls: [] };
}

export function said(role: "system" | "developer" | "user", text: string): Message {
  return { role, content: [{ type: "text", text }] };
}

export function answered(toolCallId: string, text: string): Message {
  return { role: "tool", toolCallId, content: [{ type: "text", text }] };
}

/** A call as a policy of that format writes it. */
export function writeCall(format: ToolCallFormat | null, command: string): string {
  const json = JSON.stringify(command);
  switch (format) {
    case "hermes":
      return `<tool_call>\n{"name": "run", "arguments": {"command": ${json}, "limit": 1.0}}\n</tool_call>`;
    case "llama3_json":
      return `{"name": "run", "parameters": {"command": ${json}, "limit": 1.0}}`;
    case "mistral":
      return `[TOOL_CALLS][{"name": "run", "arguments": {"command": ${json}, "limit": 1.0}}]`;
    case "pythonic":
      return `[run(command=${json}, limit=1.0)]`;
    case "qwen3_coder":
      return `<tool_call>\n<function=run>\n<parameter=command>\n${command}\n</parameter>\n</function>\n</tool_call>`;
    case null:
      return "";
  }
}

/** What a harness sends back of an answer: other ids, arguments spelled by JavaScript, no reasoning. */
export function asHarnessSends(message: AssistantMessage): AssistantMessage {
  return {
    role: "assistant",
    content: message.content,
    toolCalls: message.toolCalls.map((call, index) => ({ ...call, id: `call_${index}_rewritten`, arguments: respelled(call.arguments) })),
  };
}

function respelled(text: string): string {
  return JSON.stringify(JSON.parse(text));
}

const pieces = [
  "red box",
  " ",
  "\n",
  "é",
  "😀",
  "<|im_end|>",
  "<|im_start|>system\n",
  "</s>",
  "[INST]",
  "<|eot_id|>",
  "{{ x }}",
  "a".repeat(20),
  "\t",
  "0",
  "</think>",
  "<tool_response>",
];
export const anyText = fc.array(fc.constantFrom(...pieces), { maxLength: 5 }).map((parts) => parts.join(""));

export interface Turn {
  readonly content: string;
  readonly reasoning: string | null;
  readonly command: string | null;
  /** How the sampled turn ends. */
  readonly ending: "closed" | "cut";
  /** Token boundaries that no tokenizer would choose. */
  readonly oddly: boolean;
  readonly next: string;
}

export const anyTurn: fc.Arbitrary<Turn> = fc.record({
  content: fc.constantFrom("the box is red", "", "Let me see.", "a\n\nb", "1 2 3"),
  reasoning: fc.option(fc.constantFrom("hm", "first\nthen", "")),
  command: fc.option(fc.constantFrom("ls -l", 'echo "é"', "true")),
  ending: fc.constantFrom("closed", "closed", "cut"),
  oddly: fc.boolean(),
  next: anyText,
});

/** Ids that a policy might have sampled for a turn. */
export function sample(turn: Turn, builder: PromptBuilder, tokenizer: Tokenizer): Int32Array {
  const thought = turn.reasoning === null ? "" : `<think>\n${turn.reasoning}\n</think>\n\n`;
  const call = turn.command === null ? "" : writeCall(builder.toolCallFormat, turn.command);
  const text =
    thought +
    (call === "" ? turn.content : builder.toolCallFormat === "hermes" || builder.toolCallFormat === "qwen3_coder" ? turn.content + call : call);
  const ids = turn.oddly
    ? [...text].flatMap((character) => [...tokenizer.encode(character, { matchAddedTokens: false })])
    : [...tokenizer.encode(text)];
  const [end] = builder.endIds;
  return Int32Array.from(turn.ending === "closed" && end !== undefined ? [...ids, end] : ids);
}
