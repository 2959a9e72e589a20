/**
 * The life of the calls of one rollout attempt, without I/O: events in, commands out, in order.
 *
 *   arrived → [held] → forwarding ⇄ waiting → [held] → recording → settled
 *
 * Invariants: an answer is recorded before it is sent; a call is recorded once; a connection gets at most one answer; an equal
 * body whose earlier connection closed before its last event was flushed is answered from that call and is never a second call;
 * two equal bodies at once are two calls; a client that goes away is an abort, not an error. A held call blocks nothing else.
 */
import type { CancelReason, Ending, HoldPoint, MachineCommand, MachineEvent, MachineSettings, MachineTimer } from "./call-events.ts";
import { type Call, createKnownCalls, isOpen, takesRetry } from "./known-calls.ts";
import { countsAsTry, nextTryDelay } from "./retry-policy.ts";
import type { UpstreamFailure, UpstreamResult } from "./upstreams/upstream.ts";

export const defaultMachineSettings = { statusHoldMs: 8_000, commentMs: 10_000, callBudgetMs: 1_800_000, abandonMs: 600_000 } as const;

/**
 * How long an equal body waits while its twin is being answered: a client may have cut that connection before it asked again, and the
 * news of the cut come after the new request.
 */
const twinMs = 50;
/** A client that hung up this soon after the last byte may not have read it: an equal body then is ambiguous. */
const ambiguousMs = 1_000;

type Arrived = Extract<MachineEvent, { type: "arrived" }>;

export interface CallMachine {
  handle(event: MachineEvent, now: number): readonly MachineCommand[];
  /** Calls that are neither answered nor given up. */
  live(): number;
}

