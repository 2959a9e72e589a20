import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AgentFacts, type AttemptFacts, classifyOutcome, isPolicysDoing, mayTryAgain, type Verdict } from "./classify.ts";
import { type OutcomeCause, outcomeCauses } from "./outcome.ts";

const agent: AgentFacts = {
  ending: "exited",
  exitCode: 0,
  limitReached: false,
  calls: 4,
  answered: 4,
  standingFailure: null,
  contextOverflow: false,
  unparsedToolCall: false,
  answerCut: false,
  secretSeen: false,
  astray: null,
  lastWords: null,
};
const yes: Verdict = { status: "succeeded", cause: null, reward: 1, detail: null };
const no: Verdict = { status: "failed", cause: null, reward: 0, detail: null };
const partly: Verdict = { status: "failed", cause: null, reward: 0.5, detail: null };
const broken: Verdict = { status: "verifier-failure", cause: "reward-missing", reward: null, detail: "No reward file." };
const ran = (change: Partial<AgentFacts>, verdict: Verdict): AttemptFacts => ({
  cancelled: false,
  stop: null,
  agent: { ...agent, ...change },
  verdict,
});
const stopped = (cause: OutcomeCause, permanent = false): AttemptFacts => ({
  cancelled: false,
  stop: { phase: "starting", cause, detail: "It could not.", permanent },
  agent: null,
  verdict: null,
});
const trouble = (kind: NonNullable<AgentFacts["standingFailure"]>["kind"]) => ({ kind, message: "The endpoint failed." });

/** name, facts, status, cause, action by `default`, action by `paper`, tried again. */
const table: readonly (readonly [string, AttemptFacts, string, string | null, string, string, boolean])[] = [
  ["done", ran({}, yes), "succeeded", null, "train", "train", false],
  ["not done", ran({}, no), "failed", null, "train", "train", false],
  ["done in part", ran({}, partly), "failed", null, "train", "train", false],
  ["not done, a call could not be read", ran({ unparsedToolCall: true }, no), "failed", "unparsed-tool-call", "train", "train", false],
  ["done all the same", ran({ unparsedToolCall: true }, yes), "succeeded", null, "train", "train", false],
  ["the context was full, harness ended well", ran({ contextOverflow: true }, no), "failed", "context-overflow", "train", "train", false],
  [
    "the context was full and the harness gave up",
    ran({ contextOverflow: true, exitCode: 1, standingFailure: trouble("context-overflow") }, no),
    "failed",
    "context-overflow",
    "train",
    "train",
    false,
  ],
  ["its own limit of turns", ran({ exitCode: 4, limitReached: true }, no), "failed", "budget-exceeded", "train", "train", false],
  ["gave up on an answer that was cut off", ran({ exitCode: 1, answerCut: true }, no), "failed", "budget-exceeded", "train", "train", false],
  ["ended well after an answer that was cut off", ran({ answerCut: true }, no), "failed", null, "train", "train", false],
  ["limit of turns, yet done", ran({ exitCode: 4, limitReached: true }, yes), "succeeded", null, "train", "train", false],
  ["out of time, graded: no", ran({ ending: "timed-out", exitCode: null }, no), "agent-timeout", null, "train", "train", false],
  ["out of time, graded: yes", ran({ ending: "timed-out", exitCode: null }, yes), "agent-timeout", null, "train", "train", false],
  ["out of time, grader broke", ran({ ending: "timed-out", exitCode: null }, broken), "agent-timeout", "reward-missing", "mask", "discard", false],
  [
    "out of time without a call",
    ran({ ending: "timed-out", exitCode: null, calls: 0 }, no),
    "harness-failure",
    "zero-calls-captured",
    "mask",
    "discard",
    false,
  ],
  ["no call at all", ran({ calls: 0, answered: 0 }, no), "harness-failure", "zero-calls-captured", "mask", "discard", false],
  ["no call, yet done", ran({ calls: 0, answered: 0 }, yes), "harness-failure", "zero-calls-captured", "mask", "discard", false],
  ["memory, inside the agent's limits", ran({ ending: "out-of-memory", exitCode: 137 }, no), "failed", "out-of-memory", "train", "train", false],
  ["the harness crashed", ran({ exitCode: 1 }, no), "harness-failure", "harness-exit", "mask", "discard", false],
  ["the harness ended, nobody knows how", ran({ exitCode: null }, no), "harness-failure", "harness-exit", "mask", "discard", false],
  [
    "it fell over what the policy wrote",
    ran({ exitCode: 1, unparsedToolCall: true }, no),
    "harness-failure",
    "harness-parse-error",
    "train",
    "discard",
    false,
  ],
  ["endpoint 5xx", ran({ exitCode: 1, standingFailure: trouble("server-error") }, no), "network-failure", "upstream-5xx", "mask", "discard", true],
  ["endpoint garbled", ran({ exitCode: 1, standingFailure: trouble("garbled") }, no), "network-failure", "upstream-5xx", "mask", "discard", true],
  [
    "endpoint gone",
    ran({ exitCode: 1, standingFailure: trouble("unreachable") }, no),
    "network-failure",
    "upstream-unreachable",
    "mask",
    "discard",
    true,
  ],
  [
    "endpoint gone till the time was up",
    ran({ ending: "timed-out", standingFailure: trouble("unreachable") }, no),
    "network-failure",
    "upstream-unreachable",
    "mask",
    "discard",
    true,
  ],
  [
    "endpoint gone, harness says all is well",
    ran({ standingFailure: trouble("unreachable") }, no),
    "network-failure",
    "upstream-unreachable",
    "mask",
    "discard",
    true,
  ],
  ["endpoint gone after the work was done", ran({ standingFailure: trouble("server-error") }, yes), "succeeded", null, "train", "train", false],
  [
    "nothing left to spend",
    ran({ exitCode: 1, standingFailure: trouble("spending-limit") }, no),
    "network-failure",
    "spending-limit",
    "mask",
    "discard",
    false,
  ],
  ["key refused", ran({ exitCode: 1, standingFailure: trouble("auth") }, no), "network-failure", "upstream-4xx", "mask", "discard", false],
  ["grader broke", ran({}, broken), "verifier-failure", "reward-missing", "mask", "discard", false],
  ["reward planted", ran({}, { ...no, cause: "reward-forged" }), "failed", "reward-forged", "mask", "mask", false],
  ["secret in a prompt", ran({ secretSeen: true }, yes), "succeeded", "secret-seen", "mask", "mask", false],
  ["image", stopped("image-pull"), "environment-failure", "image-pull", "mask", "discard", true],
  ["image that cannot be built", stopped("image-build", true), "environment-failure", "image-build", "mask", "discard", false],
  ["box lost", stopped("sandbox-lost"), "environment-failure", "sandbox-lost", "mask", "discard", true],
  ["disk full", stopped("disk-full", true), "environment-failure", "disk-full", "mask", "discard", false],
  ["service killed", stopped("service-restart"), "environment-failure", "service-restart", "mask", "discard", true],
  ["harness cannot be had", stopped("harness-missing", true), "harness-failure", "harness-missing", "mask", "discard", false],
  ["endpoint cannot be had", stopped("upstream-unreachable"), "network-failure", "upstream-unreachable", "mask", "discard", true],
  ["the outer guard", stopped("budget-exceeded", true), "interrupted-for-safety", "budget-exceeded", "mask", "discard", false],
  ["cancelled", { ...ran({}, yes), cancelled: true }, "cancelled", null, "mask", "discard", false],
];

