/** What every dialect offers the proxy: reading a request, writing an answer or an error in its own form. No I/O. */
import type { Answer, BlobHash, Conversation } from "../../../engine/conversation/index.ts";
import type { AnswerWriter } from "./answer-writer.ts";
import type { Mark, RequestBody } from "./request-body.ts";

export type DialectId = "chat" | "responses" | "messages" | "gemini";

/** Keeps the bytes of images and files once, by content. */
export interface MediaStore {
  put(bytes: Uint8Array): BlobHash;
  get(hash: BlobHash): Uint8Array | null;
}

/** A refusal or failure as the client is told it. */
export interface Fault {
  readonly status: number;
  /** Machine-readable, in OpenAI's words (`context_length_exceeded`, `invalid_api_key` …). */
  readonly code: string;
  /** OpenAI's class of the error (`invalid_request_error`, `server_error` …). */
  readonly type: string;
  /** One sentence for a person, with what to do. */
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** What of the request decides the shape of the reply. */
export interface ReplyShape {
  readonly model: string;
  readonly stream: boolean;
  /** Chat: `stream_options.include_usage`. */
  readonly includeUsage: boolean;
  /** Responses: `include` names `reasoning.encrypted_content`. */
  readonly encryptedReasoning: boolean;
  readonly parallelToolCalls: boolean;
  /** Gemini: the one body of an answer as a list of one. */
  readonly asList?: boolean;
}

export type Decoded =
  | {
      readonly ok: true;
      readonly conversation: Conversation;
      readonly reply: ReplyShape;
      /** Places near the end of the list from which a longer request can be read on; longest first. */
      readonly marks: readonly Mark[];
    }
  | { readonly ok: false; readonly fault: Fault };

export interface AnswerContext {
  /** Names the answer and its items; unique over all calls. */
  readonly callId: string;
  readonly reply: ReplyShape;
  /** Unix seconds. */
  readonly createdAt: number;
}

export interface Dialect {
  readonly id: DialectId;
  /** Member of the request that holds the messages. */
  readonly list: "messages" | "input" | "contents";
  /** `path` as in the request line: one dialect says there what others say in the body. */
  decode(body: RequestBody, media: MediaStore, path: string): Decoded;
  /** The one JSON body of a reply that is not streamed. */
  answerBody(answer: Answer, context: AnswerContext): string;
  /** The whole stream as text; it has passed the dialect's own state machine. */
  answerStream(answer: Answer, context: AnswerContext): string;
  /** The same stream, written while the answer is being sampled. */
  openAnswer(context: AnswerContext): AnswerWriter;
  errorBody(fault: Fault): string;
  /** An error after the stream's headers went out; ends the stream. */
  errorStream(fault: Fault, context: AnswerContext): string;
  /** Reads back what `answerBody` or `answerStream` wrote; null when it is no answer. */
  readAnswer(text: string, stream: boolean): Pick<Answer, "message" | "finishReason" | "usage"> | null;
}

export function invalidRequest(message: string, code = "invalid_request"): { readonly ok: false; readonly fault: Fault } {
  return { ok: false, fault: { status: 400, code, type: "invalid_request_error", message } };
}

/** OpenAI's error object, the same in Chat Completions and Responses. */
export function openAiErrorBody(fault: Fault): string {
  return JSON.stringify({ error: { message: fault.message, type: fault.type, param: null, code: fault.code } });
}
