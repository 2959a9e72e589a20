/** Runs rollouts side by side: each waits its turn in the queue, runs to its outcome, and can be cancelled alone. */
import { join } from "node:path";
import type { OutcomeRules } from "../../engine/outcome/index.ts";
import { WorkbenchError } from "../errors.ts";
import type { RolloutRecord, TokenMode } from "../store/index.ts";
import { runAttempt } from "./attempt.ts";
import type { RolloutServiceOptions } from "./contract.ts";
import type { ProviderChoice } from "./provider-choice.ts";
import { createWorkQueue } from "./queue.ts";
import { createSlotPool } from "./resident/slot-pool.ts";
import { endByFault, endCancelled, runRollout } from "./run-rollout.ts";
import type { UpstreamPool } from "./upstream-pool.ts";

const defaults = { freeDiskBytes: 1024 ** 3, concurrency: 32 } as const;

/** How the rollouts of one experiment are run. */
export interface RunSettings {
  /** Rollouts of this experiment at once. */
  readonly concurrency: number;
  readonly rules: OutcomeRules;
  readonly attempts: number;
  /** null = as the policy can. */
  readonly tokenMode: TokenMode | null;
  /** null = what the task says. */
  readonly agentTimeoutMs: number | null;
  readonly keepWorkspace: boolean;
}

export interface RolloutRunner {
  /** Queues a rollout. `onEnd` is called when it has ended, before anybody who waits for it goes on; not when the service closes first. */
  start(rollout: RolloutRecord, settings: RunSettings, onEnd: () => void): void;
  /** Resolves when this rollout has ended, or the service has; at once when it neither waits nor runs. */
  ended(rolloutId: string): Promise<void>;
  /** Rollouts of an experiment that wait or run. */
  activeOf(experimentId: string): number;
  /** Of these, cancels what waits or runs; resolves with their number when every sandbox is gone. */
  cancel(rolloutIds: readonly string[]): Promise<number>;
  /** Resolves when nothing is queued or running. */
  idle(): Promise<void>;
  /** Tells of ends that could not be written (the disk is full): no event will ever tell them. Returns the unsubscriber. */
  onUnwritable(listener: (error: unknown) => void): () => void;
  readonly closing: boolean;
  /** Stops without outcomes. */
  close(): Promise<void>;
}

/** Starts nothing by itself. */
export function createRolloutRunner(options: RolloutServiceOptions, upstreams: UpstreamPool, choice: ProviderChoice): RolloutRunner {
  const { store } = options;
  const queue = createWorkQueue(options.concurrency ?? defaults.concurrency);
  const closing = new AbortController();
  const active = new Map<string, { readonly cancel: AbortController; readonly ended: Promise<void>; markEnded(): void }>();
  const counts = new Map<string, number>();
  const unwritable = new Set<(error: unknown) => void>();
  const slots = createSlotPool(options);
  const scratchFolder = join(store.dataFolder, "scratch");

  function count(experimentId: string, change: number): void {
    const left = (counts.get(experimentId) ?? 0) + change;
    if (left === 0) counts.delete(experimentId);
    else counts.set(experimentId, left);
  }

  function start(rollout: RolloutRecord, settings: RunSettings, onEnd: () => void): void {
    const cancel = new AbortController();
    let markEnded: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      markEnded = resolve;
    });
    active.set(rollout.id, { cancel, ended, markEnded });
    count(rollout.experimentId, 1);
    const settle = (): void => {
      active.delete(rollout.id);
      count(rollout.experimentId, -1);
      if (!closing.signal.aborted) write(onEnd);
      markEnded();
    };
    const run = async (): Promise<void> => {
      await runToEnd(rollout, settings, cancel.signal);
      settle();
    };
    cancel.signal.addEventListener("abort", () => {
      if (!queue.remove(rollout.id)) return;
      write(() => endCancelled(store, rollout, settings.rules));
      settle();
    });
    queue.add({ id: rollout.id, group: rollout.experimentId, groupLimit: settings.concurrency, run });
  }

  async function runToEnd(rollout: RolloutRecord, settings: RunSettings, cancelled: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([cancelled, closing.signal]);
    try {
      await runRollout({
        store,
        rolloutId: rollout.id,
        rules: settings.rules,
        attemptLimit: settings.attempts,
        closing: closing.signal,
        cancelled: signal,
        retryDelayMs: (counted) => Math.min(1000 * 4 ** (counted - 1), 60_000),
        runAttempt: async (record, attempt) =>
          runAttempt({
            ...options,
            slots,
            // One that cannot be had says so itself, when the attempt asks it for a sandbox.
            provider: await choice.of(record.sandbox).catch(() => options.sandboxes[record.sandbox]),
            leaseUpstream: () => upstreams.lease(record.policy),
            tokenMode: settings.tokenMode,
            scratchFolder,
            freeDiskBytes: options.freeDiskBytes ?? defaults.freeDiskBytes,
            rollout: record,
            attempt,
            agentTimeoutMs: settings.agentTimeoutMs,
            keepWorkspace: settings.keepWorkspace,
            signal,
          }),
      });
    } catch (error) {
      report(error);
      // A bug, or a store that refuses to write: this rollout ends with it, its siblings go on.
      if (!closing.signal.aborted) write(() => endByFault(store, rollout, error));
    }
  }

  /** What cannot be written stays unfinished, and the next start goes on with it. */
  function write(end: () => void): void {
    try {
      end();
    } catch (error) {
      report(error);
      for (const listener of unwritable) listener(error);
    }
  }

  return {
    start,
    ended: async (id) => active.get(id)?.ended,
    activeOf: (experimentId) => counts.get(experimentId) ?? 0,
    async cancel(ids) {
      const found = ids.flatMap((id) => active.get(id) ?? []);
      for (const { cancel } of found) cancel.abort(new Error("cancelled by a person"));
      await Promise.all(found.map(({ ended }) => ended));
      return found.length;
    },
    idle: () => queue.idle(),
    onUnwritable(listener) {
      unwritable.add(listener);
      return () => void unwritable.delete(listener);
    },
    get closing() {
      return closing.signal.aborted;
    },
    async close() {
      closing.abort(new Error("the service stops"));
      await queue.close();
      await slots.close();
      // Those that never got their turn: nobody waits for them any longer.
      for (const { markEnded } of active.values()) markEnded();
    },
  };
}

/** A bug shows where it is; what was foreseen is told by whoever follows the rollout. */
function report(error: unknown): void {
  if (!(error instanceof WorkbenchError)) console.error(error);
}
