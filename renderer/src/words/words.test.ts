import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { payloadWords } from "./events.ts";
import { policyWords, routeWords, shortId, taskWords } from "./names.ts";
import { bytes, count, decimal, plusMinus, probability, reward } from "./numbers.ts";
import { outcomeWords, timedPhases, trainableWords } from "./outcomes.ts";
import { argumentWords, callWords, singleArgument } from "./summaries.ts";
import { clock, moment, seconds, span } from "./times.ts";

const plain = (text: string | null): string | undefined => text?.replaceAll("\u00a0", " ");

describe("numbers", () => {
  it("group, scale and keep what is missing missing", () => {
    expect([count(41_207), count(0), count(null), count(-8)]).toEqual(["41,207", "0", "–", "−8"]);
    expect(plain(count(6_130_000))).toBe("6.1 M");
    expect([reward(0), reward(0.5), reward(null), decimal(-0.08)]).toEqual(["0.00", "0.50", "–", "−0.08"]);
    expect([900, 1900, 41_600_000_000, 999_700, 0].map((value) => plain(bytes(value)))).toEqual(["900 B", "1.9 kB", "41.6 GB", "1.0 MB", "0 B"]);
    expect(bytes(null)).toBe("–");
    expect(plain(plusMinus(0.52, 0.64))).toBe("± .06");
    expect(plusMinus(null, 1)).toBeNull();
    expect([probability(-3.412), probability(-12)]).toEqual(["0.033", "6.14e−6"]);
  });
});

describe("times", () => {
  it("fit their length", () => {
    expect([0.04, 2.1, 221, null].map((value) => plain(seconds(value)))).toEqual(["40 ms", "2.1 s", "221 s", "–"]);
    expect([40, 245, 900, 3729, null].map(clock)).toEqual(["0:40", "4:05", "15:00", "1:02:09", "–"]);
    expect([12, 2880, 7500, 404_580].map((value) => plain(span(value)))).toEqual(["12 s", "48 m", "2 h 05 m", "4 d 16 h"]);
  });

  it("names the day when it is another one", () => {
    const at = new Date(2026, 10, 30, 9, 31, 2).getTime();
    expect(moment(at, at)).toBe("09:31:02");
    expect(moment(at, at + 86_400_000)).toBe("30 Nov 09:31:02");
  });
});

describe("outcomes", () => {
  it("say the status, else the phase", () => {
    expect(outcomeWords({ status: "failed", cause: "tool-misuse", phase: "ended", calls: 3 })).toMatchObject({
      tone: "failed",
      word: "failed",
      cause: "tool-misuse",
    });
    expect(outcomeWords({ status: "agent-timeout", cause: null, phase: "ended", calls: 3 })).toMatchObject({ tone: "paused", glyph: "clock" });
    expect(outcomeWords({ status: null, cause: null, phase: "running", calls: 6 })).toMatchObject({
      tone: "running",
      word: "running",
      cause: "call 6",
    });
    expect(outcomeWords({ status: null, cause: null, phase: "ended", calls: 6 })).toMatchObject({ tone: "neutral", word: "not graded" });
    expect(outcomeWords({ status: null, cause: null, phase: "queued", calls: 0 })).toMatchObject({ tone: "neutral", cause: null });
  });

  it("never call an unended rollout untrainable", () => {
    expect(trainableWords({ trainable: null, trainableReason: null, status: null, phase: "running" })).toEqual({ yes: null, word: "not ended" });
    expect(trainableWords({ trainable: false, trainableReason: "empty mask", status: "failed", phase: "ended" })).toEqual({
      yes: false,
      word: "empty mask",
    });
  });

  it("knows the phases that take time", () => expect(timedPhases[0]).toBe("preparing"));
});

describe("events", () => {
  it("are read without their JSON", () => {
    expect(payloadWords('{"phase":"running","cause":null,"outcome":{"status":"failed"}}')).toBe('phase running · outcome {"status":"failed"}');
    expect([payloadWords('"said"'), payloadWords("not json"), payloadWords("null")]).toEqual(["said", "not json", ""]);
  });
});

describe("names", () => {
  it("keep what tells things apart", () => {
    expect([shortId("r-d0515a24"), shortId("r-8c2b"), shortId("a-very-long-identifier")]).toEqual(["r-d051", "r-8c2b", "a-very-long…"]);
    expect([taskWords("openforge/fix-duration"), taskWords("plain")]).toEqual(["fix-duration", "plain"]);
    expect(["scripted", "scripted:/a/b/policy.yaml", "http://127.0.0.1:8000", "replay:r-1", "training:t-7e26@best"].map(policyWords)).toEqual([
      "scripted",
      "scripted:policy.yaml",
      "127.0.0.1:8000",
      "replay:r-1",
      "t-7e26@best",
    ]);
    expect([routeWords("/r/r-1/v1/responses"), routeWords("/v1/models")]).toEqual(["/v1/responses", "/v1/models"]);
  });
});

describe("summaries", () => {
  it("read a tool call, also a cut one", () => {
    expect(callWords({ summary: 'bash {"command":"ls -la \\"data\\"\\n"}', error: null })).toEqual({ head: "bash", rest: 'ls -la "data"' });
    expect(callWords({ summary: 'bash {"command":"sed -n 1,4', error: null })).toEqual({ head: "bash", rest: "sed -n 1,4" });
    expect(callWords({ summary: 'plan {"steps":[1,2]}', error: null })).toEqual({ head: "plan", rest: '{"steps":[1,2]}' });
  });

  it("show a single text argument as text", () => {
    expect(singleArgument('{"command":"a\\nb"}')).toEqual({ name: "command", text: "a\nb" });
    for (const other of ['{"a":1}', '{"a":"x","b":"y"}', "null", '"text"', "[1]", '{"a":"cut', ""]) expect(singleArgument(other)).toBeNull();
  });

  it("tell text, errors and nothing apart", () => {
    expect(callWords({ summary: "The table could not be recovered", error: null }).head).toBe("text");
    expect(callWords({ summary: "x", error: "It answered 429." })).toEqual({ head: "error", rest: "It answered 429." });
    expect(callWords({ summary: "", error: null })).toEqual({ head: "–", rest: "no answer" });
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom("{", '"', "\\", "a", ":", "u") }), (text) => void argumentWords(text)));
  });
});
