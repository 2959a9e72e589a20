/** Whether a reply is what a client of its dialect understands: an answer, a stream that ends, or an error in the dialect's own form. */
import { readSse } from "../../../main/proxy/streams/sse.ts";
import type { RawReply } from "./raw-exchange.ts";
import type { FuzzDialect } from "./request-bodies.ts";

type Members = Readonly<Record<string, unknown>>;

/** null = it is; else what is wrong with it. */
export function faultOfReply(
  reply: Pick<RawReply, "status" | "contentType" | "body">,
  dialect: FuzzDialect,
  asks: "answer" | "count" | "models" | "other",
): string | null {
  const { status, contentType, body } = reply;
  if (status === null) return "no HTTP";
  if (body.includes("The proxy broke") || body.includes("broke inside the workbench")) return `a bug: ${body.slice(0, 300)}`;
  if (status >= 400) return faultOfError(dialect, status, parsed(body));
  if (status !== 200) return `status ${status}`;
  if (contentType.startsWith("text/event-stream")) return faultOfStream(dialect, body);
  const members = parsed(Array.isArray(tryParse(body)) ? JSON.stringify((tryParse(body) as unknown[])[0]) : body);
  if (members === null) return "no JSON object";
  if (asks === "count") return typeof (members.input_tokens ?? members.totalTokens) === "number" ? null : "no count";
  if (asks === "models") return Array.isArray(members.data) ? null : "no list of models";
  if (asks === "other") return null;
  return isAnswer(dialect, members) ? null : `no answer of ${dialect}: ${body.slice(0, 200)}`;
}

function faultOfError(dialect: FuzzDialect, status: number, members: Members | null): string | null {
  if (members === null) return "an error that is no JSON object";
  const error = object(members.error);
  if (error === null || typeof error.message !== "string" || error.message === "") return "an error without a message";
  if (/\n\s+at /.test(error.message)) return "an error with a stack trace";
  switch (dialect) {
    case "messages":
      return members.type === "error" && typeof error.type === "string" ? null : "no error of messages";
    case "gemini":
      return error.code === status && typeof error.status === "string" ? null : "no error of gemini";
    default:
      return typeof error.type === "string" && "code" in error ? null : `no error of ${dialect}`;
  }
}

function isAnswer(dialect: FuzzDialect, members: Members): boolean {
  switch (dialect) {
    case "chat":
      return Array.isArray(members.choices) && object(members.choices[0]) !== null;
    case "responses":
      return members.object === "response" && Array.isArray(members.output);
    case "messages":
      return members.type === "message" && Array.isArray(members.content) && typeof members.stop_reason === "string";
    case "gemini":
      return Array.isArray(members.candidates) && object(members.candidates[0]) !== null;
  }
}

/** A stream ends with its dialect's last word or with its dialect's error. */
function faultOfStream(dialect: FuzzDialect, body: string): string | null {
  const events = readSse(body).map((event) => ({ ...event, members: parsed(event.data) }));
  const last = events.at(-1);
  if (last === undefined) return "an empty stream";
  const ended = {
    chat: last.data === "[DONE]" || object(last.members?.error) !== null,
    responses: ["response.completed", "response.incomplete", "response.failed", "error"].includes(String(last.members?.type)),
    messages: ["message_stop", "error"].includes(String(last.members?.type)),
    gemini: Array.isArray(last.members?.candidates) || object(last.members?.error) !== null,
  };
  return ended[dialect] ? null : `a stream of ${dialect} that does not end: ${body.slice(-200)}`;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function parsed(text: string): Members | null {
  return object(tryParse(text));
}

function object(value: unknown): Members | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : null;
}
