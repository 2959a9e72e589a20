export * from "./contract.ts";
export { createAnswerParser, parseAnswer } from "./parse-answer.ts";
