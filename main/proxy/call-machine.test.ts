import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MachineCommand, MachineEvent, MachineTimer } from "./call-events.ts";
import { createCallMachine, defaultMachineSettings } from "./call-machine.ts";
import { defaultRetryBudget } from "./retry-policy.ts";
import type { UpstreamFailure, UpstreamResult } from "./upstreams/upstream.ts";

const settings = { ...defaultMachineSettings, returnsForAnswer: true, retry: defaultRetryBudget, random: () => 0.5 };
const answered: UpstreamResult = {
  ok: true,
  answer: {
    message: { role: "assistant", content: [{ type: "text", text: "done" }], toolCalls: [] },
    finishReason: "stop",
    usage: { promptTokens: 1, completionTokens: 1 },
    unparsedToolCall: false,
    policyVersion: "v1",
  },
};
const failure = (over: Partial<UpstreamFailure> = {}): UpstreamResult => ({
  ok: false,
  failure: { kind: "server-error", status: 500, message: "boom", remedy: "wait", retryable: true, ...over },
});
const arrival = (connection: number, key: string, over: Partial<Extract<MachineEvent, { type: "arrived" }>> = {}): MachineEvent => ({
  type: "arrived",
  connection,
  key,
  alive: true,
  hold: false,
  ...over,
});
const kinds = (commands: readonly MachineCommand[]): string[] =>
  commands.map((command) => command.type).filter((type) => type !== "wait" && type !== "begin");

describe("one call", () => {
  test("is forwarded, recorded, and only then sent", () => {
    const machine = createCallMachine(settings);
    expect(kinds(machine.handle(arrival(1, "a"), 0))).toEqual(["forward"]);
    expect(kinds(machine.handle({ type: "upstream-ended", call: 0, ticket: 1, result: answered, hold: false }, 10))).toEqual(["record"]);
    expect(kinds(machine.handle({ type: "recorded", call: 0 }, 11))).toEqual(["send"]);
    expect(kinds(machine.handle({ type: "delivered", connection: 1 }, 12))).toEqual(["forget"]);
    expect(machine.live()).toBe(0);
  });

  test("is held before the request and before the answer, edited and mocked", () => {
    const machine = createCallMachine(settings);
    expect(kinds(machine.handle(arrival(1, "a", { hold: true }), 0))).toEqual(["hold"]);
    expect(kinds(machine.handle({ type: "resumed", call: 0, point: "request" }, 1))).toEqual(["forward"]);
    expect(kinds(machine.handle({ type: "upstream-ended", call: 0, ticket: 1, result: answered, hold: true }, 2))).toEqual(["hold"]);
    const edited = { ...answered, answer: { ...answered.answer, policyVersion: "edited" } } as UpstreamResult;
    const commands = machine.handle({ type: "resumed", call: 0, point: "answer", instead: edited }, 3);
    expect(commands).toMatchObject([{ type: "record", ending: { result: edited } }]);
    expect(kinds(machine.handle(arrival(2, "b", { hold: true }), 4))).toEqual(["hold"]);
    expect(kinds(machine.handle({ type: "resumed", call: 1, point: "request", instead: answered }, 5))).toEqual(["record"]);
  });

  test("waits out upstream failures within its budget, then fails once; the next call does not wait again", () => {
    const machine = createCallMachine(settings);
    machine.handle(arrival(1, "a"), 0);
    let ticket = 1;
    for (let tries = 1; tries < defaultRetryBudget.tries; tries += 1) {
      const commands = machine.handle({ type: "upstream-ended", call: 0, ticket, result: failure(), hold: false }, tries);
      const wait = commands.find((command) => command.type === "wait");
      expect(wait?.timer.kind).toBe("retry");
      const again = wait === undefined ? [] : machine.handle({ type: "timer", timer: wait.timer }, tries);
      const forward = again.find((command) => command.type === "forward");
      expect(forward).toBeDefined();
      ticket = forward?.ticket ?? -1;
    }
    const last = machine.handle({ type: "upstream-ended", call: 0, ticket, result: failure(), hold: false }, 99);
    expect(last).toMatchObject([{ type: "record", retries: defaultRetryBudget.tries - 1 }]);
    machine.handle({ type: "recorded", call: 0 }, 100);
    machine.handle({ type: "delivered", connection: 1 }, 101);
    machine.handle(arrival(2, "a"), 102);
    expect(kinds(machine.handle({ type: "upstream-ended", call: 1, ticket: 1, result: failure(), hold: false }, 103))).toEqual(["record"]);
  });

  test("opens its stream after eight seconds and shows life every ten", () => {
    const machine = createCallMachine(settings);
    const waits = machine.handle(arrival(1, "a"), 0).filter((command) => command.type === "wait");
    expect(waits.map((wait) => [wait.timer.kind, wait.ms])).toContainEqual(["status", 8_000]);
    const opened = machine.handle({ type: "timer", timer: { kind: "status", connection: 1 } }, 8_000);
    expect(opened.map((command) => command.type)).toEqual(["open", "wait"]);
    expect(opened[1]).toMatchObject({ ms: 10_000, timer: { kind: "comment" } });
    expect(kinds(machine.handle({ type: "timer", timer: { kind: "comment", connection: 1 } }, 18_000))).toEqual(["comment"]);
    machine.handle({ type: "upstream-ended", call: 0, ticket: 1, result: answered, hold: false }, 19_000);
    expect(machine.handle({ type: "timer", timer: { kind: "comment", connection: 1 } }, 28_000)).toEqual([]);
  });
});

