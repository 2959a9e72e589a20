/** An experiment as a Harbor job folder: `config.json`, `lock.json`, `result.json`, `job.log` and a folder a trial. */
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { passOverTasks } from "../../../engine/statistics/index.ts";
import type { ExperimentRecord, RolloutRecord, Store } from "../../store/index.ts";
import { recordedTask } from "../../tasks/index.ts";
import { type WrittenTrial, writeTrial } from "./trial.ts";
import { digestOf, jsonFile, localMoment, moment, uuidOf } from "./written-values.ts";

export interface JobSource {
  readonly store: Store;
  readonly experiment: ExperimentRecord | null;
  readonly rollouts: readonly RolloutRecord[];
  /** Last part of the folder's path when it is in place. */
  readonly name: string;
  report(line: string): void;
  readonly signal: AbortSignal;
}

/** Resolves with the number of trials. `folder` does not exist yet. */
export async function writeJob(source: JobSource, folder: string): Promise<number> {
  const { store, experiment, rollouts, name } = source;
  await mkdir(folder);
  const jobId = uuidOf(experiment?.id ?? rollouts[0]?.id ?? name);
  const names = trialNames(rollouts);
  const checksums = await checksumsOf(rollouts);
  const trials: WrittenTrial[] = [];
  for (const [index, rollout] of rollouts.entries()) {
    source.signal.throwIfAborted();
    const plan = { name: names[index] ?? rollout.id, rollout, jobId, jobName: name, checksum: checksums.get(rollout.taskDigest) ?? "" };
    trials.push(await writeTrial(store, experiment, plan, folder));
    source.report(`${index + 1} of ${rollouts.length} trials`);
  }
  const started = experiment?.createdAt ?? Math.min(...rollouts.map(({ createdAt }) => createdAt));
  const finished = Math.max(...rollouts.map(({ endedAt, createdAt }) => endedAt ?? createdAt));
  await writeFile(join(folder, "config.json"), jsonFile(configOf(name, rollouts)));
  await writeFile(join(folder, "lock.json"), jsonFile(lockOf(trials, started)));
  await writeFile(join(folder, "result.json"), jsonFile(resultOf(jobId, trials, started, finished)));
  await writeFile(join(folder, "job.log"), trials.map((trial) => `${trial.name} ${trial.failures[0]?.type ?? "graded"}\n`).join(""));
  return trials.length;
}

/** `<task's folder, 32 characters at most>__<7 characters>`, each once. */
function trialNames(rollouts: readonly RolloutRecord[]): readonly string[] {
  const given = new Set<string>();
  return rollouts.map(({ id, taskPath, taskName }) => {
    const stem = basename(taskPath || taskName)
      .replaceAll(/[^\w.-]/g, "-")
      .slice(0, 32)
      .replace(/[_-]+$/, "");
    for (let turn = 0; ; turn++) {
      const name = `${stem}__${createHash("sha256").update(`${id} ${turn}`).digest("hex").slice(0, 7)}`;
      if (given.has(name)) continue;
      given.add(name);
      return name;
    }
  });
}

/** By digest. A package that is gone or has changed has no checksum any more: its digest stands in. */
async function checksumsOf(rollouts: readonly RolloutRecord[]): Promise<ReadonlyMap<string, string>> {
  const checksums = new Map<string, string>();
  for (const { taskDigest, taskPath } of rollouts) {
    if (checksums.has(taskDigest)) continue;
    checksums.set(taskDigest, (await recordedTask(taskPath, taskDigest))?.checksum ?? digestOf(taskDigest).replace("sha256:", ""));
  }
  return checksums;
}

function configOf(name: string, rollouts: readonly RolloutRecord[]) {
  const agents = new Map(
    rollouts.map(({ harness, policy }) => [JSON.stringify([harness, policy]), { name: harness, model_name: policy, skip_model_parsing: true }]),
  );
  return {
    schema_version: 1,
    job_name: name,
    jobs_dir: "jobs",
    n_attempts: Math.max(1, ...rollouts.map(({ groupIndex }) => groupIndex + 1)),
    n_concurrent_trials: 1,
    environment: { type: "docker" },
    agents: [...agents.values()],
    tasks: [...new Set(rollouts.map(({ taskPath, taskName }) => taskPath || taskName))].map((path) => ({ path })),
  };
}

