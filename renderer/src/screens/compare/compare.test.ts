import { describe, expect, it } from "vitest";
import type { CompareColumn, RolloutPair } from "../../service/views.ts";
import { chosenSides, columnNames, differenceReach, listedPairs, sideOfZero } from "./columns.ts";

const none = { n: 0, mean: null, low: null, high: null };
const column = (key: string, change: Partial<CompareColumn> = {}): CompareColumn => ({
  key,
  experiment: "e-1",
  experimentName: "sweep",
  harness: "react",
  harnessVersion: "1.0",
  policy: "qwen",
  step: null,
  tasks: 9,
  success: none,
  infrastructure: 0,
  unended: 0,
  behaviour: {},
  ...change,
});

describe("columns", () => {
  it("say what tells them apart, and nothing else", () => {
    const versions = columnNames([
      column("a", { harness: "codex", harnessVersion: "0.170" }),
      column("b", { harness: "codex", harnessVersion: "0.171" }),
    ]);
    expect([...versions.values()].map(({ about }) => about)).toEqual(["0.170", "0.171"]);
    const steps = columnNames([column("a", { step: 0 }), column("b", { step: 80 })]);
    expect([...steps.values()].map(({ about }) => about)).toEqual(["step 0", "step 80"]);
    const experiments = columnNames([column("a"), column("b", { experiment: "e-2", experimentName: "again" })]);
    expect([...experiments.values()].map(({ about }) => about)).toEqual(["1.0, sweep", "1.0, again"]);
  });

  it("are chosen by the link where they are there", () => {
    const all = [column("a"), column("b"), column("c")];
    expect(chosenSides(all, null, null)).toEqual(["a", "b"]);
    expect(chosenSides(all, "c", "gone")).toEqual(["c", "a"]);
    expect(chosenSides(all, null, "a")).toEqual(["b", "a"]);
    expect(chosenSides([column("a")], null, null)).toEqual(["a", null]);
  });
});

describe("pairs", () => {
  const pair = (task: string, kind: RolloutPair["kind"]): RolloutPair => ({ task, kind, a: null, b: null });
  const pairs = [pair("x", "only-a"), pair("x", "both"), pair("y", "only-b"), pair("y", "not-comparable")];

  it("are the flipped ones until a list is asked for", () => {
    expect(listedPairs(pairs, null, null).map(({ kind }) => kind)).toEqual(["only-a", "only-b"]);
    expect(listedPairs(pairs, "x", "both")).toHaveLength(1);
    expect(listedPairs(pairs, "y", "neither")).toEqual([]);
  });
});

describe("differences", () => {
  const line = (low: number | null, mean: number | null, high: number | null) =>
    ({ task: "x", a: none, b: none, difference: { low, mean, high }, less: 0, same: 0, more: 0 }) as const;

  it("fit their axis, and say on which side of 0 they lie", () => {
    expect(differenceReach([line(-0.3, -0.1, 0.1)])).toBe(0.5);
    expect(differenceReach([])).toBe(0.1);
    expect(differenceReach([line(-2.5, 0, 1)])).toBe(3);
    expect([line(-2, -1, -0.1), line(-1, 0, 1), line(0.1, 1, 2), line(null, null, null)].map(({ difference }) => sideOfZero(difference))).toEqual([
      -1, 0, 1, 0,
    ]);
  });
});
