import { expect, test } from "vitest";
import { createPolicyWait } from "./policy-wait.ts";

function watched(reportsQueue: boolean) {
  let now = 0;
  const told: (string | number)[] = [];
  const wait = createPolicyWait({ now: () => now }, reportsQueue);
  wait.listen({ waitBegins: () => told.push("begins"), waitEnds: (chargedMs) => told.push(chargedMs) });
  const pass = (ms: number): void => {
    now += ms;
  };
  return { wait, told, pass };
}

test("a policy that says nothing of its queue is at work from the moment it is asked", () => {
  const { wait, told, pass } = watched(false);
  wait.asked(1);
  pass(1000);
  wait.answered(1, 0);
  expect(told).toEqual([]);
});

test("between two tries a call waits", () => {
  const { wait, told, pass } = watched(false);
  wait.asked(1);
  wait.answered(1, 0);
  wait.held(1);
  pass(1000);
  wait.asked(1);
  wait.over(1);
  expect(told).toEqual(["begins", 0]);
});

test("of a policy that says how long it kept a call waiting, the rest is charged", () => {
  const { wait, told, pass } = watched(true);
  wait.asked(1);
  wait.asked(2);
  pass(1000);
  wait.answered(1, 700);
  pass(500);
  wait.answered(2, 4000);
  wait.asked(3);
  wait.over(3);
  expect(told).toEqual(["begins", "begins", 300, 0, "begins", 0]);
});
