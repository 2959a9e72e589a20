/** The rollout service: experiments in, rollouts run to their outcomes, and a store from which a killed service goes on. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { OutcomeRules } from "../../engine/outcome/index.ts";
import { type ExperimentSpec, experimentSpecSchema } from "../api/views.ts";
import { WorkbenchError } from "../errors.ts";
import type { Upstream } from "../proxy/index.ts";
import type { ExperimentRecord, RolloutRecord } from "../store/index.ts";
import { runAttempt } from "./attempt.ts";
import type { RolloutService, RolloutServiceOptions } from "./contract.ts";
import { experimentId, idMaker, planRollouts } from "./plan.ts";
import { refusalOf, requireSandbox, tasksOf } from "./preflight.ts";
import { createWorkQueue } from "./queue.ts";
import { endByFault, endCancelled, recordRestart, runRollout } from "./run-rollout.ts";
import { summarise } from "./summary.ts";
import { createUpstreamPool, type UpstreamLease } from "./upstream-pool.ts";

const defaults = { freeDiskBytes: 1024 ** 3, concurrency: 32 } as const;

/** Starts nothing by itself: call `resumeUnfinished` once the service is up. */
export function createRolloutService(options: RolloutServiceOptions): RolloutService {
  const { store, sandboxes, harnesses } = options;
  const queue = createWorkQueue(options.concurrency ?? defaults.concurrency);
  const upstreams = createUpstreamPool(options.policies);
  const closing = new AbortController();
  /** Cancels one rollout that waits or runs; resolves when it has ended. */
  const active = new Map<string, { readonly cancel: AbortController; readonly ended: Promise<void> }>();
  /** Policies of running experiments stay open between their rollouts. */
  const held = new Map<string, readonly UpstreamLease[]>();
  const scratchFolder = join(store.dataFolder, "scratch");

  function specOf(experiment: ExperimentRecord): ExperimentSpec {
    return experimentSpecSchema.parse(JSON.parse(experiment.spec));
  }

  function enqueue(rollout: RolloutRecord, spec: ExperimentSpec): void {
    const cancel = new AbortController();
    let markEnded: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      markEnded = resolve;
    });
    active.set(rollout.id, { cancel, ended });
    const run = async (): Promise<void> => {
      await runToEnd(rollout, spec, cancel.signal);
      settle();
    };
    const settle = (): void => {
      active.delete(rollout.id);
      endExperimentIfDone(rollout.experimentId);
      markEnded();
    };
    cancel.signal.addEventListener("abort", () => {
      if (!queue.remove(rollout.id)) return;
      endCancelled(store, rollout, rulesOf(spec));
      settle();
    });
    queue.add({ id: rollout.id, group: rollout.experimentId, groupLimit: spec.concurrency, run });
  }

  async function runToEnd(rollout: RolloutRecord, spec: ExperimentSpec, cancelled: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([cancelled, closing.signal]);
    try {
      await runRollout({
        store,
        rolloutId: rollout.id,
        rules: rulesOf(spec),
        attemptLimit: spec.attempts,
        closing: closing.signal,
        cancelled: signal,
        retryDelayMs: (counted) => Math.min(1000 * 4 ** (counted - 1), 60_000),
        runAttempt: (record, attempt) =>
          runAttempt({
            ...options,
            provider: sandboxes[record.sandbox],
            leaseUpstream: () => upstreams.lease(record.policy),
            tokenMode: spec.tokenMode ?? null,
            scratchFolder,
            freeDiskBytes: options.freeDiskBytes ?? defaults.freeDiskBytes,
            rollout: record,
            attempt,
            agentTimeoutMs: spec.agentTimeoutSeconds === undefined ? null : spec.agentTimeoutSeconds * 1000,
            signal,
          }),
      });
    } catch (error) {
      console.error(error);
      if (!closing.signal.aborted) endFaulty(rollout, error);
    }
  }

  /** A bug, or a store that refuses to write: this rollout ends with it, its siblings go on. */
  function endFaulty(rollout: RolloutRecord, error: unknown): void {
    try {
      endByFault(store, rollout, error);
    } catch (second) {
      // It stays unfinished; the next start goes on with it.
      console.error(second);
    }
  }

  function endExperimentIfDone(id: string): void {
    if (closing.signal.aborted) return;
    const experiment = store.experiment(id);
    if (experiment === null || experiment.endedAt !== null || experiment.status === "recording") return;
    if (store.rolloutsOf(id).some((rollout) => rollout.phase !== "ended" || active.has(rollout.id))) return;
    const status = experiment.status === "cancelled" ? "cancelled" : "ended";
    const at = Date.now();
    store.updateExperiment(id, { status, endedAt: at });
    letGo(id);
    store.appendEvent({ at, experimentId: id, rolloutId: null, type: "experiment.ended", payload: JSON.stringify({ status }) });
  }

  /** Writes the rollouts of an experiment and queues them; also for one that a killed service had not yet planned. */
  async function plan(experiment: ExperimentRecord, spec: ExperimentSpec): Promise<void> {
    const tasks = await tasksOf(spec, options.starterTasksFolder);
    const manifests = await Promise.all([...new Set(spec.harnesses)].map((id) => harnesses.get(id)));
    const refusals = tasks.map((task) => refusalOf(task, spec.sandbox, manifests));
    const [first] = refusals;
    if (first !== undefined && first !== null && refusals.every((refusal) => refusal !== null)) throw first;
    const rollouts = planRollouts({ spec, tasks, harnesses: manifests }, experiment.id, experiment.createdAt, idMaker(store));
    if (store.experiment(experiment.id) === null) store.createExperiment(experiment);
    store.createRollouts(rollouts);
    store.appendEvent({
      at: Date.now(),
      experimentId: experiment.id,
      rolloutId: null,
      type: "experiment.started",
      payload: JSON.stringify({ rollouts: rollouts.length }),
    });
    for (const rollout of rollouts) enqueue(rollout, spec);
  }

  async function cancelRollouts(rollouts: readonly RolloutRecord[]): Promise<number> {
    const found = rollouts.flatMap((rollout) => active.get(rollout.id) ?? []);
    for (const { cancel } of found) cancel.abort(new Error("cancelled by a person"));
    await Promise.all(found.map(({ ended }) => ended));
    return found.length;
  }

  async function reapSandboxes(): Promise<number> {
    const reaping = Object.values(sandboxes).map(async (provider) => {
      try {
        return (await provider.reap(options.ownerId, new Set())).length;
      } catch (error) {
        // One kind that cannot be swept must not keep the service from starting.
        console.error(error);
        return 0;
      }
    });
    const counts = await Promise.all(reaping);
    await rm(scratchFolder, { recursive: true, force: true });
    return counts.reduce((sum, count) => sum + count, 0);
  }

  return {
    async startExperiment(given) {
      const spec = experimentSpecSchema.parse(given);
      await requireSandbox(sandboxes[spec.sandbox]);
      const id = experimentId(store);
      await holdPolicies(id, spec);
      const name = spec.name ?? `${spec.harnesses.join(", ")} × ${spec.policies.join(", ")}`;
      try {
        await plan({ id, name, createdAt: Date.now(), endedAt: null, spec: JSON.stringify(spec), status: "running" }, spec);
      } catch (error) {
        letGo(id);
        throw error;
      }
      return id;
    },
    async cancel(id) {
      const experiment = store.experiment(id);
      if (experiment?.status !== "running") return 0;
      // Written first: a service that is killed now does not go on with it.
      store.updateExperiment(id, { status: "cancelled" });
      const cancelled = await cancelRollouts(store.rolloutsOf(id));
      endExperimentIfDone(id);
      return cancelled;
    },
    async cancelRollout(id) {
      const rollout = store.rollout(id);
      if (rollout !== null) await cancelRollouts([rollout]);
    },
    async resumeUnfinished() {
      const reaped = await reapSandboxes();
      const unfinished = store.unfinishedRollouts();
      for (const experiment of store.experiments()) {
        const left = unfinished.filter((rollout) => rollout.experimentId === experiment.id);
        if (experiment.status === "running") await resume(experiment, left);
        if (experiment.status === "cancelled") endLeft(experiment, left);
      }
      return { rollouts: unfinished.length, sandboxes: reaped };
    },
    async settled(id) {
      for (const rollout of store.rolloutsOf(id)) await active.get(rollout.id)?.ended;
    },
    idle: () => queue.idle(),
    summary: (id) => summarise(store.rolloutsOf(id)),
    async close() {
      closing.abort(new Error("the service stops"));
      await queue.close();
      for (const id of held.keys()) letGo(id);
    },
  };

  async function resume(experiment: ExperimentRecord, left: readonly RolloutRecord[]): Promise<void> {
    const spec = specOf(experiment);
    // A policy that is gone by now: each rollout tells so in its outcome.
    await holdPolicies(experiment.id, spec).catch(() => undefined);
    if (store.rolloutsOf(experiment.id).length === 0) await planAgain(experiment, spec);
    for (const rollout of left) resumeRollout(rollout, spec);
    endExperimentIfDone(experiment.id);
  }

  /** Killed between the experiment and its rollouts; when its tasks are gone too, it ends without any. */
  async function planAgain(experiment: ExperimentRecord, spec: ExperimentSpec): Promise<void> {
    try {
      await plan(experiment, spec);
    } catch (error) {
      const line = error instanceof Error ? error.message : String(error);
      store.appendEvent({ at: Date.now(), experimentId: experiment.id, rolloutId: null, type: "log", payload: JSON.stringify({ line }) });
    }
  }

  function endLeft(experiment: ExperimentRecord, left: readonly RolloutRecord[]): void {
    for (const rollout of left) endCancelled(store, rollout, rulesOf(specOf(experiment)));
    endExperimentIfDone(experiment.id);
  }

  function resumeRollout(rollout: RolloutRecord, spec: ExperimentSpec): void {
    if (rollout.phase !== "queued") {
      recordRestart(store, rollout);
      store.updateRollout(rollout.id, { phase: "queued", phases: [{ name: "queued", startedAt: Date.now(), seconds: null }] });
    }
    enqueue({ ...rollout, phase: "queued" }, spec);
  }

  /** A policy that cannot be resolved, or not be used as the spec wants, refuses the experiment. */
  async function holdPolicies(id: string, spec: ExperimentSpec): Promise<void> {
    const leases: UpstreamLease[] = [];
    held.set(id, leases);
    try {
      for (const policy of spec.policies) {
        const lease = await upstreams.lease(policy);
        leases.push(lease);
        requireTokenMode(spec, policy, lease.upstream);
      }
    } catch (error) {
      letGo(id);
      throw error;
    }
  }

  function letGo(id: string): void {
    for (const lease of held.get(id) ?? []) lease.release().catch((error: unknown) => console.error(error));
    held.delete(id);
  }
}

function rulesOf(spec: ExperimentSpec): OutcomeRules {
  return { preset: spec.outcomePreset, discardTimeouts: spec.discardTimeouts };
}

function requireTokenMode(spec: ExperimentSpec, policy: string, { takesTokenIds }: Upstream): void {
  if (spec.tokenMode === undefined || spec.tokenMode === "text-in" || takesTokenIds) return;
  throw new WorkbenchError(
    "usage",
    `The policy ${policy} takes no token ids, so the token mode ${spec.tokenMode} is not possible.`,
    "Leave tokenMode out, or use text-in.",
  );
}
