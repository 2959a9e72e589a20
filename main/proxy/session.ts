/**
 * One rollout attempt at the proxy: carries out what the call machine commands. Owns the calls that live, their timers and their
 * upstream requests; everything that must be durable is in the store before a byte of it leaves.
 */
import type { Answer, Conversation } from "../../engine/conversation/index.ts";
import { createPlacementIndex, type PlacementIndex } from "../../engine/graph/index.ts";
import type { Store } from "../store/index.ts";
import { askPolicy } from "./ask-policy.ts";
import type { Arrival, CallEntry } from "./call-entry.ts";
import type { CallMark, Ending, MachineCommand, MachineEvent, MachineTimer } from "./call-events.ts";
import { type CallMachine, createCallMachine, defaultMachineSettings } from "./call-machine.ts";
import { buildRecord } from "./call-record.ts";
import type { Clock, PolicyWaitListener, SessionOptions, SessionStats } from "./contract.ts";
import type { SaidPiece } from "./dialects/answer-writer.ts";
import type { AnswerContext } from "./dialects/dialect.ts";
import { brokenFault, faultOfEnding, refusalOf } from "./faults.ts";
import type { Exchange } from "./http/exchange.ts";
import { createPolicyWait } from "./policy-wait.ts";
import { defaultRetryBudget } from "./retry-policy.ts";
import { createSaidStream, type SaidStream } from "./said-stream.ts";
import { createStats } from "./session-stats.ts";
import type { TokenIn } from "./token-in.ts";
import { showPlainMessage, showPlainTools } from "./tool-names.ts";
import type { UpstreamResult } from "./upstreams/upstream.ts";

export interface SessionCoreOptions extends SessionOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** null = text-in. */
  readonly tokenIn: TokenIn | null;
}

export interface SessionCore {
  /** A request that was read; its reply goes to the exchange when it is there. */
  accept(arrival: Arrival, exchange: Exchange): void;
  refuse(): void;
  /** Tokens of the prompt that a request would become; null when the policy's tokenizer is not known, or it refuses the request. */
  count(conversation: Conversation): number | null;
  stats(): SessionStats;
  onPolicyWait(listener: PolicyWaitListener): void;
  endAgentPhase(): void;
  beginAgentPhase(): void;
  /** Resolves when every call is on disk; nothing is written afterwards. */
  close(): Promise<void>;
}

/** What a connection waits for, in the shape it asked for. */
interface Listener {
  readonly exchange: Exchange;
  readonly arrival: Arrival;
  readonly timers: (() => void)[];
}