export function createCallMachine(settings: MachineSettings): CallMachine {
  const calls = createKnownCalls();
  /** Requests that wait to see whether they are a retry or a call of their own, by connection, oldest first. */
  const undecided = new Map<number, Arrived>();
  let ended = false;
  /** A call used up its whole budget: until one is answered, no other waits as long for the same dead upstream. */
  let exhausted = false;
  let out: MachineCommand[] = [];

  function listen(call: Call, connection: number, alive: boolean): void {
    calls.listen(call, connection);
    if (alive) out.push({ type: "wait", timer: { kind: "status", connection }, ms: settings.statusHoldMs });
  }

  function arrive(event: Arrived, now: number): void {
    calls.forgetOld(now);
    const equal = calls.equalTo(event.key);
    const orphaned = equal.find(takesRetry);
    if (orphaned !== undefined) join(orphaned, event);
    else if (!ended && equal.some((earlier) => earlier.connection !== null && earlier.state !== "done")) {
      undecided.set(event.connection, event);
      out.push({ type: "wait", timer: { kind: "twin", connection: event.connection }, ms: twinMs });
    } else begin(event, equal);
  }

  function begin(event: Arrived, equal: readonly Call[]): void {
    for (const earlier of equal) if (earlier.hungUpSoon) out.push({ type: "mark", call: earlier.index, mark: { quarantined: "ambiguous-retry" } });
    const call = calls.add(event.key);
    out.push({ type: "begin", call: call.index, connection: event.connection });
    listen(call, event.connection, event.alive && !ended && event.instead === undefined);
    if (event.instead !== undefined) record(call, { kind: "result", result: event.instead });
    else if (ended) record(call, { kind: "cancelled", reason: "late" });
    else if (event.hold) out.push({ type: "hold", call: call.index, point: "request" });
    else start(call);
  }

  function join(call: Call, event: Arrived): void {
    call.replays += 1;
    call.aborted = false;
    listen(call, event.connection, event.alive && call.state !== "owed");
    if (call.state !== "owed" || call.ending === null) return;
    send(call, event.connection, call.ending);
  }

  function send(call: Call, connection: number, ending: Ending): void {
    call.state = "sending";
    out.push({ type: "send", connection, call: call.index, ending });
  }

  function start(call: Call): void {
    out.push({ type: "wait", timer: { kind: "budget", call: call.index, ticket: 0 }, ms: settings.callBudgetMs });
    forward(call);
  }

  function forward(call: Call): void {
    call.state = "forwarding";
    call.ticket += 1;
    out.push({ type: "forward", call: call.index, ticket: call.ticket });
  }

  function upstreamEnded(call: Call, result: UpstreamResult, hold: boolean): void {
    if (result.ok) exhausted = false;
    else {
      if (countsAsTry(result.failure)) call.tries += 1;
      const state = { tries: Math.max(1, call.tries), waitedMs: call.waitedMs };
      const delay = exhausted ? null : nextTryDelay(result.failure, state, settings.retry, settings.random());
      if (delay !== null) {
        call.state = "waiting";
        call.ticket += 1;
        call.retries += 1;
        call.waitedMs += delay;
        out.push({ type: "wait", timer: { kind: "retry", call: call.index, ticket: call.ticket }, ms: delay });
        return;
      }
      if (result.failure.retryable) exhausted = true;
    }
    call.ending = { kind: "result", result };
    if (hold) {
      call.state = "held-answer";
      out.push({ type: "hold", call: call.index, point: "answer" });
    } else record(call, call.ending);
  }

  function record(call: Call, ending: Ending): void {
    call.state = "recording";
    call.ending = ending;
    call.ticket += 1;
    // Whether the news of a client's end or that of its agent's comes first is chance; it is an abort either way.
    const aborted = call.connection === null || (ending.kind === "cancelled" && ending.reason !== "late");
    call.aborted = aborted;
    out.push({ type: "record", call: call.index, ending, aborted, replays: call.replays, retries: call.retries });
  }

  function recorded(call: Call): void {
    if (call.ending === null) return;
    if (call.connection === null) orphan(call);
    else send(call, call.connection, call.ending);
  }

  /** Nobody got the answer: it is kept for the client's retry. A failure is not; the retry may find the upstream well. */
  function orphan(call: Call): void {
    if (!call.aborted) {
      call.aborted = true;
      out.push({ type: "mark", call: call.index, mark: { aborted: true, status: "aborted", replays: call.replays } });
    }
    if (call.ending?.kind === "result" && call.ending.result.ok) call.state = "owed";
    else {
      finish(call);
      calls.drop(call);
    }
  }

  function finish(call: Call): void {
    call.state = "done";
    call.ending = null;
    out.push({ type: "forget", call: call.index });
  }

  function delivered(connection: number, now: number): void {
    const call = calls.listenerOf(connection);
    if (call === undefined || call.state !== "sending") return;
    const wasAnswered = call.ending?.kind === "result" && call.ending.result.ok;
    if (call.replays > 0 && wasAnswered) out.push({ type: "mark", call: call.index, mark: { aborted: false, status: "ok", replays: call.replays } });
    calls.answered(call, now);
    finish(call);
  }

  /** The request on this connection is a call of its own after all. */
  function decide(connection: number): void {
    const event = undecided.get(connection);
    if (event === undefined) return;
    undecided.delete(connection);
    begin(event, calls.equalTo(event.key));
  }

  function clientGone(connection: number, now: number): void {
    undecided.delete(connection);
    const call = calls.close(connection);
    if (call === undefined) return;
    const twin = [...undecided.values()].find((event) => event.key === call.key);
    if (twin === undefined || !(isOpen(call) || call.state === "recording")) leave(call, now);
    if (twin === undefined || !takesRetry(call)) return;
    undecided.delete(twin.connection);
    join(call, twin);
  }

  function leave(call: Call, now: number): void {
    if (call.state === "done") call.hungUpSoon = now - call.deliveredAt <= ambiguousMs;
    else if (call.state === "sending") orphan(call);
    else if (call.state !== "recording") {
      if (settings.returnsForAnswer)
        out.push({ type: "wait", timer: { kind: "abandon", call: call.index, ticket: call.replays }, ms: settings.abandonMs });
      else cancel(call, "client-gone");
    }
  }

  function cancel(call: Call, reason: CancelReason): void {
    if (call.state === "forwarding") out.push({ type: "abort", call: call.index });
    record(call, { kind: "cancelled", reason });
  }

  function connectionTimer(kind: "status" | "comment" | "twin", connection: number): void {
    if (kind === "twin") {
      decide(connection);
      return;
    }
    const waiting = calls.listenerOf(connection);
    if (waiting === undefined || !isOpen(waiting)) return;
    out.push({ type: kind === "status" ? "open" : "comment", connection });
    out.push({ type: "wait", timer: { kind: "comment", connection }, ms: settings.commentMs });
  }

  function callTimer(fired: Extract<MachineTimer, { ticket: number }>): void {
    const call = calls.get(fired.call);
    if (call === undefined) return;
    switch (fired.kind) {
      case "retry":
        if (call.state === "waiting" && call.ticket === fired.ticket) forward(call);
        return;
      case "budget":
        if (call.state !== "forwarding" && call.state !== "waiting") return;
        if (call.state === "forwarding") out.push({ type: "abort", call: call.index });
        record(call, { kind: "result", result: { ok: false, failure: budgetFailure(settings.callBudgetMs) } });
        return;
      case "abandon":
        if (call.connection === null && call.replays === fired.ticket && isOpen(call)) cancel(call, "client-gone");
    }
  }

  function endAgentPhase(): void {
    ended = true;
    for (const connection of [...undecided.keys()]) decide(connection);
    for (const call of calls.all()) if (isOpen(call)) cancel(call, call.connection === null ? "client-gone" : "agent-phase-ended");
  }

  function resumed(call: Call, point: HoldPoint, instead: UpstreamResult | undefined): void {
    if (point === "request" && call.state === "held-request") {
      if (instead === undefined) start(call);
      else record(call, { kind: "result", result: instead });
    } else if (point === "answer" && call.state === "held-answer" && call.ending !== null)
      record(call, instead === undefined ? call.ending : { kind: "result", result: instead });
  }

  function callEvent(event: Extract<MachineEvent, { call: number }>): void {
    const call = calls.get(event.call);
    if (call === undefined) return;
    switch (event.type) {
      case "upstream-ended":
        if (call.state === "forwarding" && call.ticket === event.ticket) upstreamEnded(call, event.result, event.hold);
        return;
      case "resumed":
        resumed(call, event.point, event.instead);
        return;
      case "recorded":
        if (call.state === "recording") recorded(call);
        return;
      case "record-failed":
        if (call.state !== "recording") return;
        call.ending = { kind: "result", result: { ok: false, failure: event.failure } };
        recorded(call);
    }
  }

  function dispatch(event: MachineEvent, now: number): void {
    switch (event.type) {
      case "arrived":
        arrive(event, now);
        return;
      case "delivered":
        delivered(event.connection, now);
        return;
      case "client-gone":
        clientGone(event.connection, now);
        return;
      case "timer":
        if ("connection" in event.timer) connectionTimer(event.timer.kind, event.timer.connection);
        else callTimer(event.timer);
        return;
      case "agent-phase-ended":
        endAgentPhase();
        return;
      case "agent-phase-begun":
        ended = false;
        return;
      default:
        callEvent(event);
    }
  }

  return {
    handle(event, now) {
      out = [];
      dispatch(event, now);
      return out;
    },
    live: () => calls.all().filter((call) => call.state !== "done" && call.state !== "owed").length,
  };
}

function budgetFailure(budgetMs: number): UpstreamFailure {
  return {
    kind: "unreachable",
    message: `The policy gave no answer within ${Math.round(budgetMs / 1000)} s.`,
    remedy: "Look at the load of the policy server, or raise the time budget of a call.",
    retryable: false,
  };
}
