/**
 * The phases of one attempt: each has its own time budget, is written to the store as it begins and ends, and is an event. A phase
 * that runs over its budget is left behind: what it awaited may still be pending, and dies with the sandbox.
 */
import type { RolloutPhase } from "../../engine/outcome/index.ts";
import type { RolloutRecord, Store } from "../store/index.ts";

/** A phase did not end inside its budget. */
export class PhaseTimeout extends Error {
  readonly phase: RolloutPhase;
  constructor(phase: RolloutPhase, budgetMs: number) {
    super(`The phase ${phase} did not end within ${Math.round(budgetMs / 1000)} s.`);
    this.phase = phase;
  }
}

export interface PhaseRecorder {
  readonly current: RolloutPhase;
  /** Runs one phase; rejects with PhaseTimeout, or with the reason of `signal` when that comes first. */
  run<T>(phase: RolloutPhase, budgetMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Writes the last phase. */
  end(): void;
}

export interface PhaseRecorderOptions {
  readonly store: Store;
  readonly rollout: Pick<RolloutRecord, "id" | "experimentId">;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

type PhaseEntry = RolloutRecord["phases"][number];

/** Begins with nothing recorded: the phases of an earlier attempt stay in the events. */
export function createPhaseRecorder({ store, rollout, attempt, signal }: PhaseRecorderOptions): PhaseRecorder {
  const entries: PhaseEntry[] = [];
  let current: RolloutPhase = "queued";

  function enter(phase: RolloutPhase): void {
    const at = Date.now();
    closeLast(at);
    current = phase;
    entries.push({ name: phase, startedAt: at, seconds: phase === "ended" ? 0 : null });
    const payload = JSON.stringify({ phase, attempt });
    store.atomically(() => {
      store.updateRollout(rollout.id, { phase, phases: [...entries] });
      store.appendEvent({ at, experimentId: rollout.experimentId, rolloutId: rollout.id, type: "rollout.phase", payload });
    });
  }

  function closeLast(at: number): void {
    const last = entries.at(-1);
    if (last !== undefined && last.seconds === null) entries[entries.length - 1] = { ...last, seconds: (at - last.startedAt) / 1000 };
  }

  return {
    get current() {
      return current;
    },
    async run(phase, budgetMs, work) {
      signal.throwIfAborted();
      enter(phase);
      return withBudget(phase, budgetMs, signal, work);
    },
    end: () => enter("ended"),
  };
}

async function withBudget<T>(phase: RolloutPhase, budgetMs: number, outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const budget = new AbortController();
  const timer = setTimeout(() => budget.abort(new PhaseTimeout(phase, budgetMs)), budgetMs);
  const signal = AbortSignal.any([outer, budget.signal]);
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work(signal), aborted]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
