import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rolloutViewSchema } from "../../../main/api/rollout-views.ts";
import { completions } from "./complete.ts";
import { fields } from "./fields.ts";
import { matches } from "./match.ts";
import { parseAmount, parseFilter } from "./parse.ts";

const rollout = rolloutViewSchema.parse({
  id: "r-8c2b",
  experiment: "e-1",
  task: "sqlite-wal-recover",
  taskPath: "/t",
  taskDigest: "d",
  harness: "codex",
  harnessVersion: "0.171.0",
  policy: "scripted",
  policyVersion: null,
  sandbox: "local",
  groupIndex: 0,
  seed: 0,
  phase: "ended",
  status: "failed",
  cause: "tool-misuse",
  action: "train",
  detail: "The verifier said no",
  reward: 0,
  rewards: { reward: 0 },
  attempts: 1,
  phases: [],
  isolation: null,
  fingerprint: null,
  calls: 12,
  chains: 2,
  trainable: true,
  trainableReason: null,
  promptTokens: 40_000,
  completionTokens: 1207,
  seconds: 245,
  policyWaitSeconds: 2,
  steps: [],
  labels: {},
  createdAt: 0,
});
const passes = (text: string, change: Partial<typeof rollout> = {}) =>
  matches(parseFilter(text).terms, { ...rollout, ...change }, "harness sweep 07");

describe("filter", () => {
  it("joins words by and, turns one around by a minus", () => {
    expect(passes('outcome:failed reward:0 harness:codex "verifier said"')).toBe(true);
    expect(passes("outcome:failed -harness:codex")).toBe(false);
    expect(passes('experiment:"harness sweep 07" -outcome:queued tokens<=200k')).toBe(true);
    expect(passes("trainable:no")).toBe(false);
    expect(passes("SQLITE")).toBe(true);
    expect(passes('-"no such text"')).toBe(true);
  });

  it("tells part from whole by : and =", () => {
    expect(passes("task:wal")).toBe(true);
    expect(passes("task=wal")).toBe(false);
    expect(passes("task=sqlite-wal-recover")).toBe(true);
  });

  it("compares numbers with their units, and a missing one passes nothing", () => {
    expect(passes("time>4m time<5m calls>=12 tokens>41k")).toBe(true);
    expect(passes("reward<1", { reward: null })).toBe(false);
    expect(passes("-reward:0", { reward: null })).toBe(true);
    expect(["20k", "2M", "1h", ".5", "-1.5", "3x", "", "high"].map(parseAmount)).toEqual([20_000, 2e6, 3600, 0.5, -1.5, null, null, null]);
  });

  it("says what is wrong, where, with an example", () => {
    expect(parseFilter("outcome:failed reward>high").mistake).toEqual({
      from: 22,
      to: 26,
      subject: "reward",
      message: "needs a number",
      example: "reward>0.5",
    });
    expect(parseFilter("rewrd:1").mistake?.message).toBe("is no key");
    expect(parseFilter("toString:1").mistake?.message).toBe("is no key");
    expect(parseFilter("trainable:perhaps").mistake?.message).toBe("is yes or no");
  });

  it("has no mistake while a value is not typed yet", () => {
    expect(parseFilter("reward>").mistake).toBeNull();
    expect(parseFilter('task:"half a na').mistake).toBeNull();
  });

  it("names every character once and never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', "\\", "-", ":", ">", "=", " ", "a", "reward", "1", "日") }), (text) => {
        const { spans } = parseFilter(text);
        let at = 0;
        for (const span of spans) {
          expect(span.from).toBeGreaterThanOrEqual(at);
          at = span.to;
        }
        expect(at).toBeLessThanOrEqual(text.length);
      }),
    );
  });

  it("has examples that are right", () => {
    for (const field of Object.values(fields)) expect(parseFilter(field.example).mistake).toBeNull();
  });
});

describe("completion", () => {
  it("offers keys, then values", () => {
    expect(completions("outcome:failed tok", 18, [], []).map((each) => each.label)).toEqual(["tokens", "tokens.out"]);
    expect(completions("harness:", 8, [rollout], []).map((each) => each.insert)).toEqual(["harness:codex "]);
    expect(completions("outcome:agent", 13, [], []).map((each) => each.insert)).toEqual(["outcome:agent-timeout "]);
    expect(completions("experiment:h", 12, [], ["harness sweep 07"])[0]?.insert).toBe('experiment:"harness sweep 07" ');
  });
});
