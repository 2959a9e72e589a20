/** The rollout service: experiments in, rollouts run to their outcomes, and a store from which a killed service goes on. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { OutcomeRules } from "../../engine/outcome/index.ts";
import { type ExperimentSpec, experimentSpecSchema } from "../api/experiment-views.ts";
import type { ExperimentRecord, RolloutRecord } from "../store/index.ts";
import type { RolloutService, RolloutServiceOptions } from "./contract.ts";
import { createOpenExperiments } from "./open-experiments.ts";
import { experimentId, idMaker, logExperiment, planRollouts } from "./plan.ts";
import { refusalOf, tasksOf } from "./preflight.ts";
import { createProviderChoice, notIsolated } from "./provider-choice.ts";
import { regrade } from "./regrade/regrade.ts";
import { endCancelled, recordRestart } from "./run-rollout.ts";
import { createRolloutRunner, type RunSettings } from "./runner.ts";
import { summarise } from "./summary.ts";
import { requireTokenMode } from "./token-mode.ts";
import { createUpstreamPool, type UpstreamLease } from "./upstream-pool.ts";

/** Starts nothing by itself: call `resumeUnfinished` once the service is up. */
export function createRolloutService(options: RolloutServiceOptions): RolloutService {
  const { store, sandboxes, harnesses } = options;
  const upstreams = createUpstreamPool(options.policies);
  const choice = createProviderChoice(sandboxes);
  const runner = createRolloutRunner(options, upstreams, choice);
  /** Policies of running experiments stay open between their rollouts. */
  const held = new Map<string, readonly UpstreamLease[]>();

  function specOf(experiment: ExperimentRecord): ExperimentSpec {
    return experimentSpecSchema.parse(JSON.parse(experiment.spec));
  }

  function enqueue(rollout: RolloutRecord, spec: ExperimentSpec): void {
    runner.start(rollout, settingsOf(spec), () => endExperimentIfDone(rollout.experimentId));
  }

  function endExperimentIfDone(id: string): void {
    if (runner.closing || runner.activeOf(id) > 0) return;
    const experiment = store.experiment(id);
    if (experiment === null || experiment.endedAt !== null || experiment.status === "recording") return;
    if (store.rolloutsOf(id).some((rollout) => rollout.phase !== "ended")) return;
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
    const provider = await choice.of(spec.sandbox);
    const refusals = tasks.map((task) => refusalOf(task, provider, manifests));
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
    if (!provider.isolates) logExperiment(store, experiment.id, notIsolated);
    for (const rollout of rollouts) enqueue(rollout, spec);
  }

  async function reapSandboxes(): Promise<number> {
    const providers = Object.values(sandboxes).flatMap((provider) => [provider, provider.fallback ?? []].flat());
    const reaping = providers.map(async (provider) => {
      try {
        return (await provider.reap(options.ownerId, new Set())).length;
      } catch (error) {
        // One kind that cannot be swept must not keep the service from starting.
        console.error(error);
        return 0;
      }
    });
    const counts = await Promise.all(reaping);
    await rm(join(store.dataFolder, "scratch"), { recursive: true, force: true });
    return counts.reduce((sum, count) => sum + count, 0);
  }

  return {
    ...createOpenExperiments(options, runner, upstreams, choice),
    async startExperiment(given) {
      const spec = await withFixedPolicies(experimentSpecSchema.parse(given));
      await choice.require(spec.sandbox);
      const id = experimentId(store);
      await holdPolicies(id, spec);
      const name = spec.name ?? `${spec.harnesses.join(", ")} × ${spec.policies.join(", ")}`;
      try {
        const fresh = { createdAt: Date.now(), endedAt: null, status: "running", kind: "experiment" } as const;
        await plan({ ...fresh, id, name, spec: JSON.stringify(spec) }, spec);
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
      const cancelled = await runner.cancel(store.rolloutsOf(id).map((rollout) => rollout.id));
      endExperimentIfDone(id);
      return cancelled;
    },
    cancelRollout: async (id) => void (await runner.cancel([id])),
    async resumeUnfinished() {
      const reaped = await reapSandboxes();
      const unfinished = store.unfinishedRollouts();
      for (const experiment of store.experiments()) {
        const left = unfinished.filter((rollout) => rollout.experimentId === experiment.id);
        if (experiment.kind !== "experiment") continue;
        if (experiment.status === "running") await resume(experiment, left);
        if (experiment.status === "cancelled") endLeft(experiment, left);
      }
      return { rollouts: unfinished.length, sandboxes: reaped };
    },
    async settled(id) {
      for (const rollout of store.rolloutsOf(id)) await runner.ended(rollout.id);
    },
    idle: () => runner.idle(),
    onUnwritable: runner.onUnwritable,
    regrade: (request) => regrade(options, choice, request),
    summary: (id) => summarise(store.rolloutsOf(id)),
    async close() {
      await runner.close();
      for (const id of held.keys()) letGo(id);
    },
  };

  async function resume(experiment: ExperimentRecord, left: readonly RolloutRecord[]): Promise<void> {
    const spec = specOf(experiment);
    // A policy that is gone by now: each rollout tells so in its outcome.
    await holdPolicies(experiment.id, spec).catch(() => undefined);
    if (store.rolloutsOf(experiment.id).length === 0) await planAgain(experiment, spec);
    for (const rollout of left) enqueue(recordRestart(store, rollout), spec);
    endExperimentIfDone(experiment.id);
  }

  /** Killed between the experiment and its rollouts; when its tasks are gone too, it ends without any. */
  async function planAgain(experiment: ExperimentRecord, spec: ExperimentSpec): Promise<void> {
    try {
      await plan(experiment, spec);
    } catch (error) {
      logExperiment(store, experiment.id, error instanceof Error ? error.message : String(error));
    }
  }

  function endLeft(experiment: ExperimentRecord, left: readonly RolloutRecord[]): void {
    for (const rollout of left) endCancelled(store, rollout, rulesOf(specOf(experiment)));
    endExperimentIfDone(experiment.id);
  }

  /** What a name like `training:RUN@last` means is settled when the experiment begins, and stays so. */
  async function withFixedPolicies(spec: ExperimentSpec): Promise<ExperimentSpec> {
    return { ...spec, policies: await Promise.all(spec.policies.map((policy) => options.policies.pin(policy))) };
  }

  /** A policy that cannot be resolved, or not be used as the spec wants, refuses the experiment. */
  async function holdPolicies(id: string, spec: ExperimentSpec): Promise<void> {
    const leases: UpstreamLease[] = [];
    held.set(id, leases);
    try {
      for (const policy of spec.policies) {
        const lease = await upstreams.lease(policy);
        leases.push(lease);
        requireTokenMode(spec.tokenMode, policy, lease.upstream);
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

function settingsOf(spec: ExperimentSpec): RunSettings {
  return {
    concurrency: spec.concurrency,
    rules: rulesOf(spec),
    attempts: spec.attempts,
    tokenMode: spec.tokenMode ?? null,
    keepWorkspace: spec.keepWorkspace,
    agentTimeoutMs: spec.agentTimeoutSeconds === undefined ? null : spec.agentTimeoutSeconds * 1000,
  };
}
