/** Invented experiments for looking at the window: every outcome, phase and mark once, and as many rows as asked for. Deterministic. */

import { rolloutPhases } from "../../../engine/outcome/index.ts";
import type { CallView } from "../../../main/api/call-views.ts";
import type { ExperimentView } from "../../../main/api/experiment-views.ts";
import type { RolloutView } from "../../../main/api/rollout-views.ts";

export const now = Date.UTC(2026, 10, 30, 9, 30, 0);

/** A small repeatable random source (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const tasks = ["sqlite-wal-recover", "csv-dedupe-stable", "ledger-balance", "tz-offset-report", "git-bisect-flaky", "log-rotate-window"];
type Ending = Pick<RolloutView, "status" | "cause" | "reward" | "trainable" | "trainableReason"> & { readonly detail?: string };
const endings: readonly Ending[] = [
  { status: "failed", cause: null, reward: 0, trainable: true, trainableReason: null, detail: "The verifier ran 2 checks; 1 failed." },
  { status: "succeeded", cause: null, reward: 1, trainable: true, trainableReason: null },
  {
    status: "environment-failure",
    cause: "image-pull",
    reward: null,
    trainable: false,
    trainableReason: "infrastructure",
    detail: "The image alpine:3 is not here and the registry does not answer. Run `openforge images prepare`.",
  },
  { status: "agent-timeout", cause: null, reward: 0, trainable: true, trainableReason: null },
  { status: "succeeded", cause: null, reward: 1, trainable: false, trainableReason: "group without variance" },
  { status: "failed", cause: null, reward: 0.5, trainable: false, trainableReason: "truncated" },
  { status: "harness-failure", cause: "zero-calls-captured", reward: null, trainable: false, trainableReason: "empty mask" },
  { status: "cancelled", cause: null, reward: null, trainable: false, trainableReason: "cancelled" },
  { status: "failed", cause: "tool-misuse", reward: 0, trainable: true, trainableReason: null },
  { status: "verifier-failure", cause: "reward-malformed", reward: null, trainable: false, trainableReason: "infrastructure" },
  { status: "network-failure", cause: "upstream-5xx", reward: null, trainable: false, trainableReason: "infrastructure" },
  { status: "interrupted-for-safety", cause: "secret-seen", reward: null, trainable: false, trainableReason: "secret seen" },
  { status: "succeeded", cause: null, reward: 1, trainable: false, trainableReason: "no token ids" },
];

function phasesOf(startedAt: number, total: number, until: RolloutView["phase"]): RolloutView["phases"] {
  const shares: Partial<Record<RolloutView["phase"], number>> = {
    preparing: 0.02,
    starting: 0.01,
    setup: 0.01,
    running: 0.9,
    stopping: 0.01,
    collecting: 0.01,
    verifying: 0.04,
  };
  const phases: RolloutView["phases"] = [];
  let at = startedAt;
  for (const name of rolloutPhases) {
    const seconds = (shares[name] ?? 0) * total;
    if (name === until && name !== "ended") return [...phases, { name, startedAt: at, seconds: null }];
    phases.push({ name, startedAt: at, seconds });
    at += seconds * 1000;
  }
  return phases;
}

const isolation = {
  files: "own mount namespace, read-only root",
  network: "none; the proxy by a unix socket",
  processes: "own PID namespace",
  limits: "prlimit: memory 2 GB, 256 processes",
};
const fingerprint = {
  "image digest": "sha256:9f2c71e0aa3d",
  node: "20.20.2",
  harness: "react 1.0.0",
  locale: "C.UTF-8",
  "task assets": "sha256:3f9a1c7be0d2",
};

export function sampleRollout(experiment: string, index: number, startedAt: number, phase: RolloutView["phase"] = "ended"): RolloutView {
  const random = randomFrom(index + 17);
  const ended = phase === "ended";
  const ending: Ending = ended
    ? (endings[index % endings.length] as Ending)
    : { status: null, cause: null, reward: null, trainable: null, trainableReason: null };
  const infrastructure = ending.status?.endsWith("-failure") === true;
  const calls =
    phase === "queued" || phase === "preparing" || ending.cause === "zero-calls-captured" || ending.cause === "image-pull"
      ? 0
      : 4 + Math.floor(random() * 24);
  const total = infrastructure ? 20 + random() * 20 : 60 + random() * 700;
  const harness = index % 3 === 1 ? "codex" : "react";
  return {
    id: `r-${(0x8c41 - index).toString(16)}`,
    experiment,
    task: tasks[Math.floor(index / 2) % tasks.length] as string,
    taskPath: `/opt/openforge/resources/tasks/${tasks[Math.floor(index / 2) % tasks.length]}`,
    taskDigest: "sha256:3f9a1c",
    harness,
    harnessVersion: harness === "codex" ? "0.171.0" : "1.0.0",
    policy: "qwen3-4b-forge",
    policyVersion: "v120",
    sandbox: index % 2 === 0 ? "local" : "docker",
    groupIndex: index % 8,
    seed: index,
    phase,
    status: ending.status,
    cause: ending.cause,
    action: ended ? (infrastructure ? "mask" : ending.status === "cancelled" ? "discard" : "train") : null,
    detail: ending.detail ?? null,
    reward: ending.reward,
    rewards: ending.reward === null ? null : { reward: ending.reward },
    attempts: infrastructure ? 3 : 1,
    phases: phase === "queued" ? [{ name: "queued", startedAt, seconds: null }] : phasesOf(startedAt, total, phase),
    isolation: phase === "queued" ? null : isolation,
    fingerprint: ended ? fingerprint : null,
    calls,
    chains: calls === 0 ? 0 : 1 + (index % 5 === 0 ? 1 : 0),
    trainable: ending.trainable,
    trainableReason: ending.trainableReason,
    promptTokens: calls === 0 ? 0 : calls * 2900 + Math.floor(random() * 2000),
    completionTokens: calls * 61,
    seconds: phase === "queued" ? null : ended ? total : 40 + random() * 200,
    policyWaitSeconds: ended ? 0.4 : null,
    steps: [],
    labels: {},
    createdAt: startedAt - index,
  };
}

const commandsOfAgent = [
  "ls -la data; file data/*",
  "cat data/README",
  "sqlite3 data/app.db .tables",
  "cp -r data /tmp/work",
  "xxd data/app.db-wal | head",
  "python3 wal.py",
  "sqlite3 /tmp/work/app.db .recover > out.sql; wc -l out.sql; sed -n 1,400p out.sql",
  "grep -c INSERT out.sql",
];

export function sampleCalls(rollout: RolloutView): CallView[] {
  const random = randomFrom(rollout.seed + 99);
  return Array.from({ length: rollout.calls }, (_, index): CallView => {
    const last = index === rollout.calls - 1 && rollout.status !== null;
    const failed = index === 6 && rollout.calls > 8;
    return {
      id: `${rollout.id}-c${index}`,
      rollout: rollout.id,
      attempt: 0,
      index,
      dialect: rollout.harness === "codex" ? "responses" : "chat",
      method: "POST",
      path: rollout.harness === "codex" ? "/v1/responses" : "/v1/chat/completions",
      status: failed ? "error" : "ok",
      httpStatus: failed ? 429 : 200,
      chain: failed ? null : rollout.chains > 1 && index > 8 ? 1 : 0,
      promptTokens: 3118 + index * 1090,
      completionTokens: failed ? 0 : 40 + Math.floor(random() * 170),
      capture: "ids+logprobs",
      aborted: false,
      late: false,
      retries: index === 4 ? 1 : 0,
      replays: 0,
      quarantined: null,
      breakCause: rollout.chains > 1 && index === 9 ? "subagent" : null,
      side: null,
      startedAt: rollout.createdAt + index * 9000,
      seconds: 1.3 + random() * 6,
      model: "qwen3-4b-forge",
      stream: true,
      tokenMode: "as-sampled",
      finishReason: failed ? null : index === 8 ? "length" : last ? "stop" : "tool-calls",
      unparsedToolCall: false,
      session: {},
      summary: failed
        ? "The policy endpoint answered 429 and the retry budget was used up."
        : last
          ? "The table could not be recovered: the dump was cut."
          : `bash ${JSON.stringify({ command: commandsOfAgent[index % commandsOfAgent.length] })}`,
      error: failed ? "The policy endpoint answered 429 and the retry budget was used up." : null,
    };
  });
}

export function sampleExperiment(
  id: string,
  name: string,
  createdAt: number,
  status: ExperimentView["status"],
  rollouts: readonly RolloutView[],
): ExperimentView {
  const outcomes: Record<string, number> = {};
  for (const rollout of rollouts) {
    const key = rollout.status ?? (rollout.phase === "queued" ? "queued" : "running");
    outcomes[key] = (outcomes[key] ?? 0) + 1;
  }
  const rewards = rollouts.flatMap((rollout) => (rollout.reward === null ? [] : [rollout.reward]));
  const mean = rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const sum = (value: (rollout: RolloutView) => number): number => rollouts.reduce((total, rollout) => total + value(rollout), 0);
  return {
    id,
    name,
    createdAt,
    endedAt: status === "running" ? null : createdAt + 2_900_000,
    status,
    kind: "experiment",
    spec: `name: ${name}\ntasks: [starter]\nharnesses: [react, codex]\npolicies: [qwen3-4b-forge]\nk: 8\nsandbox: local\nconcurrency: 4\nseed: 0\n`,
    total: rollouts.length,
    ended: rollouts.filter((rollout) => rollout.status !== null).length,
    outcomes,
    calls: sum((rollout) => rollout.calls),
    chains: sum((rollout) => rollout.chains),
    tokens: sum((rollout) => rollout.promptTokens + rollout.completionTokens),
    harnesses: [...new Set(rollouts.map((rollout) => rollout.harness))],
    policies: [...new Set(rollouts.map((rollout) => rollout.policy))],
    reward: { n: rewards.length, mean, low: mean === null ? null : mean - 0.06, high: mean === null ? null : mean + 0.06 },
  };
}
