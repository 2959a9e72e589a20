import { describe, expect, it } from "vitest";
import { keysMadeOld } from "./live.ts";
import { splitFragment } from "./token.ts";
import type { EventView } from "./views.ts";

const event = (experiment: string | null, rollout: string | null): EventView => ({
  sequence: 1,
  at: 0,
  experiment,
  rollout,
  type: "t",
  payload: "{}",
});

describe("the token in the address", () => {
  it("is taken out, the place stays", () => {
    expect(splitFragment("#token=a%2Bb")).toEqual({ token: "a+b", place: "" });
    expect(splitFragment("#/run/r-1/call/2&token=x")).toEqual({ token: "x", place: "/run/r-1/call/2" });
    expect(splitFragment("#/runs")).toEqual({ token: null, place: "/runs" });
    expect(splitFragment("")).toEqual({ token: null, place: "" });
  });
});

describe("events", () => {
  it("say which values are old, each once", () => {
    expect([...keysMadeOld([event("e", "r"), event("e", "r"), event(null, null)])].sort()).toEqual([
      "artifacts:r",
      "experiments",
      "result:e",
      "rollout:r",
      "rollouts:e",
      "tokens:r:",
    ]);
    expect(keysMadeOld([]).size).toBe(0);
  });
});
