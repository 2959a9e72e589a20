import type { ParsedAnswer, ParseOptions, StreamingAnswerParser } from "./contract.ts";

/** Splits what a policy wrote into reasoning, content and tool calls. Never throws on any text. */
export function parseAnswer(text: string, options: ParseOptions): ParsedAnswer {
  throw new Error(`not built yet: ${text.length} ${options.format}`);
}

/** The same, for text that arrives in pieces. */
export function createAnswerParser(options: ParseOptions): StreamingAnswerParser {
  throw new Error(`not built yet: ${options.format}`);
}
