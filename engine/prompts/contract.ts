/**
 * Token-in: the prompt of a call as ids, built from the conversation with the policy's own template and tokenizer.
 * Invariant of `as-sampled`: on one chain, prompt n+1 begins with prompt n + the ids sampled there, exactly.
 */
import type { AssistantMessage, Conversation, FinishReason } from "../conversation/index.ts";
import type { BreakCause } from "../graph/index.ts";
import type { ChatTemplate } from "../templates/index.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import type { AnswerDelta, ToolCallFormat } from "../tool-calls/index.ts";

export type PromptMode = "as-sampled" | "as-template";

/** How a conversation is fitted to a template that refuses some of its shapes. Found by probing; each use is recorded. */
export interface ConversationRules {
  /** Where the first system text goes: its own message, or in front of the first user turn. */
  readonly system: "own" | "first-user";
  /** A developer message: its own role, or a system message. */
  readonly developer: "own" | "system";
  /** Role of a system or developer message after the first turns. */
  readonly lateSystem: "system" | "user";
  /** Several user turns in a row. */
  readonly userTurns: "separate" | "joined";
  /** Answers of tools: the tool role, or told as a user turn. */
  readonly toolAnswers: "tool" | "user";
  /** Spelling of tool-call ids: as the harness sent them, or nine letters and digits derived from them. */
  readonly callIds: "as-sent" | "nine";
}

export interface PromptBuilderInput {
  readonly tokenizer: Tokenizer;
  readonly template: ChatTemplate;
  /** Ids that end a turn beside the tokenizer's own end token (generation_config.json). */
  readonly endIds?: readonly number[];
  /** Further template variables as JSON text of an object (`{"enable_thinking":false}`). */
  readonly variables?: string;
  /** Absent = found by probing the template. */
  readonly rules?: Partial<ConversationRules>;
  /** Absent = found by probing the template. */
  readonly toolCallFormat?: ToolCallFormat | null;
}

export interface AssembledPrompt {
  readonly ids: Int32Array;
  readonly mode: PromptMode;
  /** Call whose prompt + sampled ids this prompt begins with; null for a new chain. */
  readonly parentCallId: string | null;
  /**
   * Why this prompt does not go on from a recorded chain; null when it does, for the first call, and for a conversation with
   * another beginning: whether that is a subagent or a compaction is seen only from what follows.
   */
  readonly breakCause: BreakCause | null;
  /** The template opened a reasoning block that the answer goes on in. */
  readonly reasoningOpened: boolean;
  /** What was done to the conversation so that the template takes it, one sentence each. */
  readonly adaptations: readonly string[];
  /** Added tokens whose text stands in content and was kept text. */
  readonly forgedTokens: number;
}

export interface AssembleOptions {
  readonly mode: PromptMode;
  readonly now: Date;
}

/** What the calls of one attempt have said so far. Not safe to share between attempts. */
export interface PromptHistory {
  /** Throws `TemplateError` when the template refuses the conversation whatever is done to it. */
  assemble(conversation: Conversation, options: AssembleOptions): AssembledPrompt;
  /** Remembers a delivered answer; call it once per call, after the answer is known. */
  record(call: {
    readonly callId: string;
    readonly conversation: Conversation;
    readonly promptIds: Int32Array;
    readonly sampledIds: Int32Array;
    readonly message: AssistantMessage;
  }): void;
}

export interface SampledAnswer {
  readonly sampledIds: ArrayLike<number>;
  /** As the engine said it. */
  readonly finishReason: FinishReason;
  readonly conversation: Conversation;
  readonly reasoningOpened: boolean;
  /** Ids of the tool calls, by number. */
  readonly callId: (index: number) => string;
}

/** An answer whose ids are still to come. */
export type BegunAnswer = Pick<SampledAnswer, "conversation" | "reasoningOpened">;

export interface ReadAnswer {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
  readonly unparsedToolCall: boolean;
  /** The text of all ids, end token left out. */
  readonly text: string;
}

export interface PromptBuilder {
  readonly rules: ConversationRules;
  /** null: the template shows no format that we can read. */
  readonly toolCallFormat: ToolCallFormat | null;
  /** Ids after which the policy's turn is over. */
  readonly endIds: readonly number[];
  history(): PromptHistory;
  /** What sampled ids say: text, reasoning, tool calls. */
  readAnswer(sampled: SampledAnswer): ReadAnswer;
  /** The same while it is sampled: for each id what is certain by then. Joined, the deltas are the beginning of what `readAnswer` gives in the end. */
  followAnswer(begun: BegunAnswer): (id: number) => readonly AnswerDelta[];
}
