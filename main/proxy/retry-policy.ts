/** When a failed upstream try is worth another, and after how long. Pure; the caller waits. */
import type { UpstreamFailure } from "./upstreams/upstream.ts";

export interface RetryBudget {
  /** Tries of one call in all, the first included. A refusal that names its own waiting time does not use one up. */
  readonly tries: number;
  /** Milliseconds that one call may spend waiting between tries. */
  readonly waitMs: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

export const defaultRetryBudget: RetryBudget = { tries: 6, waitMs: 300_000, firstDelayMs: 500, longestDelayMs: 15_000 };

export interface RetryState {
  /** Tries used so far that count, at least 1. */
  readonly tries: number;
  readonly waitedMs: number;
}

/**
 * Milliseconds to wait before the next try, or null when the failure stands. `random` is in [0, 1).
 * Backoff doubles from the first delay, with ±50 % jitter; what a server asks for (Retry-After) is honoured and never shortened.
 */
export function nextTryDelay(failure: UpstreamFailure, state: RetryState, budget: RetryBudget, random: number): number | null {
  if (!failure.retryable) return null;
  const asked = failure.retryAfterMs;
  if (asked === undefined && state.tries >= budget.tries) return null;
  const doubled = Math.min(budget.longestDelayMs, budget.firstDelayMs * 2 ** (state.tries - 1));
  const delay = asked === undefined ? Math.round(doubled * (0.5 + random)) : Math.ceil(asked + random * budget.firstDelayMs);
  return state.waitedMs + delay > budget.waitMs ? null : delay;
}

/** Whether a try counts against the budget: one that was told when to come back does not. */
export function countsAsTry(failure: UpstreamFailure): boolean {
  return failure.retryAfterMs === undefined;
}