describe("outcomes", () => {
  test.each(table)("%s", (_name, facts, status, cause, byDefault, byPaper, again) => {
    const outcome = classifyOutcome(facts, { preset: "default", discardTimeouts: false });
    expect(outcome).toMatchObject({ status, cause, action: byDefault });
    expect(classifyOutcome(facts, { preset: "paper", discardTimeouts: false }).action).toBe(byPaper);
    expect(mayTryAgain(facts, outcome)).toBe(again);
  });

  test("the switch of `paper` discards agents that ran out of time", () => {
    const facts = ran({ ending: "timed-out", exitCode: null }, yes);
    expect(classifyOutcome(facts, { preset: "paper", discardTimeouts: true }).action).toBe("discard");
    expect(classifyOutcome(facts, { preset: "default", discardTimeouts: true }).action).toBe("train");
  });

  test("the harness's last words are told", () => {
    const { detail } = classifyOutcome(ran({ calls: 0, exitCode: 3, lastWords: "no key" }, no), { preset: "default", discardTimeouts: false });
    expect(detail).toBe("The harness ended without one model call. It said: no key");
  });
});

describe("whatever happens", () => {
  const verdicts = fc.constantFrom(yes, no, partly, broken, { ...no, cause: "reward-forged" } satisfies Verdict);
  const kinds = fc.constantFrom(
    "unreachable",
    "rate-limited",
    "server-error",
    "bad-request",
    "context-overflow",
    "garbled",
    "auth",
    "spending-limit",
  );
  const agents = fc.record({
    ending: fc.constantFrom("exited", "timed-out", "out-of-memory"),
    exitCode: fc.constantFrom(0, 1, 4, 137, null),
    limitReached: fc.boolean(),
    calls: fc.nat(3),
    answered: fc.nat(3),
    standingFailure: fc.option(fc.record({ kind: kinds, message: fc.constant("m") })),
    contextOverflow: fc.boolean(),
    unparsedToolCall: fc.boolean(),
    secretSeen: fc.boolean(),
    astray: fc.constant(null),
    lastWords: fc.option(fc.string()),
  });
  const stops = fc.record({
    phase: fc.constant("setup" as const),
    cause: fc.constantFrom(...outcomeCauses),
    detail: fc.string(),
    permanent: fc.boolean(),
  });
  const anyFacts = fc.record({ cancelled: fc.boolean(), stop: fc.option(stops), agent: fc.option(agents), verdict: fc.option(verdicts) });

  test("nothing is trained without a reward, nor where our side failed", () => {
    fc.assert(
      fc.property(anyFacts, fc.constantFrom("default" as const, "paper" as const), fc.boolean(), (facts, preset, discardTimeouts) => {
        const outcome = classifyOutcome(facts, { preset, discardTimeouts });
        if (outcome.action !== "train") return;
        expect(facts.verdict?.reward ?? null).not.toBeNull();
        expect(facts.stop).toBeNull();
        expect(isPolicysDoing(outcome)).toBe(true);
        expect(mayTryAgain(facts, outcome)).toBe(false);
      }),
    );
  });
});
