/**
 * Chat templates: Jinja with Python's values, byte for byte as `apply_chat_template` of the reference renders them
 * (trimmed blocks, `{% generation %}`, loop controls, `tojson` without escapes, `strftime_now`, `raise_exception`).
 */
import type { JsonObject, JsonValue } from "../json/index.ts";
import type { Value } from "./values/values.ts";

/** A part of the rendered text that came from the conversation, in UTF-16 units. */
export interface ContentSpan {
  readonly start: number;
  readonly end: number;
  /** Index of the message in the context's `messages`; `toolsSource` for a tool definition. */
  readonly source: number;
}
export const toolsSource = -1;

export interface Rendered {
  readonly text: string;
  /** What `{% generation %}` encloses: half-open, Unicode code points, as the reference reports. */
  readonly generationSpans: readonly { readonly start: number; readonly end: number }[];
  /** In order, never overlapping. Text outside them is the template's own; only there may control tokens lie. */
  readonly contentSpans: readonly ContentSpan[];
}

export interface RenderOptions {
  /** Clock of `strftime_now`; its local fields are used. */
  readonly now: Date;
  /** Bounds on a hostile template; the defaults suit real ones. */
  readonly limits?: { readonly steps?: number; readonly textLength?: number };
}

/** The variables of a rendering. Made by `chatContext` or `variablesContext`. */
export interface TemplateContext {
  readonly variables: ReadonlyMap<string, Value>;
}

export interface ChatTemplate {
  readonly source: string;
  /** Throws `TemplateError`. */
  render(context: TemplateContext, options: RenderOptions): Rendered;
}

/** A conversation as `apply_chat_template` takes it. */
export interface ChatInput {
  readonly messages: readonly JsonObject[];
  /** Absent or null = none. */
  readonly tools?: readonly JsonValue[] | null;
  readonly documents?: readonly JsonValue[] | null;
  readonly addGenerationPrompt: boolean;
  /** Further template variables: special tokens by name, `enable_thinking` … */
  readonly variables?: JsonObject;
}

/** Whether prompts stay beginnings of later prompts at one assistant turn. */
export interface TurnStability {
  /** Index of the assistant message. */
  readonly turn: number;
  /** Number of messages in the next call's prompt. */
  readonly next: number;
  /** The prompt of the turn is the beginning of the next prompt. */
  readonly promptKept: boolean;
  /** So is the conversation closed after the reply. */
  readonly replyKept: boolean;
}
