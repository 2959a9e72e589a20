/** Experiments that stay open: a training run adds rollouts step by step, waits for each, cancels stragglers, and closes at its end. */
import { z } from "zod";
import { WorkbenchError } from "../errors.ts";
import type { HarnessManifest } from "../harnesses/index.ts";
import type { ExperimentRecord, RolloutRecord } from "../store/index.ts";
import { checkTask, type Task } from "../tasks/index.ts";
import type { AddedRollout, OpenExperiment, PlannedRollout, RolloutService, RolloutServiceOptions } from "./contract.ts";
import { experimentId, idMaker, logExperiment, queuedRollout } from "./plan.ts";
import { refusalOf, soundTask } from "./preflight.ts";
import { notIsolated, type ProviderChoice } from "./provider-choice.ts";
import { endCancelled, recordRestart } from "./run-rollout.ts";
import type { RolloutRunner, RunSettings } from "./runner.ts";
import { requireTokenMode } from "./token-mode.ts";
import type { UpstreamLease, UpstreamPool } from "./upstream-pool.ts";

export type OpenExperiments = Pick<RolloutService, "openExperiment" | "addRollouts" | "resumeRollouts" | "cancelRollouts" | "closeExperiment">;

/** As kept in the store: what a restarted service goes on with. */
const openExperimentSchema = z.object({
  name: z.string(),
  sandbox: z.enum(["local", "docker", "kubernetes"]),
  concurrency: z.number().int().positive(),
  rules: z.object({ preset: z.enum(["default", "paper"]), discardTimeouts: z.boolean() }),
  attempts: z.number().int().positive(),
  tokenMode: z.enum(["as-sampled", "as-template", "text-in"]).optional(),
  agentTimeoutSeconds: z.number().positive().optional(),
});
type StoredExperiment = z.infer<typeof openExperimentSchema>;

export function createOpenExperiments(
  options: RolloutServiceOptions,
  runner: RolloutRunner,
  upstreams: UpstreamPool,
  choice: ProviderChoice,
): OpenExperiments {
  const { store, harnesses } = options;

  function required(id: string): { readonly record: ExperimentRecord; readonly experiment: StoredExperiment } {
    const record = store.experiment(id);
    if (record?.kind !== "training" || record.status !== "running")
      throw new WorkbenchError("not-found", `There is no open experiment ${id}.`, "Open one first.");
    return { record, experiment: openExperimentSchema.parse(JSON.parse(record.spec)) };
  }

  function start(rollout: RolloutRecord, settings: RunSettings, onEnd: () => void): AddedRollout {
    runner.start(rollout, settings, onEnd);
    const { id } = rollout;
    const outcome = (): RolloutRecord | null => {
      const record = store.rollout(id);
      return record?.phase === "ended" ? record : null;
    };
    return { id, ended: runner.ended(id).then(outcome) };
  }

  /** Of the policies of these rollouts: held until the last of them has ended. */
  async function holdPolicies(planned: readonly PlannedRollout[], { tokenMode }: StoredExperiment): Promise<() => void> {
    const leases: UpstreamLease[] = [];
    const release = (): void => {
      for (const lease of leases) lease.release().catch((error: unknown) => console.error(error));
    };
    try {
      for (const policy of new Set(planned.map((rollout) => rollout.policy))) {
        const lease = await upstreams.lease(policy);
        leases.push(lease);
        requireTokenMode(tokenMode, policy, lease.upstream);
      }
    } catch (error) {
      release();
      throw error;
    }
    let left = planned.length;
    return () => {
      left -= 1;
      if (left === 0) release();
    };
  }

  async function checked(planned: readonly PlannedRollout[], experiment: StoredExperiment) {
    const tasks = new Map<string, Task>();
    for (const path of new Set(planned.map((rollout) => rollout.taskPath))) tasks.set(path, soundTask(path, await checkTask(path)));
    const manifests = new Map<string, HarnessManifest>();
    for (const id of new Set(planned.map((rollout) => rollout.harness))) manifests.set(id, await harnesses.get(id));
    const provider = await choice.of(experiment.sandbox);
    return planned.map((rollout) => {
      const task = tasks.get(rollout.taskPath);
      const harness = manifests.get(rollout.harness);
      if (task === undefined || harness === undefined) throw new Error("a task or a harness was not read");
      const refusal = refusalOf(task, provider, [harness]);
      if (refusal !== null) throw refusal;
      return { ...rollout, task, harness };
    });
  }

  return {
    async openExperiment(experiment: OpenExperiment) {
      const provider = await choice.require(experiment.sandbox);
      const id = experimentId(store);
      const spec = JSON.stringify(openExperimentSchema.parse(experiment));
      store.createExperiment({ id, name: experiment.name, createdAt: Date.now(), endedAt: null, spec, status: "running", kind: "training" });
      store.appendEvent({ at: Date.now(), experimentId: id, rolloutId: null, type: "experiment.started", payload: JSON.stringify({ rollouts: 0 }) });
      if (!provider.isolates) logExperiment(store, id, notIsolated);
      return id;
    },
    async addRollouts(id, planned) {
      const { experiment } = required(id);
      const sound = await checked(planned, experiment);
      const onEnd = await holdPolicies(planned, experiment);
      const now = Date.now();
      const newId = idMaker(store);
      const rollouts = sound.map((rollout) => queuedRollout({ ...rollout, id: newId(), experimentId: id, sandbox: experiment.sandbox, now }));
      store.createRollouts(rollouts);
      return rollouts.map((rollout) => start(rollout, settingsOf(experiment), onEnd));
    },
    async resumeRollouts(id, rolloutIds) {
      const { experiment } = required(id);
      return rolloutIds.map((rolloutId): AddedRollout => {
        const rollout = store.rollout(rolloutId);
        if (rollout === null || rollout.experimentId !== id)
          throw new WorkbenchError("not-found", `The experiment ${id} has no rollout ${rolloutId}.`, "Add it again.");
        if (rollout.phase === "ended") return { id: rolloutId, ended: Promise.resolve(rollout) };
        return start(recordRestart(store, rollout), settingsOf(experiment), () => undefined);
      });
    },
    async cancelRollouts(ids) {
      const cancelled = await runner.cancel(ids);
      const left = ids.flatMap((id) => store.rollout(id) ?? []).filter((rollout) => rollout.phase !== "ended");
      for (const rollout of left) endCancelled(store, rollout, required(rollout.experimentId).experiment.rules);
      return cancelled + left.length;
    },
    async closeExperiment(id) {
      const { record, experiment } = required(id);
      const unfinished = (): readonly RolloutRecord[] => store.unfinishedRollouts().filter((rollout) => rollout.experimentId === id);
      await runner.cancel(unfinished().map((rollout) => rollout.id));
      for (const rollout of unfinished()) endCancelled(store, rollout, experiment.rules);
      const at = Date.now();
      store.updateExperiment(record.id, { status: "ended", endedAt: at });
      store.appendEvent({ at, experimentId: id, rolloutId: null, type: "experiment.ended", payload: JSON.stringify({ status: "ended" }) });
    },
  };
}

function settingsOf({ concurrency, rules, attempts, tokenMode, agentTimeoutSeconds }: StoredExperiment): RunSettings {
  return {
    concurrency,
    rules,
    attempts,
    tokenMode: tokenMode ?? null,
    keepWorkspace: false,
    agentTimeoutMs: agentTimeoutSeconds === undefined ? null : agentTimeoutSeconds * 1000,
  };
}