describe("retries of a client", () => {
  test("two equal bodies at once are two calls", () => {
    const machine = createCallMachine(settings);
    expect(kinds(machine.handle(arrival(1, "a"), 0))).toEqual(["forward"]);
    const wait = machine.handle(arrival(2, "a"), 1);
    expect(wait).toMatchObject([{ type: "wait", timer: { kind: "twin", connection: 2 } }]);
    expect(kinds(machine.handle({ type: "timer", timer: { kind: "twin", connection: 2 } }, 51))).toEqual(["forward"]);
  });

  test("news of the cut may come after the retry: it is still one call", () => {
    for (const returnsForAnswer of [true, false]) {
      const machine = createCallMachine({ ...settings, returnsForAnswer });
      machine.handle(arrival(1, "a"), 0);
      machine.handle(arrival(2, "a"), 1);
      expect(kinds(machine.handle({ type: "client-gone", connection: 1 }, 2))).toEqual([]);
      expect(machine.handle({ type: "timer", timer: { kind: "twin", connection: 2 } }, 51)).toEqual([]);
      const record = machine.handle({ type: "upstream-ended", call: 0, ticket: 1, result: answered, hold: false }, 60);
      expect(record).toMatchObject([{ type: "record", aborted: false, replays: 1 }]);
      expect(machine.handle({ type: "recorded", call: 0 }, 61)).toMatchObject([{ type: "send", connection: 2 }]);
    }
  });

  test("a call that was given up is not what a later equal body waits for", () => {
    const machine = createCallMachine({ ...settings, returnsForAnswer: false });
    machine.handle(arrival(1, "a"), 0);
    expect(kinds(machine.handle({ type: "client-gone", connection: 1 }, 1))).toEqual(["abort", "record"]);
    expect(kinds(machine.handle(arrival(2, "a"), 2))).toEqual(["forward"]);
  });

  test("a cut connection and the same body again: one call, answered from its record", () => {
    const machine = createCallMachine(settings);
    machine.handle(arrival(1, "a"), 0);
    machine.handle({ type: "upstream-ended", call: 0, ticket: 1, result: answered, hold: false }, 1);
    machine.handle({ type: "recorded", call: 0 }, 2);
    expect(machine.handle({ type: "client-gone", connection: 1 }, 3)).toMatchObject([{ type: "mark", mark: { aborted: true, status: "aborted" } }]);
    expect(kinds(machine.handle(arrival(2, "a"), 4))).toEqual(["send"]);
    expect(machine.handle({ type: "delivered", connection: 2 }, 5)).toMatchObject([
      { type: "mark", mark: { aborted: false, status: "ok", replays: 1 } },
      { type: "forget" },
    ]);
  });

  test("a client that left before the answer joins the running call", () => {
    const machine = createCallMachine(settings);
    machine.handle(arrival(1, "a"), 0);
    expect(kinds(machine.handle({ type: "client-gone", connection: 1 }, 1))).toEqual([]);
    expect(kinds(machine.handle(arrival(2, "a"), 2))).toEqual([]);
    const record = machine.handle({ type: "upstream-ended", call: 0, ticket: 1, result: answered, hold: false }, 3);
    expect(record).toMatchObject([{ type: "record", aborted: false, replays: 1 }]);
    expect(machine.handle({ type: "recorded", call: 0 }, 4)).toMatchObject([{ type: "send", connection: 2 }]);
  });

  test("a client that does not come back: the upstream is let go at once, and it is an abort", () => {
    const machine = createCallMachine({ ...settings, returnsForAnswer: false });
    machine.handle(arrival(1, "a"), 0);
    expect(machine.handle({ type: "client-gone", connection: 1 }, 1)).toMatchObject([
      { type: "abort" },
      { type: "record", aborted: true, ending: { kind: "cancelled", reason: "client-gone" } },
    ]);
  });

  test("the same body after a whole answer is a second call; after a hang-up right behind the last byte it is ambiguous", () => {
    const machine = createCallMachine(settings);
    const answerCall = (connection: number, call: number): void => {
      machine.handle({ type: "upstream-ended", call, ticket: 1, result: answered, hold: false }, 1);
      machine.handle({ type: "recorded", call }, 1);
      machine.handle({ type: "delivered", connection }, 1);
    };
    machine.handle(arrival(1, "a"), 0);
    answerCall(1, 0);
    expect(kinds(machine.handle(arrival(2, "a"), 2))).toEqual(["forward"]);
    answerCall(2, 1);
    machine.handle({ type: "client-gone", connection: 2 }, 3);
    expect(machine.handle(arrival(3, "a"), 4)).toMatchObject([
      { type: "mark", call: 1, mark: { quarantined: "ambiguous-retry" } },
      { type: "begin", call: 2, connection: 3 },
      { type: "wait" },
      { type: "wait" },
      { type: "forward", call: 2 },
    ]);
  });
});