function lockOf(trials: readonly WrittenTrial[], createdAt: number) {
  return {
    schema_version: 3,
    created_at: moment(createdAt),
    harbor: { version: null, is_editable: false },
    n_concurrent_trials: 1,
    retry: { max_retries: 0 },
    trials: trials.map(({ lock }) => lock),
  };
}

function resultOf(jobId: string, trials: readonly WrittenTrial[], started: number, finished: number) {
  const errored = trials.filter(({ failures }) => failures.length > 0);
  const sum = (read: (trial: WrittenTrial) => number): number => trials.reduce((total, trial) => total + read(trial), 0);
  const keys = [...new Set(trials.map(({ evalKey }) => evalKey))];
  return {
    schema_version: 1,
    id: jobId,
    started_at: localMoment(started),
    updated_at: localMoment(finished),
    finished_at: localMoment(finished),
    n_total_trials: trials.length,
    stats: {
      n_completed_trials: trials.length,
      n_errored_trials: errored.length,
      n_running_trials: 0,
      n_pending_trials: 0,
      n_cancelled_trials: errored.filter(({ failures }) => failures.some(({ type }) => type === "CancelledError")).length,
      n_retries: 0,
      evals: Object.fromEntries(keys.map((key) => [key, evalStats(trials.filter(({ evalKey }) => evalKey === key))])),
      n_input_tokens: sum(({ inputTokens }) => inputTokens),
      n_cache_tokens: null,
      n_output_tokens: sum(({ outputTokens }) => outputTokens),
      cost_usd: null,
    },
  };
}

function evalStats(trials: readonly WrittenTrial[]) {
  const graded = trials.filter(({ rewardValid }) => rewardValid);
  const names = [...new Set(graded.flatMap(({ rewards }) => Object.keys(rewards ?? {})))];
  const rewardStats = names.map((name) => [
    name,
    trialsBy(graded, ({ rewards }) => (rewards?.[name] === undefined ? [] : [pythonNumber(rewards[name])])),
  ]);
  return {
    n_trials: graded.length,
    n_errors: trials.filter(({ failures }) => failures.length > 0).length,
    metrics: graded.length === 0 ? [] : [meanRewards(graded)],
    pass_at_k: passAtK(graded),
    reward_stats: Object.fromEntries(rewardStats),
    exception_stats: trialsBy(trials, ({ failures }) => failures.map(({ type }) => type)),
  };
}

/** Names of trials by their keys, each once; those without one are left out. */
function trialsBy(trials: readonly WrittenTrial[], keysOf: (trial: WrittenTrial) => readonly string[]): Readonly<Record<string, readonly string[]>> {
  const groups = new Map<string, string[]>();
  for (const trial of trials) {
    for (const key of new Set(keysOf(trial))) groups.set(key, [...(groups.get(key) ?? []), trial.name]);
  }
  return Object.fromEntries(groups);
}

/** A key of a table of floats: 1 is written 1.0. */
function pythonNumber(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** `mean` for the one reward there is, else the mean of each by its name. */
function meanRewards(graded: readonly WrittenTrial[]): Readonly<Record<string, number>> {
  const names = [...new Set(graded.flatMap(({ rewards }) => Object.keys(rewards ?? {})))];
  const mean = (name: string): number => graded.reduce((sum, { rewards }) => sum + (rewards?.[name] ?? 0), 0) / graded.length;
  return names.length === 1 ? { mean: mean(names[0] ?? "") } : Object.fromEntries(names.map((name) => [name, mean(name)]));
}

/** For k of 2, 4, 8 … and 5, 10 …, when every trial has one reward of 0 or 1. */
function passAtK(graded: readonly WrittenTrial[]): Readonly<Record<string, number>> {
  const values = graded.map(({ task, rewards }) => ({ task, values: Object.values(rewards ?? {}) }));
  if (values.length === 0 || values.some(({ values: given }) => given.length !== 1 || (given[0] !== 0 && given[0] !== 1))) return {};
  const tasks = [...new Set(values.map(({ task }) => task))].map((task) => {
    const own = values.filter((value) => value.task === task);
    return { task, n: own.length, successes: own.filter(({ values: given }) => given[0] === 1).length };
  });
  const most = Math.min(...tasks.map(({ n }) => n));
  const ks = [...Array(most + 1).keys()].filter((k) => k >= 2 && (Math.log2(k) % 1 === 0 || k % 5 === 0));
  return Object.fromEntries(ks.map((k) => [k, passOverTasks(tasks, k, "any").mean ?? 0]));
}
