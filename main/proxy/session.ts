/**
 * One rollout attempt at the proxy: carries out what the call machine commands. Owns the calls that live, their timers and their
 * upstream requests; everything that must be durable is in the store before a byte of it leaves.
 */
import type { Conversation } from "../../engine/conversation/index.ts";
import type { Store } from "../store/index.ts";
import { askPolicy } from "./ask-policy.ts";
import type { Arrival, CallEntry } from "./call-entry.ts";
import type { Ending, MachineCommand, MachineEvent, MachineTimer } from "./call-events.ts";
import { type CallMachine, createCallMachine, defaultMachineSettings } from "./call-machine.ts";
import { createCallRecorder } from "./call-recorder.ts";
import { answerContext, answerOf, replyBody, restOfStream, wholeStream } from "./call-reply.ts";
import type { Clock, PolicyWaitListener, SessionOptions, SessionStats } from "./contract.ts";
import { countTokens, sendCount, type TokenCount } from "./count-tokens.ts";
import type { SaidPiece } from "./dialects/answer-writer.ts";
import { brokenFailure, brokenFault, faultOfEnding, faultOfFailure, refusalOf, unrecordedFailure } from "./faults.ts";
import type { Exchange } from "./http/exchange.ts";
import { createPolicyWait } from "./policy-wait.ts";
import { defaultRetryBudget } from "./retry-policy.ts";
import { createSaidStream, type SaidStream } from "./said-stream.ts";
import { sideOf } from "./side-calls.ts";
import type { TokenIn } from "./token-in.ts";
import { showPlainMessage, showPlainTools } from "./tool-names.ts";

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
  /** A request that asks how many tokens it would be. */
  count(arrival: Arrival, exchange: Exchange): void;
  /** Tokens of the prompt that a request would become; null when the policy's tokenizer is not known, or it refuses the request. */
  tokensOf(conversation: Conversation): number | null;
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
  const recorder = createCallRecorder({ store, clock, rolloutId, attempt, sessionHeaders: quirks.sessionHeaders });
  const policyWait = createPolicyWait(clock, options.upstream.reportsQueue === true);
  const entries = new Map<number, CallEntry>();
  /** Of all calls, by the machine's number. */
  const ids: string[] = [];
  const listeners = new Map<number, Listener>();
  const queue: MachineEvent[] = [];
  let running = false;
  let ended = false;
  let closed = false;

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
        recorder.mark(ids[command.call] ?? "", command.mark);
        return;
      case "forget":
        for (const cancel of entries.get(command.call)?.timers ?? []) cancel();
        entries.delete(command.call);
        return;
      case "wait":
        wait(command.timer, command.ms);
    }
  }

  function begin(number: number, connection: number): void {
    const arrival = listeners.get(connection)?.arrival;
    if (arrival === undefined) return;
    const place = recorder.place();
    ids[number] = place.id;
    entries.set(number, {
      ...arrival,
      ...place,
      number,
      side: sideOf(arrival, quirks.sideCalls ?? []),
      notes: [...arrival.notes],
      abort: new AbortController(),
      timers: [],
      askedAt: null,
      prepared: null,
      exchange: null,
      rendered: null,
      remembered: false,
      said: saidStreamOf(connection, place.id),
    });
  }

  /** Where the policy's words can go through as they come: nothing is built from its tokens, and no secret could come in pieces. */
  function saidStreamOf(connection: number, call: string): SaidStream | null {
    const listener = listeners.get(connection);
    if (listener === undefined || !listener.arrival.reply.stream || tokenIn !== null || options.secrets.length > 0) return null;
    const { exchange, arrival } = listener;
    const context = answerContext(call, arrival, arrival.reply);
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
        if (!entry.abort.signal.aborted)
          dispatch({ type: "upstream-ended", call: index, ticket, result: { ok: false, failure: brokenFailure(error) }, hold: false });
      },
    );
  }

  function record(command: Extract<MachineCommand, { type: "record" }>): void {
    policyWait.over(command.call);
    const entry = entries.get(command.call);
    if (entry === undefined) return;
    const { ending, aborted, replays, retries } = command;
    try {
      const { said } = entry;
      const bytes = said?.hasBegun() === true ? Buffer.from(wholeStream(said, ending)) : replyBody(entry, ending, entry.reply);
      entry.rendered = { stream: entry.reply.stream, bytes };
      recorder.record({ entry, ending, aborted, replays, retries, fault: faultOfEnding(ending) }).then(
        () => dispatch({ type: "recorded", call: command.call }),
        (error: unknown) => recordFailed(command.call, error),
      );
    } catch (error) {
      recordFailed(command.call, error);
    }
  }

  function recordFailed(call: number, error: unknown): void {
    dispatch({ type: "record-failed", call, failure: unrecordedFailure(error) });
  }

  function send(connection: number, index: number, ending: Ending): void {
    const listener = listeners.get(connection);
    const entry = entries.get(index);
    if (listener === undefined || entry === undefined) return;
    const { exchange, arrival } = listener;
    if (entry.said?.hasBegun() === true && entry.said.connection === connection) {
      exchange.finish({ status: 200, contentType: "text/event-stream", body: restOfStream(entry.said, ending) });
      return;
    }
    const answer = answerOf(ending);
    const { stream } = arrival.reply;
    if (answer !== null) {
      if (entry.conversation !== null && !entry.remembered) tokenIn?.remember(entry.id, showPlainTools(entry.conversation), showPlainMessage(answer));
      entry.remembered = true;
      const body = entry.rendered?.stream === stream ? entry.rendered.bytes : replyBody(entry, ending, arrival.reply);
      exchange.finish({ status: 200, contentType: stream ? "text/event-stream" : "application/json", body });
      return;
    }
    const fault = faultOfEnding(ending);
    if (fault === null) return;
    const context = answerContext(entry.id, entry, entry.reply);
    const retryAfter = fault.retryAfterSeconds === undefined ? {} : { headers: { "retry-after": String(fault.retryAfterSeconds) } };
    if (exchange.isOpen()) exchange.finish({ status: 200, contentType: "text/event-stream", body: entry.dialect.errorStream(fault, context) });
    else exchange.finish({ status: fault.status, contentType: "application/json", body: entry.dialect.errorBody(fault), ...retryAfter });
  }

  function tokensOf(conversation: Conversation): number | null {
    const prepared = tokenIn?.prepare(showPlainTools(conversation), clock.now());
    return prepared?.ok === true ? prepared.prompt.ids.length : null;
  }

  /** Recorded before it is sent, like every answer. */
  async function recordedCount(arrival: Arrival, counted: TokenCount): Promise<TokenCount> {
    if (closed) return counted;
    try {
      await recorder.recordCount(arrival, counted, ended);
      return counted;
    } catch (error) {
      const fault = faultOfFailure(unrecordedFailure(error));
      return { fault, body: arrival.dialect.errorBody(fault) };
    }
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
    refuse: () => recorder.refused(),
    count(arrival, exchange) {
      recordedCount(arrival, countTokens(arrival, tokensOf)).then((counted) => sendCount(exchange, counted));
    },
    tokensOf,
    stats: () => recorder.stats(),
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
      await recorder.settled();
      closed = true;
    },
  };
}
