import { chatDialect } from "./chat/index.ts";
import type { Dialect, DialectId } from "./dialect.ts";
import { geminiDialect } from "./gemini/index.ts";
import { messagesDialect } from "./messages/index.ts";
import { responsesDialect } from "./responses/index.ts";

export const dialects: Readonly<Record<DialectId, Dialect>> = {
  chat: chatDialect,
  responses: responsesDialect,
  messages: messagesDialect,
  gemini: geminiDialect,
};