test("the end of the agent phase cancels what runs and refuses what comes late", () => {
  const machine = createCallMachine(settings);
  machine.handle(arrival(1, "a"), 0);
  expect(machine.handle({ type: "agent-phase-ended" }, 1)).toMatchObject([
    { type: "abort" },
    { type: "record", aborted: true, ending: { kind: "cancelled", reason: "agent-phase-ended" } },
  ]);
  expect(machine.handle(arrival(2, "b"), 2)).toMatchObject([{ type: "begin" }, { type: "record", ending: { reason: "late" } }]);
  machine.handle({ type: "agent-phase-begun" }, 3);
  expect(machine.handle(arrival(3, "c"), 4).map(({ type }) => type)).toContain("forward");
});

/** A shell without I/O: takes what is pending in any order, as networks do, and checks every promise on the way. */
function simulate(choices: readonly number[], returnsForAnswer: boolean): void {
  const machine = createCallMachine({ ...settings, returnsForAnswer });
  const forwards: { call: number; ticket: number }[] = [];
  const records: number[] = [];
  const sends: number[] = [];
  const timers: MachineTimer[] = [];
  const open = new Set<number>();
  const recorded = new Set<number>();
  const answeredConnections = new Set<number>();
  const keyOf = new Map<number, string>();
  const okForwards = new Map<number, number>();
  let connections = 0;
  let now = 0;
  let ended = false;

  const apply = (event: MachineEvent): void => {
    for (const command of machine.handle(event, now)) {
      if (command.type === "forward") forwards.push({ call: command.call, ticket: command.ticket });
      if (command.type === "abort") {
        const at = forwards.findIndex((forward) => forward.call === command.call);
        expect(at, "only a running try is aborted").toBeGreaterThanOrEqual(0);
        forwards.splice(at, 1);
      }
      if (command.type === "record") {
        expect(recorded.has(command.call) || records.includes(command.call), "a call is recorded once").toBe(false);
        records.push(command.call);
      }
      if (command.type === "send") {
        expect(recorded.has(command.call), "recorded before it is sent").toBe(true);
        expect(open.has(command.connection), "sent to a client that is there").toBe(true);
        expect(answeredConnections.has(command.connection), "one answer a connection").toBe(false);
        answeredConnections.add(command.connection);
        sends.push(command.connection);
      }
      if (command.type === "wait") timers.push(command.timer);
    }
  };
  const take = <T>(list: T[], choice: number): T | undefined => list.splice(choice % Math.max(1, list.length), 1)[0];

  for (const choice of choices) {
    now += choice % 700;
    const pick = Math.floor(choice / 16);
    switch (choice % 8) {
      case 0:
      case 1: {
        connections += 1;
        open.add(connections);
        const key = `k${pick % 3}`;
        keyOf.set(connections, key);
        apply(arrival(connections, key, { hold: false }));
        break;
      }
      case 2:
      case 3: {
        const forward = take(forwards, pick);
        if (forward === undefined) break;
        const result = pick % 5 === 0 ? failure({ retryable: pick % 2 === 0 }) : answered;
        if (result.ok) okForwards.set(forward.call, (okForwards.get(forward.call) ?? 0) + 1);
        apply({ type: "upstream-ended", ...forward, result, hold: false });
        break;
      }
      case 4: {
        const call = take(records, pick);
        if (call === undefined) break;
        recorded.add(call);
        apply({ type: "recorded", call });
        break;
      }
      case 5: {
        const connection = take(sends, pick);
        if (connection !== undefined && open.has(connection)) apply({ type: "delivered", connection });
        break;
      }
      case 6: {
        const gone = [...open][pick % Math.max(1, open.size)];
        if (gone === undefined) break;
        open.delete(gone);
        apply({ type: "client-gone", connection: gone });
        break;
      }
      default: {
        if (pick % 40 === 0 && !ended) {
          ended = true;
          apply({ type: "agent-phase-ended" });
        } else {
          const timer = take(timers, pick);
          if (timer !== undefined) apply({ type: "timer", timer });
        }
      }
    }
  }
  // Settle: every try ends, every record is made, every answer is taken.
  for (
    let round = 0;
    round < 200 &&
    (forwards.length > 0 || records.length > 0 || sends.length > 0 || timers.some((timer) => timer.kind === "twin") || machine.live() > 0);
    round += 1
  ) {
    const forward = forwards.shift();
    if (forward !== undefined) {
      okForwards.set(forward.call, (okForwards.get(forward.call) ?? 0) + 1);
      apply({ type: "upstream-ended", ...forward, result: answered, hold: false });
    }
    const call = records.shift();
    if (call !== undefined) {
      recorded.add(call);
      apply({ type: "recorded", call });
    }
    const connection = sends.shift();
    if (connection !== undefined && open.has(connection)) apply({ type: "delivered", connection });
    const retry = timers.findIndex((timer) => timer.kind === "retry" || timer.kind === "twin");
    if (retry >= 0) for (const timer of timers.splice(retry, 1)) apply({ type: "timer", timer });
  }
  expect(machine.live(), "nothing hangs").toBe(0);
  for (const connection of open) expect(answeredConnections.has(connection), "everyone who stayed got an answer").toBe(true);
  for (const [, samples] of okForwards) expect(samples, "one sample a call").toBe(1);
}

test("whatever the order: recorded once, recorded first, one answer a connection, one sample a call, nothing hangs", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(4096), { maxLength: 120 }), fc.boolean(), (choices, returns) => simulate(choices, returns)),
    { numRuns: 400 },
  );
});
