import type { Dialect } from "../dialect.ts";
import { decodeMessages } from "./decode.ts";
import { messagesAnswerBody, messagesAnswerStream, messagesErrorBody, messagesErrorStream, openMessagesAnswer } from "./encode.ts";
import { readMessagesAnswer } from "./read-answer.ts";

export const messagesDialect: Dialect = {
  id: "messages",
  list: "messages",
  decode: decodeMessages,
  answerBody: messagesAnswerBody,
  answerStream: messagesAnswerStream,
  openAnswer: openMessagesAnswer,
  errorBody: messagesErrorBody,
  errorStream: messagesErrorStream,
  readAnswer: readMessagesAnswer,
};