export function createSessionCore(options: SessionCoreOptions): SessionCore {
  const { store, clock, quirks, rolloutId, attempt, tokenIn } = options;
  const machine: CallMachine = createCallMachine({
    ...defaultMachineSettings,
    returnsForAnswer: quirks.returnsForAnswer,
    retry: defaultRetryBudget,
    random: Math.random,
  });
  const stats = createStats();
  const policyWait = createPolicyWait(clock, options.upstream.reportsQueue === true);
  const entries = new Map<number, CallEntry>();
  const listeners = new Map<number, Listener>();
  const queue: MachineEvent[] = [];
  let placements: PlacementIndex | null = null;
  let running = false;
  let ended = false;
  let closed = false;
  const writing = new Set<Promise<void>>();

  function dispatch(event: MachineEvent): void {
    if (closed) return;
    queue.push(event);
    if (running) return;
    running = true;
    try {
      for (let next = queue.shift(); next !== undefined; next = queue.shift())
        for (const command of machine.handle(next, clock.now())) runGuarded(command);
    } finally {
      running = false;
    }
  }

  /** A bug in one call must neither end the service nor leave a harness waiting. */
  function runGuarded(command: MachineCommand): void {
    try {
      run(command);
    } catch (error) {
      console.error(`proxy, rollout ${rolloutId}:`, error);
      if (command.type !== "send") return;
      const { dialect } = listeners.get(command.connection)?.arrival ?? {};
      const body = dialect?.errorBody(brokenFault) ?? "";
      listeners.get(command.connection)?.exchange.finish({ status: brokenFault.status, contentType: "application/json", body });
    }
  }

  function run(command: MachineCommand): void {
    switch (command.type) {
      case "begin":
        begin(command.call, command.connection);
        return;
      case "hold":
        policyWait.held(command.call);
        return;
      case "forward":
        forward(command.call, command.ticket);
        return;
      case "abort":
        entries.get(command.call)?.abort.abort();
        return;
      case "record":
        record(command);
        return;
      case "open":
        listeners.get(command.connection)?.exchange.openStream();
        return;
      case "comment":
        listeners.get(command.connection)?.exchange.comment();
        return;
      case "send":
        send(command.connection, command.call, command.ending);
        return;
      case "mark":
        mark(command.call, command.mark);
        return;
      case "forget":
        for (const cancel of entries.get(command.call)?.timers ?? []) cancel();
        entries.delete(command.call);
        return;
      case "wait":
        wait(command.timer, command.ms);
    }
  }

  function callId(index: number): string {
    return `${rolloutId}-${attempt}-${index}`;
  }

  function begin(index: number, connection: number): void {
    const arrival = listeners.get(connection)?.arrival;
    if (arrival === undefined) return;
    const id = callId(index);
    entries.set(index, {
      ...arrival,
      index,
      id,
      notes: [...arrival.notes],
      abort: new AbortController(),
      timers: [],
      askedAt: null,
      prepared: null,
      exchange: null,
      rendered: null,
      remembered: false,
      said: saidStreamOf(connection, id),
    });
  }

  /** Where the policy's words can go through as they come: nothing is built from its tokens, and no secret could come in pieces. */
  function saidStreamOf(connection: number, call: string): SaidStream | null {
    const listener = listeners.get(connection);
    if (listener === undefined || !listener.arrival.reply.stream || tokenIn !== null || options.secrets.length > 0) return null;
    const { exchange, arrival } = listener;
    const context: AnswerContext = { callId: call, reply: arrival.reply, createdAt: Math.floor(arrival.startedAt / 1000) };
    const journal = (piece: SaidPiece): void => {
      store.appendEvent({ at: clock.now(), experimentId: null, rolloutId, type: "call.said", payload: JSON.stringify({ call, ...piece }) });
    };
    return createSaidStream({ exchange, writer: arrival.dialect.openAnswer(context), clock, journal });
  }

  function wait(timer: MachineTimer, ms: number): void {
    if (timer.kind === "retry") policyWait.held(timer.call);
    const timers = "connection" in timer ? listeners.get(timer.connection)?.timers : entries.get(timer.call)?.timers;
    timers?.push(clock.after(ms, () => dispatch({ type: "timer", timer })));
  }

  function forward(index: number, ticket: number): void {
    const entry = entries.get(index);
    if (entry?.conversation == null) return;
    entry.askedAt ??= clock.now();
    policyWait.asked(index);
    askPolicy(entry, entry.conversation, options).then(
      (told) => {
        const result = entry.said?.settle(told) ?? told;
        policyWait.answered(index, result.queueMs ?? 0);
        dispatch({ type: "upstream-ended", call: index, ticket, result, hold: false });
      },
      (error: unknown) => {
        if (!entry.abort.signal.aborted) dispatch({ type: "upstream-ended", call: index, ticket, result: brokenResult(error), hold: false });
      },
    );
  }

  function record(command: Extract<MachineCommand, { type: "record" }>): void {
    policyWait.over(command.call);
    const entry = entries.get(command.call);
    if (entry === undefined) return;
    const answer = answerOf(command.ending);
    const fault = faultOfEnding(command.ending);
    try {
      const { said } = entry;
      const bytes = said?.hasBegun() === true ? Buffer.from(wholeOf(said, command.ending)) : render(entry, command.ending, entry.reply.stream);
      entry.rendered = { stream: entry.reply.stream, bytes };
      const tokens = answer?.tokens;
      if (tokens !== undefined) placements ??= createPlacementIndex();
      const placement = tokens === undefined || placements === null ? null : placements.placeCall({ callId: entry.id, ...tokens });
      const built = buildRecord(
        {
          entry,
          ending: command.ending,
          aborted: command.aborted,
          replays: command.replays,
          retries: command.retries,
          endedAt: clock.now(),
          fault,
          placement,
        },
        { rolloutId, attempt, blobs: store.blobs, redactHeaders: store.redactor.headers, sessionHeaders: quirks.sessionHeaders },
      );
      stats.recorded(built.call, command.ending, built.secretSeen);
      const written = store.recordCallDurably(built.call, built.node, entry.attachments).then(
        () => {
          for (const note of entry.notes.splice(0)) noteCall(entry, note);
          dispatch({ type: "recorded", call: command.call });
        },
        (error: unknown) => recordFailed(command.call, error),
      );
      writing.add(written);
      written.finally(() => writing.delete(written));
    } catch (error) {
      recordFailed(command.call, error);
    }
  }

  function recordFailed(call: number, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    dispatch({
      type: "record-failed",
      call,
      failure: {
        kind: "server-error",
        status: 500,
        message: `The call could not be recorded: ${message}.`,
        remedy: "Look at the data folder's disk.",
        retryable: false,
      },
    });
  }

  function noteCall(entry: CallEntry, note: string): void {
    const payload = JSON.stringify({ call: entry.id, note });
    store.appendEvent({ at: clock.now(), experimentId: null, rolloutId, type: "call.note", payload });
  }

  function render(entry: CallEntry, ending: Ending, stream: boolean): Uint8Array {
    const answer = answerOf(ending);
    const context: AnswerContext = { callId: entry.id, reply: entry.reply, createdAt: Math.floor(entry.startedAt / 1000) };
    if (answer !== null) return Buffer.from(stream ? entry.dialect.answerStream(answer, context) : entry.dialect.answerBody(answer, context));
    const fault = faultOfEnding(ending);
    return Buffer.from(fault === null ? "" : entry.dialect.errorBody(fault));
  }

  function send(connection: number, index: number, ending: Ending): void {
    const listener = listeners.get(connection);
    const entry = entries.get(index);
    if (listener === undefined || entry === undefined) return;
    const { exchange, arrival } = listener;
    if (entry.said?.hasBegun() === true && entry.said.connection === connection) {
      exchange.finish({ status: 200, contentType: "text/event-stream", body: restOf(entry.said, ending) });
      return;
    }
    const answer = answerOf(ending);
    const { stream } = arrival.reply;
    if (answer !== null) {
      if (entry.conversation !== null && !entry.remembered) tokenIn?.remember(entry.id, showPlainTools(entry.conversation), showPlainMessage(answer));
      entry.remembered = true;
      const asked = { ...entry, reply: arrival.reply };
      const body = entry.rendered?.stream === stream ? entry.rendered.bytes : render(asked, ending, stream);
      exchange.finish({ status: 200, contentType: stream ? "text/event-stream" : "application/json", body });
      return;
    }
    const fault = faultOfEnding(ending);
    if (fault === null) return;
    const context: AnswerContext = { callId: entry.id, reply: entry.reply, createdAt: Math.floor(entry.startedAt / 1000) };
    const retryAfter = fault.retryAfterSeconds === undefined ? {} : { headers: { "retry-after": String(fault.retryAfterSeconds) } };
    if (exchange.isOpen()) exchange.finish({ status: 200, contentType: "text/event-stream", body: entry.dialect.errorStream(fault, context) });
    else exchange.finish({ status: fault.status, contentType: "application/json", body: entry.dialect.errorBody(fault), ...retryAfter });
  }

  function mark(index: number, change: CallMark): void {
    store.updateCall(callId(index), change);
  }

  return {
    accept(arrival, exchange) {
      // Left before it could be asked for: nothing was sampled, so there is nothing to keep.
      if (exchange.isGone()) return;
      listeners.set(exchange.id, { exchange, arrival, timers: [] });
      const leave = (): void => {
        for (const cancel of listeners.get(exchange.id)?.timers ?? []) cancel();
        listeners.delete(exchange.id);
      };
      exchange.onDelivered(() => {
        leave();
        dispatch({ type: "delivered", connection: exchange.id });
      });
      exchange.onGone(() => {
        leave();
        dispatch({ type: "client-gone", connection: exchange.id });
      });
      const alive = arrival.reply.stream && quirks.keepaliveComments;
      const instead = arrival.refusal === null ? {} : { instead: refusalOf(arrival.refusal) };
      dispatch({ type: "arrived", connection: exchange.id, key: arrival.requestKey, alive, hold: false, ...instead });
    },
    refuse: () => stats.refused(),
    count(conversation) {
      const prepared = tokenIn?.prepare(showPlainTools(conversation), clock.now());
      return prepared?.ok === true ? prepared.prompt.ids.length : null;
    },
    stats: () => stats.read(),
    onPolicyWait: (listener) => policyWait.listen(listener),
    endAgentPhase() {
      if (ended) return;
      ended = true;
      dispatch({ type: "agent-phase-ended" });
    },
    beginAgentPhase() {
      ended = false;
      dispatch({ type: "agent-phase-begun" });
    },
    async close() {
      await Promise.all(writing);
      closed = true;
    },
  };
}

/** Of a stream that has begun. A client that left got what had gone out, and no more. */
function wholeOf(said: SaidStream, ending: Ending): string {
  const hasLeft = ending.kind === "cancelled" && ending.reason === "client-gone";
  return said.sent() + (hasLeft ? "" : restOf(said, ending));
}

function restOf(said: SaidStream, ending: Ending): string {
  const answer = answerOf(ending);
  if (answer !== null) return said.finish(answer);
  const fault = faultOfEnding(ending);
  return fault === null ? "" : said.fail(fault);
}

function answerOf(ending: Ending): Answer | null {
  return ending.kind === "result" && ending.result.ok ? ending.result.answer : null;
}

/** A bug of ours must not leave a harness hanging. */
function brokenResult(error: unknown): UpstreamResult {
  const message = error instanceof Error ? error.message : String(error);
  return {
    ok: false,
    failure: {
      kind: "server-error",
      status: 500,
      message: `The call broke inside the workbench: ${message}.`,
      remedy: "Please report this.",
      retryable: false,
    },
  };
}
