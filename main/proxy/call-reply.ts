/** What a client is sent when its call has ended, in its dialect and the shape that it asked for. */
import type { Answer } from "../../engine/conversation/index.ts";
import type { Arrival, CallEntry } from "./call-entry.ts";
import type { Ending } from "./call-events.ts";
import type { AnswerContext, ReplyShape } from "./dialects/dialect.ts";
import { faultOfEnding } from "./faults.ts";
import type { SaidStream } from "./said-stream.ts";

/** null when the call ended without one. */
export function answerOf(ending: Ending): Answer | null {
  return ending.kind === "result" && ending.result.ok ? ending.result.answer : null;
}

export function answerContext(callId: string, { startedAt }: Pick<Arrival, "startedAt">, reply: ReplyShape): AnswerContext {
  return { callId, reply, createdAt: Math.floor(startedAt / 1000) };
}

/** The whole body of a reply that nothing of has gone out yet. `reply`: the shape that it was asked for in. */
export function replyBody(entry: Pick<CallEntry, "id" | "startedAt" | "dialect">, ending: Ending, reply: ReplyShape): Uint8Array {
  const answer = answerOf(ending);
  const context = answerContext(entry.id, entry, reply);
  if (answer !== null) return Buffer.from(reply.stream ? entry.dialect.answerStream(answer, context) : entry.dialect.answerBody(answer, context));
  const fault = faultOfEnding(ending);
  return Buffer.from(fault === null ? "" : entry.dialect.errorBody(fault));
}

/** Of a stream that has begun. A client that left got what had gone out, and no more. */
export function wholeStream(said: SaidStream, ending: Ending): string {
  const hasLeft = ending.kind === "cancelled" && ending.reason === "client-gone";
  return said.sent() + (hasLeft ? "" : restOfStream(said, ending));
}

/** What is still to be sent of a stream that has begun. */
export function restOfStream(said: SaidStream, ending: Ending): string {
  const answer = answerOf(ending);
  if (answer !== null) return said.finish(answer);
  const fault = faultOfEnding(ending);
  return fault === null ? "" : said.fail(fault);
}
