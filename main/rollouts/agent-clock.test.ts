import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startAgentClock } from "./agent-clock.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});
const clock = (budgetMs: number) => startAgentClock(budgetMs, () => Date.now());

test("runs out after its budget", () => {
  const agent = clock(2000);
  vi.advanceTimersByTime(1999);
  expect(agent.over.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(agent.over.aborted).toBe(true);
  expect(agent.waitedMs).toBe(0);
});

test("stands still while a call waits, and two that wait at once wait once", () => {
  const agent = clock(2000);
  vi.advanceTimersByTime(1000);
  agent.waitBegins();
  vi.advanceTimersByTime(3000);
  agent.waitBegins();
  vi.advanceTimersByTime(3000);
  agent.waitEnds(0);
  vi.advanceTimersByTime(3000);
  agent.waitEnds(0);
  expect(agent.waitedMs).toBe(9000);
  vi.advanceTimersByTime(999);
  expect(agent.over.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(agent.over.aborted).toBe(true);
});

test("charges what was no waiting after all, and is over at once when that is too much", () => {
  const agent = clock(2000);
  agent.waitBegins();
  vi.advanceTimersByTime(6000);
  agent.waitEnds(1500);
  expect(agent.waitedMs).toBe(4500);
  expect(agent.over.aborted).toBe(false);
  agent.waitBegins();
  vi.advanceTimersByTime(600);
  agent.waitEnds(600);
  expect(agent.over.aborted).toBe(true);
});

test("does nothing any more when it is stopped", () => {
  const agent = clock(2000);
  agent.waitBegins();
  vi.advanceTimersByTime(1000);
  agent.stop();
  agent.waitEnds(0);
  vi.advanceTimersByTime(5000);
  expect(agent.over.aborted).toBe(false);
  expect(agent.waitedMs).toBe(1000);
});
