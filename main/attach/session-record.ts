/** Records of attached sessions: rollouts without task, verifier and sandbox. */
import type { RolloutRecord } from "../store/index.ts";

export interface NewSession {
  readonly id: string;
  readonly experimentId: string;
  readonly name: string;
  /** As it names itself. */
  readonly client: string;
  readonly policy: string;
  readonly index: number;
  readonly now: number;
}

const purpose = "attach";

export function isSession({ labels }: Pick<RolloutRecord, "labels">): boolean {
  return labels.purpose === purpose;
}

const isolation = {
  files: "none: a program of this machine, outside any sandbox",
  network: "none",
  processes: "none",
  limits: "none",
} as const;

export function sessionRecord({ id, experimentId, name, client, policy, index, now }: NewSession): RolloutRecord {
  const [program = "", version = ""] = client.split(/[ (]/, 1)[0]?.split("/", 2) ?? [];
  return {
    ...{ id, experimentId, policy, isolation },
    taskName: `attach/${name}`,
    taskDigest: "",
    taskPath: "",
    harness: program === "" ? "unknown" : program.slice(0, 60),
    harnessVersion: version.slice(0, 40),
    policyVersion: null,
    sandbox: "local",
    groupIndex: index,
    seed: 0,
    phase: "running",
    outcome: null,
    reward: null,
    rewards: null,
    attempts: 1,
    phases: [{ name: "running", startedAt: now, seconds: null }],
    fingerprint: null,
    calls: 0,
    chains: 0,
    promptTokens: 0,
    completionTokens: 0,
    trainable: null,
    trainableReason: null,
    labels: { purpose },
    policyWaitSeconds: null,
    steps: [],
    createdAt: now,
    startedAt: now,
    endedAt: null,
  };
}
