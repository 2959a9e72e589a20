/**
 * An answer that goes out to its client while it is being said. What was said in a moment is put together, journalled, and only then
 * sent; what has gone out can neither be asked for again nor be taken back.
 */
import type { Answer } from "../../engine/conversation/index.ts";
import type { Clock } from "./contract.ts";
import type { AnswerWriter, SaidPiece } from "./dialects/answer-writer.ts";
import type { Fault } from "./dialects/dialect.ts";
import type { Exchange } from "./http/exchange.ts";
import type { UpstreamResult } from "./upstreams/upstream.ts";

export interface SaidStream {
  /** Of the connection that it goes out on. */
  readonly connection: number;
  readonly say: (piece: SaidPiece) => void;
  /** A try has ended: what was said goes out, and the result is one that can still follow it. */
  settle(result: UpstreamResult): UpstreamResult;
  /** Something went out. */
  hasBegun(): boolean;
  /** What went out. */
  sent(): string;
  /** What must follow it: the rest of the answer, or the end of a stream that breaks off. */
  finish(answer: Answer): string;
  fail(fault: Fault): string;
}

interface SaidStreamOptions {
  readonly exchange: Exchange;
  readonly writer: AnswerWriter;
  readonly clock: Clock;
  /** Keeps what is about to go out; throws when it can't. */
  readonly journal: (piece: SaidPiece) => void;
}

/** What is said within this time goes out together. */
const gatherMs = 100;

export function createSaidStream({ exchange, writer, clock, journal }: SaidStreamOptions): SaidStream {
  let waiting: SaidPiece[] = [];
  let sent = "";
  /** Nobody listens any more, or nothing can be kept any more: what comes is not sent. */
  let stopped = false;

  function flush(): void {
    const pieces = joined(waiting);
    waiting = [];
    for (const piece of pieces) {
      stopped ||= exchange.isGone();
      if (stopped) return;
      journal(piece);
      const out = writer.say(piece);
      if (out === "") continue;
      exchange.send(out);
      sent += out;
    }
  }

  /** What can't be journalled stays unsaid: the record of the call will fail for the same reason and tell the client. */
  function flushSafely(): void {
    try {
      flush();
    } catch (error) {
      stopped = true;
      console.error("proxy, journal:", error);
    }
  }

  return {
    connection: exchange.id,
    say(piece) {
      if (stopped) return;
      if (waiting.length === 0) clock.after(gatherMs, flushSafely);
      waiting.push(piece);
    },
    settle(result) {
      flushSafely();
      if (sent === "") return result;
      if (!result.ok) return { ...result, failure: { ...result.failure, retryable: false } };
      return writer.fits(result.answer) ? result : otherAnswer(result);
    },
    hasBegun: () => sent !== "",
    sent: () => sent,
    finish: writer.finish,
    fail: writer.fail,
  };
}

/** Pieces of one kind in a row as one. */
function joined(pieces: readonly SaidPiece[]): readonly SaidPiece[] {
  const all: SaidPiece[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if (last?.kind === piece.kind) all[all.length - 1] = { kind: last.kind, text: last.text + piece.text };
    else all.push(piece);
  }
  return all;
}

function otherAnswer({ exchange }: UpstreamResult): UpstreamResult {
  return {
    ok: false,
    failure: {
      kind: "garbled",
      message: "The policy server's answer does not go on as it began.",
      remedy: "Look at the log of the policy server.",
      retryable: false,
    },
    ...(exchange === undefined ? {} : { exchange }),
  };
}
