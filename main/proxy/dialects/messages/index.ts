import type { Dialect } from "../dialect.ts";
import { decodeMessages } from "./decode.ts";
import { messagesAnswerBody, messagesAnswerStream, messagesErrorBody, messagesErrorStream } from "./encode.ts";
import { readMessagesAnswer } from "./read-answer.ts";

export const messagesDialect: Dialect = {
  id: "messages",
  list: "messages",
  decode: decodeMessages,
  answerBody: messagesAnswerBody,
  answerStream: messagesAnswerStream,
  errorBody: messagesErrorBody,
  errorStream: messagesErrorStream,
  readAnswer: readMessagesAnswer,
};
