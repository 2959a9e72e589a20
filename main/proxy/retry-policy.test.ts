import { expect, test } from "vitest";
import { defaultRetryBudget as budget, nextTryDelay } from "./retry-policy.ts";
import type { UpstreamFailure } from "./upstreams/upstream.ts";

const failure = (over: Partial<UpstreamFailure> = {}): UpstreamFailure => ({
  kind: "server-error",
  message: "",
  remedy: "",
  retryable: true,
  ...over,
});

test("backoff doubles with jitter, up to the longest delay and within the budget", () => {
  const delays = [1, 2, 3, 4, 5].map((tries) => nextTryDelay(failure(), { tries, waitedMs: 0 }, budget, 0.5));
  expect(delays).toEqual([500, 1000, 2000, 4000, 8000]);
  expect(nextTryDelay(failure(), { tries: 1, waitedMs: 0 }, budget, 0)).toBe(250);
  expect(nextTryDelay(failure(), { tries: budget.tries, waitedMs: 0 }, budget, 0.5)).toBeNull();
  expect(nextTryDelay(failure({ retryable: false }), { tries: 1, waitedMs: 0 }, budget, 0.5)).toBeNull();
});

test("what a server asks for is never shortened, uses up no try, and is bounded by the whole wait", () => {
  expect(nextTryDelay(failure({ retryAfterMs: 7_000 }), { tries: 99, waitedMs: 0 }, budget, 0)).toBe(7_000);
  expect(nextTryDelay(failure({ retryAfterMs: budget.waitMs + 1 }), { tries: 1, waitedMs: 0 }, budget, 0)).toBeNull();
});
