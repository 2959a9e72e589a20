/** How templates fail. */

const templateErrorKinds = [
  "raise_exception",
  "TemplateSyntaxError",
  "TemplateAssertionError",
  "TemplateRuntimeError",
  "UndefinedError",
  "SecurityError",
  "FilterArgumentError",
  "TypeError",
  "ValueError",
  "KeyError",
  "IndexError",
  "AttributeError",
  "OverflowError",
  "ZeroDivisionError",
  /** A bound of ours was reached: steps, text length or depth. */
  "LimitError",
] as const;
export type TemplateErrorKind = (typeof templateErrorKinds)[number];

/** A template that cannot be compiled, or that fails on this conversation. `line` is 1-based in the template. */
export class TemplateError extends Error {
  readonly kind: TemplateErrorKind;
  /** The message alone, as the reference words it. */
  readonly reason: string;
  readonly line: number | null;
  constructor(kind: TemplateErrorKind, reason: string, line: number | null = null) {
    super(line === null ? reason : `${reason} (line ${line} of the chat template)`);
    this.name = "TemplateError";
    this.kind = kind;
    this.reason = reason;
    this.line = line;
  }
}
