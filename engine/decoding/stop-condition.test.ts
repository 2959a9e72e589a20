import { describe, expect, test } from "vitest";
import { StopCondition } from "./index.ts";

/** Texts of ids; `null` = nothing yet, the character is incomplete. */
function decoder(texts: readonly (string | null)[]) {
  return { push: (id: number) => texts[id] ?? "", flush: () => "" };
}

function run(texts: readonly (string | null)[], stopStrings: readonly string[], options: { endIds?: number[]; maxTokens?: number } = {}) {
  const condition = new StopCondition({ endIds: options.endIds ?? [], maxTokens: options.maxTokens ?? 99, stopStrings, decoder: decoder(texts) });
  for (const id of texts.keys()) {
    const ending = condition.next(id);
    if (ending !== null) return ending;
  }
  return null;
}

describe("the end of a turn", () => {
  test("an end token stays", () => {
    expect(run(["a", "b", ""], [], { endIds: [2] })).toEqual({ reason: "end-token", kept: 3, stopString: null, exact: true, text: "ab" });
  });

  test("the limit counts tokens", () => {
    expect(run(["a", "b", "c"], [], { maxTokens: 2 })).toMatchObject({ reason: "length", kept: 2 });
  });

  test("an end token at the limit is the end of the turn", () => {
    expect(run(["a", ""], [], { endIds: [1], maxTokens: 2 })).toMatchObject({ reason: "end-token" });
  });

  test("a stop string over several tokens takes them back", () => {
    expect(run(["a", " S", "TO", "P b"], [" STOP"])).toEqual({ reason: "stop-string", kept: 1, stopString: " STOP", exact: true, text: "a" });
  });

  test("a stop string that begins inside a token is said not to be exact", () => {
    expect(run(["ab", "cST", "OP"], ["STOP"])).toEqual({ reason: "stop-string", kept: 1, stopString: "STOP", exact: false, text: "abc" });
  });

  test("of two stop strings the earlier counts", () => {
    expect(run(["x", "one two"], ["two", "one"])).toMatchObject({ stopString: "one", kept: 1 });
  });

  test("a token that only began the stop character goes too", () => {
    expect(run(["a", null, "据"], ["据"])).toEqual({ reason: "stop-string", kept: 1, stopString: "据", exact: true, text: "a" });
  });

  test("a stop string at the very beginning leaves nothing", () => {
    expect(run(["STOP"], ["STOP"])).toEqual({ reason: "stop-string", kept: 0, stopString: "STOP", exact: true, text: "" });
  });

  test("nothing stops by itself, and stop strings want a decoder", () => {
    expect(run(["a", "b"], ["c", ""])).toBeNull();
    expect(() => new StopCondition({ endIds: [], maxTokens: 1, stopStrings: ["x"], decoder: null })).toThrow("decoder");
  });
});
