/**
 * The agent's time. It stands still while a call of the rollout waits for its policy: that is the policy's time, not the agent's. A
 * policy that says afterwards how long it kept a request waiting is believed: until its answer comes the whole call counts as waiting,
 * and then the rest of it is charged.
 */
export interface AgentClock {
  /** Aborted when the time is up. */
  readonly over: AbortSignal;
  /** A call begins to wait for its policy. */
  waitBegins(): void;
  /** It waits no longer; of the wait, so much was no waiting after all. */
  waitEnds(chargedMs: number): void;
  /** Milliseconds waited so far. */
  readonly waitedMs: number;
  /** No longer running: nothing happens any more. */
  stop(): void;
}

/** Runs from now on. `now` in milliseconds. */
export function startAgentClock(budgetMs: number, now: () => number = () => performance.now()): AgentClock {
  const over = new AbortController();
  let waiting = 0;
  let usedMs = 0;
  let waitedMs = 0;
  let since = now();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  /** Counts the time since the last change as what it was. */
  function settle(): void {
    if (stopped) return;
    const at = now();
    if (waiting > 0) waitedMs += at - since;
    else usedMs += at - since;
    since = at;
  }

  function arm(): void {
    clearTimeout(timer);
    if (stopped || over.signal.aborted || waiting > 0) return;
    const left = budgetMs - usedMs;
    if (left > 0) timer = setTimeout(tick, left);
    else over.abort(new Error("the agent's time is up"));
  }

  function tick(): void {
    settle();
    arm();
  }

  arm();
  return {
    over: over.signal,
    waitBegins() {
      settle();
      waiting += 1;
      arm();
    },
    waitEnds(chargedMs) {
      settle();
      waiting -= 1;
      const charged = Math.min(Math.max(0, chargedMs), waitedMs);
      usedMs += charged;
      waitedMs -= charged;
      arm();
    },
    get waitedMs() {
      settle();
      return waitedMs;
    },
    stop() {
      settle();
      stopped = true;
      clearTimeout(timer);
    },
  };
}
