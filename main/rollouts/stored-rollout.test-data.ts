/** A rollout in a store, for tests. */
import type { RolloutRecord, Store } from "../store/index.ts";

/** Puts an experiment with one queued rollout into the store. */
export function storedRollout(store: Store, change: Partial<RolloutRecord> = {}): RolloutRecord {
  const experimentId = "e-test";
  store.createExperiment({ id: experimentId, name: "test", createdAt: 1, endedAt: null, spec: "{}", status: "running", kind: "experiment" });
  const rollout: RolloutRecord = {
    id: "r-test",
    experimentId,
    taskName: "org/task",
    taskDigest: "sha256:0",
    taskPath: "/tasks/task",
    harness: "react",
    harnessVersion: "1.0.0",
    policy: "scripted",
    policyVersion: null,
    sandbox: "local",
    groupIndex: 0,
    seed: 1,
    phase: "queued",
    outcome: null,
    reward: null,
    rewards: null,
    attempts: 0,
    phases: [],
    isolation: null,
    fingerprint: null,
    calls: 0,
    chains: 0,
    promptTokens: 0,
    completionTokens: 0,
    trainable: null,
    trainableReason: null,
    labels: {},
    policyWaitSeconds: null,
    steps: [],
    createdAt: 1,
    startedAt: null,
    endedAt: null,
    ...change,
  };
  store.createRollouts([rollout]);
  return rollout;
}
