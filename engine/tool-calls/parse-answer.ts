import { AnswerParser } from "./answer-parser.ts";
import type { ParsedAnswer, ParseOptions, StreamingAnswerParser } from "./contract.ts";

/** Splits what a policy wrote into reasoning, content and tool calls. Never throws, whatever the text. */
export function parseAnswer(text: string, options: ParseOptions): ParsedAnswer {
  const parser = new AnswerParser(options);
  parser.push(text);
  return parser.end().answer;
}

/** The same, for text that arrives in pieces. */
export function createAnswerParser(options: ParseOptions): StreamingAnswerParser {
  return new AnswerParser(options);
}
