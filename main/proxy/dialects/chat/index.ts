import type { Answer } from "../../../../engine/conversation/index.ts";
import { readSse } from "../../streams/sse.ts";
import { type Dialect, openAiErrorBody } from "../dialect.ts";
import { completionSchema, readCompletion } from "./completion.ts";
import { decodeChat } from "./decode.ts";
import { chatAnswerBody, chatAnswerStream, chatErrorStream, openChatAnswer } from "./encode.ts";
import { createChatStreamReader } from "./stream-reader.ts";

export const chatDialect: Dialect = {
  id: "chat",
  list: "messages",
  decode: decodeChat,
  answerBody: chatAnswerBody,
  answerStream: chatAnswerStream,
  openAnswer: openChatAnswer,
  errorBody: openAiErrorBody,
  errorStream: chatErrorStream,
  readAnswer: readChatAnswer,
};

function readChatAnswer(text: string, stream: boolean): Pick<Answer, "message" | "finishReason" | "usage"> | null {
  const answer = stream ? readStream(text) : readBody(text);
  if (answer === null || answer.finishReason === null) return null;
  return {
    message: {
      role: "assistant",
      content: answer.text === "" ? [] : [{ type: "text", text: answer.text }],
      ...(answer.reasoning === "" ? {} : { reasoning: answer.reasoning }),
      toolCalls: answer.toolCalls,
    },
    finishReason: answer.finishReason,
    usage: answer.usage ?? { promptTokens: 0, completionTokens: 0 },
  };
}

function readStream(text: string) {
  const reader = createChatStreamReader();
  for (const event of readSse(text)) reader.push(event.data);
  return reader.answer();
}

function readBody(text: string) {
  const parsed = completionSchema.safeParse(JSON.parse(text));
  return parsed.success ? readCompletion(parsed.data) : null;
}
