/**
 * What real harnesses send, as it was recorded: the shape is theirs, every text is ours. Texts that begin with § must be found in what
 * was read, wherever it went: nothing of a conversation is dropped in silence.
 */
import { expect, test } from "vitest";
import type { BlobHash, Message } from "../../../engine/conversation/index.ts";
import { dialects } from "./by-id.ts";
import type { MediaStore } from "./dialect.ts";
import { chatShapes } from "./recorded-shapes/chat.test-data.ts";
import { geminiShapes } from "./recorded-shapes/gemini.test-data.ts";
import { messagesShapes } from "./recorded-shapes/messages.test-data.ts";
import { responsesShapes } from "./recorded-shapes/responses.test-data.ts";
import { readWhole } from "./request-body.ts";

const media: MediaStore = { put: (bytes) => `h${bytes.length}` as BlobHash, get: () => null };

const shapes = [...chatShapes, ...geminiShapes, ...messagesShapes, ...responsesShapes];

test.each(shapes)("$of ($dialect)", ({ dialect: id, path = "/v1", body, roles, calls = [] }) => {
  const dialect = dialects[id];
  const decoded = dialect.decode(readWhole(Buffer.from(JSON.stringify(body)), dialect.list), media, path);
  if (!decoded.ok) throw new Error(decoded.fault.message);
  const { messages } = decoded.conversation;
  expect(messages.map(roleLetter).join("")).toBe(roles);
  expect(
    messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : [])).map((call) => `${call.name} ${call.arguments}`),
  ).toEqual(calls);
  for (const message of messages) if (message.role === "tool") expect(message.toolCallId).not.toBe("");

  const kept = JSON.stringify(decoded.conversation);
  for (const text of markedTexts(body)) expect(kept, text).toContain(text);
});

function roleLetter(message: Message): string {
  const letter = message.role.charAt(0);
  const hasImage = message.role !== "other" && message.content.some((part) => part.type === "image");
  return hasImage ? letter.toUpperCase() : letter;
}

/** Every `§word` of a request. */
function markedTexts(value: unknown): readonly string[] {
  return [...new Set(JSON.stringify(value).match(/§\p{L}+/gu) ?? [])];
}
