import { describe, expect, it } from "vitest";
import { checkPlan, plannedRollouts, startingPlan } from "./plan.ts";

describe("the plan of an experiment", () => {
  it("starts as one that works on a bare machine", () => {
    expect(checkPlan(startingPlan)).toEqual({
      spec: {
        ...{ tasks: ["starter"], harnesses: ["react"], policies: ["scripted"], k: 1, sandbox: "local", concurrency: 2, seed: 0 },
        keepWorkspace: false,
      },
      errors: null,
    });
  });

  it("says what is wrong under the field", () => {
    const { errors } = checkPlan({ ...startingPlan, tasks: new Set(), k: "eight", concurrency: "0", seed: "-1" });
    expect(Object.keys(errors ?? {}).sort()).toEqual(["concurrency", "k", "seed", "tasks"]);
    expect(errors?.k).toBe("k is a whole number from 1, for example 8.");
  });

  it("counts its rollouts", () => {
    expect(plannedRollouts({ ...startingPlan, tasks: new Set(["starter", "/a"]), harnesses: new Set(["react", "codex"]), k: "4" }, 6)).toBe(56);
    expect(plannedRollouts({ ...startingPlan, k: "" }, 6)).toBeNull();
  });
});
