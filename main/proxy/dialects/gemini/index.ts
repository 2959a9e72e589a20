import type { Dialect } from "../dialect.ts";
import { decodeGemini } from "./decode.ts";
import { geminiAnswerBody, geminiAnswerStream, geminiErrorBody, geminiErrorStream, openGeminiAnswer } from "./encode.ts";
import { readGeminiAnswer } from "./read-answer.ts";

export const geminiDialect: Dialect = {
  id: "gemini",
  list: "contents",
  decode: decodeGemini,
  answerBody: geminiAnswerBody,
  answerStream: geminiAnswerStream,
  openAnswer: openGeminiAnswer,
  errorBody: geminiErrorBody,
  errorStream: geminiErrorStream,
  readAnswer: readGeminiAnswer,
};
