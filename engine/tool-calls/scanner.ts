/**
 * How a format reads a text: from a position, one step at a time, saying only what later text cannot change.
 * Invariant: the steps over a text that arrives in pieces are the steps over the whole text, however it was cut. So a step
 * that depends on what may still come is `wait`, unless `atEnd` says that nothing comes.
 */
import type { ParsedToolCall } from "./contract.ts";

export type Item = { readonly call: ParsedToolCall } | { readonly broken: string };

export type Step =
  /** Text up to `end` is content. `broken`: it looks like a call and cannot be read. */
  | { readonly kind: "text" | "broken"; readonly end: number }
  /** Calls stand here, and `items` has them in order; what stands between two marks of them is not content. */
  | { readonly kind: "calls"; readonly items: readonly Item[]; readonly end: number }
  /** More text is needed. Never returned at the end of the text. */
  | { readonly kind: "wait" };

export interface Format {
  /** What may follow a call and is not content: closing tags, separators, tokens that end a turn. */
  readonly afterCall: readonly string[];
  /** `position` is before the end of the text. */
  step(text: string, position: number, atEnd: boolean): Step;
}

export const wait: Step = { kind: "wait" };

/** Tokens that end a turn; a server that keeps special tokens leaves them behind a call. */
export const endOfTurn = ["<|eom_id|>", "<|eot_id|>", "<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "</s>"];

/**
 * Plain text up to the next of the marks, or a wait for the rest of a mark that may have begun. Null when a mark stands at
 * `position`.
 */
export function textBefore(marks: readonly string[], text: string, position: number, atEnd: boolean): Step | null {
  let end = text.length;
  for (const mark of marks) {
    const found = text.indexOf(mark, position);
    if (found >= 0 && found < end) end = found;
  }
  if (end === position) return null;
  if (end === text.length && !atEnd) end -= Math.max(...marks.map((mark) => begunLength(mark, text, position)));
  return end > position ? { kind: "text", end } : wait;
}

/** Length of the longest proper beginning of `mark` that the text from `position` ends with. */
export function begunLength(mark: string, text: string, position = 0): number {
  for (let length = Math.min(mark.length - 1, text.length - position); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}

/** Whether the text stops inside `mark`, which begins at `position`, or right before it. */
export function mayBecome(mark: string, text: string, position: number): boolean {
  return text.length - position < mark.length && mark.startsWith(text.slice(position));
}

export function skipSpace(text: string, position: number): number {
  let at = position;
  while (at < text.length && /\s/.test(text.charAt(at))) at++;
  return at;
}
