import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PlainFile } from "../sandboxes/index.ts";
import { readRewards } from "./reward-files.ts";

const missing: PlainFile = { state: "missing" };
const file = (text: string): PlainFile => ({ state: "file", bytes: new TextEncoder().encode(text) });
const json = (text: string, key: string | null = null) => readRewards(file(text), missing, key);
const text = (content: string) => readRewards(missing, file(content), null);
const cause = (reading: ReturnType<typeof readRewards>) => (reading.ok ? "ok" : reading.cause);

describe("reward.json", () => {
  test("gives every number by name, and the scalar by the rule", () => {
    expect(json('{"reward": 0.5, "speed": 3}')).toEqual({ ok: true, reward: 0.5, rewards: { reward: 0.5, speed: 3 } });
    expect(json(' {"accuracy": -1e-3}\n')).toEqual({ ok: true, reward: -0.001, rewards: { accuracy: -0.001 } });
    expect(json('{"a": 1, "b": 0}', "b")).toMatchObject({ ok: true, reward: 0 });
    expect(json('{"a": 1, "b": 0, "reward": 1}', "b")).toMatchObject({ ok: true, reward: 1 });
    expect(json('{"é\\"": 1}')).toMatchObject({ ok: true, rewards: { 'é"': 1 } });
  });
  test("with several names and no rule is malformed, and keeps what it read", () => {
    expect(json('{"accuracy": 0.9, "format": 1.0}')).toEqual({
      ok: false,
      noScalar: true,
      cause: "reward-malformed",
      rewards: { accuracy: 0.9, format: 1 },
      detail: "reward.json has the rewards accuracy, format; none is called reward, and the task names no reward_key.",
    });
    expect(json('{"a": 1, "b": 0}', "c")).toMatchObject({ cause: "reward-malformed" });
    expect(json('{"a": 1, "b": 0}', "toString")).toMatchObject({ cause: "reward-malformed" });
  });
  test.each([
    "1",
    "[1]",
    '"1"',
    "null",
    "true",
    "{}",
    '{"reward": "1"}',
    '{"reward": true}',
    '{"reward": null}',
    '{"reward": [1]}',
    '{"reward": {"value": 1}}',
    '{"reward": NaN}',
    '{"reward": Infinity}',
    '{"reward": 1e999}',
    `{"reward": ${"9".repeat(400)}}`,
    '{"reward": 0, "reward": 1}',
    '{"reward": 0, "rew\\u0061rd": 1}',
    '{"reward": {"x": 1}, "reward": 1}',
    '{"reward": 1,}',
    '{"reward": 01}',
    "{reward: 1}",
    '{"reward": 1} {"reward": 0}',
    '\uFEFF{"reward": 1}',
    '{"reward": 1e300}',
    '{"reward": -1000001}',
    '{"reward": 1',
  ])("%s is malformed", (content) => expect(cause(json(content))).toBe("reward-malformed"));
  test("that is no UTF-8 is malformed, and one without content is missing", () => {
    expect(cause(readRewards({ state: "file", bytes: Uint8Array.from([0x7b, 0xff, 0x7d]) }, missing, null))).toBe("reward-malformed");
    expect(cause(json(" \n"))).toBe("reward-missing");
  });
});

describe("reward.txt", () => {
  test.each([
    ["1", 1],
    [" 0.25\n", 0.25],
    ["+1.", 1],
    [".5", 0.5],
    ["-2e-1", -0.2],
    ["0", 0],
  ])("%j → %d", (content, reward) => expect(text(content)).toEqual({ ok: true, reward, rewards: { reward } }));
  test.each(["nan", "inf", "-Infinity", "1e999", "one", "1 2", "0\n1", "0x1", "1_0", "1,5", "٣", "{}", "--1", "1\0"])(
    "%j is malformed",
    (content) => {
      expect(cause(text(content))).toBe("reward-malformed");
    },
  );
  test("without content is missing", () => expect(cause(text(""))).toBe("reward-missing"));
});

describe("both files", () => {
  test("must say the same", () => {
    expect(readRewards(file('{"reward": 1, "more": 2}'), file("1.0"), null)).toMatchObject({ ok: true, reward: 1, rewards: { reward: 1, more: 2 } });
    for (const [first, second] of [
      ['{"reward": 1}', "0"],
      ['{"reward": 1}', ""],
      ['{"reward": 1}', "nan"],
      ["", "1"],
      ["{}", "1"],
      ['{"a": 1, "b": 1}', "1"],
    ] as const) {
      expect(cause(readRewards(file(first), file(second), null)), `${first} ${second}`).toBe("reward-malformed");
    }
  });
  test("missing means missing", () =>
    expect(readRewards(missing, missing, null)).toMatchObject({ ok: false, cause: "reward-missing", rewards: null }));
  test("what is no plain file is malformed, whichever it is", () => {
    const link: PlainFile = { state: "unreadable", reason: "a link, not a plain file" };
    expect(readRewards(link, missing, null)).toMatchObject({ cause: "reward-malformed", detail: "reward.json is a link, not a plain file." });
    expect(readRewards(missing, link, null)).toMatchObject({ cause: "reward-malformed" });
    expect(cause(readRewards(link, file("1"), null))).toBe("reward-malformed");
  });
});

test("a reward is finite and was written, or there is none: never a 0 of our own", () => {
  const content = fc.oneof(
    fc.string(),
    fc.json(),
    fc.double().map(String),
    fc.dictionary(fc.string(), fc.oneof(fc.double(), fc.string())).map((table) => JSON.stringify(table)),
  );
  const anyFile = fc.oneof(
    fc.constant(missing),
    content.map(file),
    fc.uint8Array({ maxLength: 20 }).map((bytes): PlainFile => ({ state: "file", bytes })),
  );
  fc.assert(
    fc.property(anyFile, anyFile, (first, second) => {
      const reading = readRewards(first, second, null);
      if (!reading.ok) return;
      expect(Number.isFinite(reading.reward)).toBe(true);
      expect(Object.values(reading.rewards)).toContain(reading.reward);
      for (const value of Object.values(reading.rewards)) expect(Number.isFinite(value)).toBe(true);
    }),
  );
});
