import fc from "fast-check";
import { expect, test } from "vitest";
import { planEvaluation, planStep } from "./step-plan.ts";
import { drawTasks, shuffled } from "./task-set.ts";

const tasks = Array.from({ length: 7 }, (_unused, index) => ({
  path: `/t/${index}`,
  name: `t${index}`,
  family: null,
  maxReward: 1,
  requiredTools: [],
}));
const wish = { seed: 3, step: 2, round: 0, groups: 5, size: 4, first: 5, policy: "training:r@1" };
const react = [{ id: "react", weight: 1 }];

test("a step that is planned again is the same", () => {
  expect(planStep(tasks, react, wish)).toEqual(planStep(tasks, react, wish));
});

test("every rollout has its own key and seed; a group is one task and one harness", () => {
  const wanted = planStep(tasks, [...react, { id: "console", weight: 2 }], wish);
  expect(wanted).toHaveLength(20);
  expect(new Set(wanted.map(({ key }) => key)).size).toBe(20);
  expect(new Set(wanted.map(({ planned }) => planned.seed)).size).toBe(20);
  for (const group of new Set(wanted.map((one) => one.group))) {
    const members = wanted.filter((one) => one.group === group);
    expect(new Set(members.map(({ planned }) => `${planned.taskPath} ${planned.harness}`)).size).toBe(1);
    expect(members.map(({ planned }) => planned.groupIndex)).toEqual([0, 1, 2, 3]);
  }
});

test("harnesses come by their weights", () => {
  const mix = [
    { id: "a", weight: 3 },
    { id: "b", weight: 1 },
  ];
  const drawn = Array.from({ length: 200 }, (_unused, step) => planStep(tasks, mix, { ...wish, step, groups: 4, size: 1 })).flat();
  const share = drawn.filter(({ planned }) => planned.harness === "a").length / drawn.length;
  expect(share).toBeGreaterThan(0.7);
  expect(share).toBeLessThan(0.8);
});

test("every task comes once before any comes again", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 5 }), fc.nat(), (count, perStep, seed) => {
      const values = Array.from({ length: count }, (_unused, index) => index);
      const drawn = Array.from({ length: count }, (_unused, step) => drawTasks(values, step * perStep, perStep, seed)).flat();
      for (let round = 0; round < perStep; round += 1) {
        expect(drawn.slice(round * count, (round + 1) * count).toSorted((left, right) => left - right)).toEqual(values);
      }
    }),
  );
});

test("shuffling keeps what there is", () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), fc.nat(), (values, seed) => {
      const order = [...shuffled(values, seed)];
      expect(order.toSorted((left, right) => left - right)).toEqual(values.toSorted((left, right) => left - right));
    }),
  );
});

test("evaluations of one run differ by the policy alone", () => {
  const at = (step: number) => planEvaluation(tasks, ["react", "console"], { seed: 1, step, samples: 2, policy: `training:r@${step}` });
  expect(at(0)).toHaveLength(7 * 2 * 2);
  expect(at(9).map(({ planned }) => planned.seed)).toEqual(at(0).map(({ planned }) => planned.seed));
  expect(new Set([...at(0), ...at(9)].map(({ key }) => key)).size).toBe(56);
});
