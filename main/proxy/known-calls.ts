/** The calls that a machine knows: by number, by the key of their request, by the connection that listens. Which request is whose retry is told from here. */
import type { Ending } from "./call-events.ts";

/** A retry could be ambiguous only when it comes this soon after the answer. */
const rememberMs = 5_000;

type CallState = "held-request" | "forwarding" | "waiting" | "held-answer" | "recording" | "sending" | "owed" | "done";

export interface Call {
  readonly index: number;
  readonly key: string;
  state: CallState;
  connection: number | null;
  ending: Ending | null;
  aborted: boolean;
  replays: number;
  /** Names the running try or wait; events of an older one are stale. */
  ticket: number;
  tries: number;
  retries: number;
  waitedMs: number;
  deliveredAt: number;
  hungUpSoon: boolean;
}

/** Not answered and not given up. */
export function isOpen({ state }: Call): boolean {
  return state === "held-request" || state === "forwarding" || state === "waiting" || state === "held-answer";
}

/** Nobody listens to this call any more, and its answer is there or will be. */
export function takesRetry(call: Call): boolean {
  return call.connection === null && call.state !== "done" && call.ending?.kind !== "cancelled";
}

interface KnownCalls {
  /** A new call, with the next number. */
  add(key: string): Call;
  get(index: number): Call | undefined;
  all(): readonly Call[];
  /** With an equal request, oldest first. */
  equalTo(key: string): readonly Call[];
  listen(call: Call, connection: number): void;
  listenerOf(connection: number): Call | undefined;
  /** The connection closed; returns what it listened to. */
  close(connection: number): Call | undefined;
  /** The whole answer went out: it is known as long as an equal request could be an ambiguous retry. */
  answered(call: Call, now: number): void;
  /** Drops those that no retry could be of any more. */
  forgetOld(now: number): void;
  drop(call: Call): void;
}

export function createKnownCalls(): KnownCalls {
  const calls = new Map<number, Call>();
  const byKey = new Map<string, Set<Call>>();
  const byConnection = new Map<number, Call>();
  /** Oldest first. */
  const answered = new Set<Call>();
  let nextIndex = 0;

  function drop(call: Call): void {
    calls.delete(call.index);
    if (call.connection !== null) byConnection.delete(call.connection);
    const equal = byKey.get(call.key);
    equal?.delete(call);
    if (equal?.size === 0) byKey.delete(call.key);
  }

  return {
    add(key) {
      const call: Call = {
        ...{ index: nextIndex++, key, state: "held-request", connection: null, ending: null, aborted: false, replays: 0 },
        ...{ ticket: 0, tries: 0, retries: 0, waitedMs: 0, deliveredAt: Number.POSITIVE_INFINITY, hungUpSoon: false },
      };
      calls.set(call.index, call);
      byKey.set(key, (byKey.get(key) ?? new Set()).add(call));
      return call;
    },
    get: (index) => calls.get(index),
    all: () => [...calls.values()],
    equalTo: (key) => [...(byKey.get(key) ?? [])],
    listen(call, connection) {
      call.connection = connection;
      byConnection.set(connection, call);
    },
    listenerOf: (connection) => byConnection.get(connection),
    close(connection) {
      const call = byConnection.get(connection);
      byConnection.delete(connection);
      if (call !== undefined) call.connection = null;
      return call;
    },
    answered(call, now) {
      call.deliveredAt = now;
      answered.add(call);
    },
    forgetOld(now) {
      for (const old of answered) {
        if (now - old.deliveredAt <= rememberMs) break;
        answered.delete(old);
        drop(old);
      }
    },
    drop,
  };
}
