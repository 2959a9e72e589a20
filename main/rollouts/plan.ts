/** From an experiment as a person wrote it to the records of its rollouts. */
import { randomBytes } from "node:crypto";
import { deriveSeed } from "../../engine/statistics/index.ts";
import type { ExperimentSpec } from "../api/experiment-views.ts";
import { WorkbenchError } from "../errors.ts";
import type { HarnessManifest } from "../harnesses/index.ts";
import type { RolloutRecord, Store } from "../store/index.ts";
import type { Task } from "../tasks/index.ts";

/** More would hold the service up for minutes while they are written. */
const rolloutLimit = 20_000;

export interface PlannedExperiment {
  readonly spec: ExperimentSpec;
  readonly tasks: readonly Task[];
  readonly harnesses: readonly HarnessManifest[];
}

/**
 * Tasks × harnesses × policies × k. A rollout's seed depends on the experiment's seed, its task and its number in the group, and on
 * nothing else: so harnesses and policies are compared on equal seeds.
 */
export function planRollouts(
  { spec, tasks, harnesses }: PlannedExperiment,
  experimentId: string,
  now: number,
  newId: () => string,
): readonly RolloutRecord[] {
  const wanted = tasks.length * harnesses.length * new Set(spec.policies).size * spec.k;
  if (wanted > rolloutLimit)
    throw new WorkbenchError(
      "usage",
      `The experiment would have ${wanted} rollouts; at most ${rolloutLimit} are possible.`,
      "Lower k, or split it into several experiments.",
    );
  const records: RolloutRecord[] = [];
  for (const task of tasks) {
    for (const harness of harnesses) {
      for (const policy of new Set(spec.policies)) {
        for (let groupIndex = 0; groupIndex < spec.k; groupIndex++) {
          const seed = deriveSeed(spec.seed, task.name, groupIndex);
          records.push(queuedRollout({ id: newId(), experimentId, task, harness, policy, sandbox: spec.sandbox, groupIndex, seed, labels: {}, now }));
        }
      }
    }
  }
  return records;
}

export interface NewRollout extends Pick<RolloutRecord, "id" | "experimentId" | "policy" | "sandbox" | "groupIndex" | "seed" | "labels"> {
  readonly task: Task;
  readonly harness: HarnessManifest;
  readonly now: number;
}

/** The record of a rollout that nobody has touched yet. */
export function queuedRollout({ id, experimentId, task, harness, policy, sandbox, groupIndex, seed, labels, now }: NewRollout): RolloutRecord {
  return {
    ...untouched,
    ...{ id, experimentId, policy, sandbox, groupIndex, seed, labels },
    taskName: task.name,
    taskDigest: task.digest,
    taskPath: task.path,
    harness: harness.id,
    harnessVersion: harness.version,
    phases: [{ name: "queued", startedAt: now, seconds: null }],
    createdAt: now,
  };
}

const untouched = {
  policyVersion: null,
  phase: "queued",
  outcome: null,
  reward: null,
  rewards: null,
  attempts: 0,
  isolation: null,
  fingerprint: null,
  calls: 0,
  chains: 0,
  promptTokens: 0,
  completionTokens: 0,
  trainable: null,
  trainableReason: null,
  policyWaitSeconds: null,
  steps: [],
  startedAt: null,
  endedAt: null,
} as const satisfies Partial<RolloutRecord>;

/** Ids that a person can read out: `r-8c2b1f04`. Never one that the store knows, nor twice the same. */
export function idMaker(store: Store): () => string {
  const given = new Set<string>();
  return () => {
    for (;;) {
      const id = `r-${randomBytes(4).toString("hex")}`;
      if (given.has(id) || store.rollout(id) !== null) continue;
      given.add(id);
      return id;
    }
  };
}

/** A line of the experiment's log. */
export function logExperiment(store: Store, id: string, line: string): void {
  store.appendEvent({ at: Date.now(), experimentId: id, rolloutId: null, type: "log", payload: JSON.stringify({ line }) });
}

export function experimentId(store: Store): string {
  for (;;) {
    const id = `e-${randomBytes(3).toString("hex")}`;
    if (store.experiment(id) === null) return id;
  }
}
