/** Gets the rollouts that a step wants: those that the store already has, those that a killed service left, and new ones. */
import { WorkbenchError } from "../errors.ts";
import type { RolloutService } from "../rollouts/index.ts";
import type { RolloutRecord, Store } from "../store/index.ts";
import type { WantedRollout } from "./step-plan.ts";

export interface CollectorParts {
  readonly store: Store;
  readonly rollouts: RolloutService;
  /** Open, receives new rollouts. */
  readonly experiment: string;
  /** Of this run, that one included. */
  readonly experiments: readonly string[];
}

export interface Collected {
  readonly wanted: WantedRollout;
  readonly record: RolloutRecord;
}

export interface CollectOptions {
  readonly signal: AbortSignal;
  /** What has ended so far is enough: the rest is cancelled. Never asked when absent. */
  readonly enough?: (ended: readonly Collected[]) => boolean;
  readonly onEnded?: (ended: number, of: number) => void;
}

/** The reason of a signal when the service stops: rollouts are left as they are, for the next start. */
export class ServiceStops extends Error {}

export class Collector {
  readonly #parts: CollectorParts;
  /** Rollouts of earlier tries by key; cancelled ones are no rollouts. */
  readonly #known = new Map<string, RolloutRecord>();
  /** Rollouts of this process: when each ended; null = it runs. */
  readonly #endedAt = new Map<string, number | null>();

  constructor(parts: CollectorParts) {
    this.#parts = parts;
    for (const rollout of parts.experiments.flatMap((id) => parts.store.rolloutsOf(id))) {
      const { key } = rollout.labels;
      if (typeof key === "string" && this.#isUsable(rollout)) this.#known.set(key, rollout);
    }
  }

  /** Rollouts that ran at that time or later. Those that ended before are told of no more. */
  ranSince(at: number): readonly string[] {
    for (const [id, ended] of this.#endedAt) if (ended !== null && ended < at) this.#endedAt.delete(id);
    return [...this.#endedAt.keys()];
  }

  /** In the order wanted, stragglers that were cancelled included. Rejects with the signal's reason, what runs cancelled unless the service stops. */
  async collect(wanted: readonly WantedRollout[], { signal, enough, onEnded }: CollectOptions): Promise<readonly Collected[]> {
    signal.throwIfAborted();
    this.#requireOpen();
    const started = await this.#start(wanted).catch((error: unknown) => {
      // It may have been cancelled in between.
      this.#requireOpen();
      throw error;
    });
    const ended = new Map<string, Collected>();
    const left = new Set(started.map(({ id }) => id));
    for (const id of left) this.#endedAt.set(id, null);
    const cancelRest = (): void => void this.#parts.rollouts.cancelRollouts([...left]).catch((error: unknown) => console.error(error));
    let onAbort: () => void = cancelRest;
    const serviceStops = new Promise<never>((_resolve, reject) => {
      onAbort = () => (signal.reason instanceof ServiceStops ? reject(signal.reason) : cancelRest());
    });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    let stopped = false;
    try {
      const all = Promise.all(
        started.map(async ({ wanted: wish, id, ended: ending }) => {
          const record = await ending;
          left.delete(id);
          this.#endedAt.set(id, Date.now());
          if (record === null) return;
          ended.set(wish.key, { wanted: wish, record });
          onEnded?.(ended.size, wanted.length);
          if (stopped || enough === undefined || left.size === 0 || !enough([...ended.values()])) return;
          stopped = true;
          cancelRest();
        }),
      );
      await Promise.race([all, serviceStops]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
    signal.throwIfAborted();
    this.#requireOpen();
    return wanted.flatMap(({ key }) => ended.get(key) ?? []);
  }

  /** Whoever cancels the experiment takes the run's rollouts away. */
  #requireOpen(): void {
    const { store, experiment } = this.#parts;
    if (store.experiment(experiment)?.status === "running") return;
    throw new WorkbenchError(
      "unavailable",
      `The experiment ${experiment}, which holds the run's rollouts, was cancelled while the run went on.`,
      "Resume the run: it opens another one and goes on from its last whole step.",
    );
  }

  async #start(wanted: readonly WantedRollout[]) {
    const { rollouts, experiment } = this.#parts;
    const known = wanted.flatMap((wish) => {
      const record = this.#known.get(wish.key);
      return record === undefined ? [] : [{ wanted: wish, record }];
    });
    const unfinished = known.filter(({ record }) => record.phase !== "ended");
    const ofWish = new Map(unfinished.map(({ wanted: wish, record }) => [record.id, wish]));
    const resumed = await rollouts.resumeRollouts(experiment, [...ofWish.keys()]);
    const fresh = wanted.filter(({ key }) => !this.#known.has(key));
    const added = await rollouts.addRollouts(
      experiment,
      fresh.map(({ planned }) => planned),
    );
    return [
      ...known.flatMap(({ wanted: wish, record }) =>
        record.phase === "ended" ? [{ wanted: wish, id: record.id, ended: Promise.resolve<RolloutRecord | null>(record) }] : [],
      ),
      ...resumed.flatMap(({ id, ended }) => {
        const wish = ofWish.get(id);
        return wish === undefined ? [] : [{ wanted: wish, id, ended }];
      }),
      ...added.flatMap(({ id, ended }, index) => {
        const wish = fresh[index];
        return wish === undefined ? [] : [{ wanted: wish, id, ended }];
      }),
    ];
  }

  #isUsable(rollout: RolloutRecord): boolean {
    if (rollout.phase === "ended") return rollout.outcome?.status !== "cancelled";
    return rollout.experimentId === this.#parts.experiment;
  }
}
