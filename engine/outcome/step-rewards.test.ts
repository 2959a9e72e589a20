import { expect, test } from "vitest";
import { rewardsOfSteps, shortfall } from "./step-rewards.ts";

test("the mean is by name, and a step without rewards takes no part", () => {
  expect(rewardsOfSteps("mean", [{ reward: 1 }, { reward: 0.5 }])).toEqual({ reward: 0.75 });
  expect(rewardsOfSteps("mean", [{ reward: 1, style: 1 }, { reward: 1 }])).toEqual({ reward: 1, style: 0.5 });
  expect(rewardsOfSteps("mean", [{ reward: 1 }, null])).toEqual({ reward: 1 });
  expect(rewardsOfSteps("mean", [null])).toBeNull();
  expect(rewardsOfSteps("mean", [])).toBeNull();
});

test("final takes the last step that was run, and nothing in its place", () => {
  expect(rewardsOfSteps("final", [{ reward: 1 }, { reward: 0.25 }])).toEqual({ reward: 0.25 });
  expect(rewardsOfSteps("final", [{ reward: 1 }, null])).toBeNull();
});

test("a reward that is missing or too small stops the steps", () => {
  expect(shortfall(null, null)).toBeNull();
  expect(shortfall({ reward: 0.5 }, { reward: 0.5 })).toBeNull();
  expect(shortfall({ reward: 0.5 }, { reward: 0.4 })).toBe("its reward is 0.4, which must reach 0.5");
  expect(shortfall({ style: 0 }, { reward: 1 })).toBe("it gave no reward style, which must reach 0");
  expect(shortfall({ reward: -1 }, null)).toBe("it gave no reward, which must reach -1");
});
