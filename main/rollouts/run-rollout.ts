/**
 * One rollout from its first attempt to its outcome. Infrastructure that failed gets another attempt, up to a limit; a restart of the
 * service does not count. What is written first is the record (the truth after a crash), then the event that tells it.
 */
import { setTimeout as pause } from "node:timers/promises";
import { classifyOutcome, mayTryAgain, type Outcome, type OutcomeRules } from "../../engine/outcome/index.ts";
import type { RolloutRecord, RolloutUpdate, Store } from "../store/index.ts";
import { rebuildTrajectories, trajectoryTotals } from "../trajectories/index.ts";
import type { AttemptResult } from "./attempt.ts";

export interface RolloutRun {
  readonly store: Store;
  readonly rolloutId: string;
  readonly rules: OutcomeRules;
  /** Attempts at most, those that a restart cut short left out. */
  readonly attemptLimit: number;
  /** The service stops: leave the rollout as it is, for the next start. */
  readonly closing: AbortSignal;
  /** A person cancelled the rollout, or the service stops. */
  readonly cancelled: AbortSignal;
  /** Milliseconds before the attempt after so many that counted. */
  retryDelayMs(counted: number): number;
  runAttempt(rollout: RolloutRecord, attempt: number): Promise<AttemptResult>;
}

const attemptEvent = "rollout.attempt";

/** What the event says about an attempt that has ended. */
interface AttemptEnd {
  readonly attempt: number;
  readonly outcome: Outcome;
  /** Counts against the limit of attempts. */
  readonly counts: boolean;
}

/** Runs until there is an outcome, or until the service closes. */
export async function runRollout(run: RolloutRun): Promise<void> {
  const { store, rolloutId } = run;
  let counted = countedAttempts(store, rolloutId);
  for (;;) {
    const before = store.rollout(rolloutId);
    if (before === null) return;
    const attempt = before.attempts;
    // In one write: an attempt that has a number has begun, so that a restart finds it.
    store.updateRollout(rolloutId, { attempts: attempt + 1, phase: "preparing", steps: [], startedAt: before.startedAt ?? Date.now() });
    const result = await run.runAttempt(before, attempt);
    if (run.closing.aborted) return;
    const outcome = classifyOutcome(result.facts, run.rules);
    counted += 1;
    recordAttempt(store, before, { attempt, outcome, counts: true });
    const again = mayTryAgain(result.facts, outcome) && counted < run.attemptLimit;
    if (again) {
      await pause(run.retryDelayMs(counted), undefined, { signal: run.cancelled }).catch(() => undefined);
      continue;
    }
    endRollout(store, before, outcome, result);
    return;
  }
}

/** Puts a rollout that a killed service left back into the queue. The attempt that ran then is marked; it does not count. */
export function recordRestart(store: Store, rollout: RolloutRecord): RolloutRecord {
  if (rollout.phase === "queued") return rollout;
  const detail = "The service was stopped while this attempt ran; it is run again.";
  const outcome: Outcome = { status: "environment-failure", cause: "service-restart", action: "discard", detail };
  recordAttempt(store, rollout, { attempt: rollout.attempts - 1, outcome, counts: false });
  const queued = { phase: "queued", phases: [{ name: "queued", startedAt: Date.now(), seconds: null }] } as const;
  store.updateRollout(rollout.id, queued);
  return { ...rollout, ...queued };
}

/** Ends a rollout that waits in the queue or was cancelled before its first attempt. */
export function endCancelled(store: Store, rollout: RolloutRecord, rules: OutcomeRules): void {
  const outcome = classifyOutcome({ cancelled: true, stop: null, agent: null, verdict: null }, rules);
  endRollout(store, rollout, outcome, null);
}

/** A fault of ours outside any attempt: the rollout must end all the same, or its experiment would never. */
export function endByFault(store: Store, rollout: RolloutRecord, error: unknown): void {
  const detail = `A fault of the workbench: ${error instanceof Error ? error.message : String(error)}`;
  const outcome: Outcome = { status: "environment-failure", cause: "setup-failed", action: "mask", detail };
  endRecord(store, rollout, outcome, { trainable: false, trainableReason: reasonOfAction(outcome) });
}

function recordAttempt(store: Store, rollout: RolloutRecord, end: AttemptEnd): void {
  store.appendEvent({ at: Date.now(), experimentId: rollout.experimentId, rolloutId: rollout.id, type: attemptEvent, payload: JSON.stringify(end) });
}

function countedAttempts(store: Store, rolloutId: string): number {
  let counted = 0;
  let after = 0;
  for (;;) {
    const events = store.eventsAfter(after, 1000, { rolloutId });
    for (const event of events) {
      after = event.sequence;
      if (event.type === attemptEvent && (JSON.parse(event.payload) as AttemptEnd).counts) counted += 1;
    }
    if (events.length < 1000) return counted;
  }
}

function endRollout(store: Store, rollout: RolloutRecord, outcome: Outcome, result: AttemptResult | null): void {
  const attempt = Math.max(0, (store.rollout(rollout.id)?.attempts ?? 0) - 1);
  endRecord(store, rollout, outcome, {
    reward: result?.verifier?.reward ?? null,
    rewards: result?.verifier?.rewards ?? null,
    policyWaitSeconds: result?.policyWaitSeconds ?? null,
    ...(result?.isolation ? { isolation: result.isolation } : {}),
    ...(result?.fingerprint ? { fingerprint: result.fingerprint } : {}),
    ...totals(store, rollout.id, attempt, outcome),
  });
}

function endRecord(store: Store, rollout: RolloutRecord, outcome: Outcome, change: RolloutUpdate): void {
  const at = Date.now();
  const record = store.rollout(rollout.id);
  const attempt = Math.max(0, (record?.attempts ?? 0) - 1);
  const phases = (record?.phases ?? []).map((phase) => (phase.seconds === null ? { ...phase, seconds: (at - phase.startedAt) / 1000 } : phase));
  const of = { at, experimentId: rollout.experimentId, rolloutId: rollout.id };
  store.atomically(() => {
    store.updateRollout(rollout.id, {
      ...change,
      phase: "ended",
      phases: [...phases, { name: "ended", startedAt: at, seconds: 0 }],
      outcome,
      endedAt: at,
    });
    store.appendEvent({ ...of, type: "rollout.phase", payload: JSON.stringify({ phase: "ended", attempt }) });
    store.appendEvent({ ...of, type: "rollout.outcome", payload: JSON.stringify(outcome) });
  });
}

/** Trainable = the tokens can be trained, and the outcome says that they should be. */
function totals(store: Store, rolloutId: string, attempt: number, outcome: Outcome): RolloutUpdate {
  const counts = trajectoryTotals(rebuildTrajectories(store, rolloutId, { attempt }));
  const versions = new Set(store.callsOf(rolloutId, attempt).flatMap((call) => (call.policyVersion === null ? [] : [call.policyVersion])));
  const policyVersion = versions.size === 0 ? null : [...versions].join(", ");
  if (!counts.trainable || outcome.action === "train") return { ...counts, policyVersion };
  return { ...counts, policyVersion, trainable: false, trainableReason: reasonOfAction(outcome) };
}

function reasonOfAction({ status, cause, action }: Outcome): string {
  const why = cause === null ? status : `${status}, ${cause}`;
  return `${action === "discard" ? "discarded" : "masked"}: ${why}`;
}
