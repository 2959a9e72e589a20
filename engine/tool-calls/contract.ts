import type { ToolCall } from "../conversation/index.ts";

export const toolCallFormats = ["hermes", "llama3_json", "mistral", "pythonic", "qwen3_coder"] as const;
export type ToolCallFormat = (typeof toolCallFormats)[number];

/** What a parser needs of a tool: its name and its JSON Schema as text. `ToolDefinition`s of kind `function` fit. */
export interface ToolSchema {
  readonly name: string;
  readonly parameters?: string;
}

export interface ParseOptions {
  /** null: the policy has no tool calls; only reasoning is taken off. */
  readonly format: ToolCallFormat | null;
  readonly tools: readonly ToolSchema[];
  /** The prompt ended inside a reasoning block (`<think>` written by the template). Default: false. */
  readonly reasoningOpenedByPrompt?: boolean;
}

/** A call as written: arguments are canonical compact JSON of an object. Ids are given by whoever sends it on. */
export type ParsedToolCall = Pick<ToolCall, "name" | "arguments">;

export interface ParsedAnswer {
  /** null = none. */
  readonly content: string | null;
  readonly reasoning: string | null;
  readonly toolCalls: readonly ParsedToolCall[];
  /** Something looks like a call and cannot be read; it stands in `content` word for word. */
  readonly unparsed: boolean;
}

/** Joined per channel, the deltas of a stream are the parse of the whole text, however the text was cut. */
export type AnswerDelta =
  | { readonly type: "content" | "reasoning"; readonly delta: string }
  | { readonly type: "tool-call"; readonly call: ParsedToolCall };

export interface StreamingAnswerParser {
  push(text: string): readonly AnswerDelta[];
  /** The remaining deltas, and the whole. */
  end(): { readonly deltas: readonly AnswerDelta[]; readonly answer: ParsedAnswer };
}
