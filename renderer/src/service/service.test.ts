import { describe, expect, it } from "vitest";
import { keysMadeOld, trainingOf } from "./live.ts";
import { splitFragment } from "./token.ts";
import { type EventView, mergeRollouts, type RolloutView } from "./views.ts";

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

describe("a list of rollouts", () => {
  it("takes what has changed in its place and what is new at its end, and stays the same list when nothing has", () => {
    const rollout = (id: string, calls: number) => ({ id, calls }) as RolloutView;
    const known = [rollout("a", 1), rollout("b", 1)];
    expect(mergeRollouts(known, [])).toBe(known);
    expect(mergeRollouts(known, [rollout("c", 0), rollout("a", 2)])).toEqual([rollout("a", 2), rollout("b", 1), rollout("c", 0)]);
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

  it("name the training run they speak of", () => {
    const changed: EventView = { ...event("e", null), type: "training.changed", payload: '{"run":"t-1","status":"ended"}' };
    expect(trainingOf(changed)).toEqual({ run: "t-1", status: "ended" });
    expect([...keysMadeOld([changed])]).toContain("training:t-1");
    for (const other of [event(null, null), { ...changed, payload: "{" }, { ...changed, payload: '{"run":1}' }]) expect(trainingOf(other)).toBeNull();
  });
});
