/** A Harbor job folder, or one trial of it, as a recording. */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import type { RolloutPhase } from "../../../engine/outcome/index.ts";
import { readTrajectory } from "../atif/read-trajectory.ts";
import { type TurnTokens, trajectoryCalls } from "../atif/trajectory-calls.ts";
import type { ForeignCall, ForeignExperiment, ForeignFile, ForeignRollout } from "../contract.ts";
import { gradedOutcome, scalarReward } from "../graded-outcome.ts";
import { brokenFile, parseFile } from "../import-fault.ts";
import { moment } from "../moment.ts";
import { failureOf } from "./trial-failure.ts";
import { type AgentResult, jobResultSchema, type TrialResult, trialLockSchema, trialResultSchema } from "./trial-result.ts";

/** Larger files stay where they are. */
const fileLimitBytes = 16 * 1024 * 1024;

export async function readJob(folder: string): Promise<ForeignExperiment> {
  const path = join(folder, "result.json");
  const job = parseFile(jobResultSchema, await readFile(path, "utf8"), path);
  const trials = await trialFolders(folder);
  if (trials.length === 0) throw brokenFile(folder, "it is a job without a trial");
  return experiment("Harbor job", basename(folder), job.id, trials, [moment(job.started_at), moment(job.finished_at)]);
}

export async function readTrial(folder: string): Promise<ForeignExperiment> {
  const result = await trialResult(folder);
  return experiment("Harbor trial", result.trial_name, result.id, [folder], [moment(result.started_at), moment(result.finished_at)]);
}

function experiment(
  kind: string,
  name: string,
  identity: string,
  trials: readonly string[],
  [from, to]: readonly (number | null)[],
): ForeignExperiment {
  const notes: string[] = [];
  async function* rollouts(): AsyncGenerator<ForeignRollout> {
    for (const trial of trials) yield await trialRollout(trial, notes);
  }
  return { kind, name, identity, createdAt: from ?? 0, endedAt: to ?? null, rollouts: rollouts(), notes };
}

async function trialFolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
  const isTrial = await Promise.all(folders.map((path) => isFile(join(path, "result.json"))));
  return folders.filter((_path, at) => isTrial[at] === true).toSorted();
}

async function trialResult(folder: string): Promise<TrialResult> {
  const path = join(folder, "result.json");
  return parseFile(trialResultSchema, await readFile(path, "utf8"), path);
}

async function trialRollout(folder: string, notes: string[]): Promise<ForeignRollout> {
  const result = await trialResult(folder);
  const rewards = result.verifier_result?.rewards ?? null;
  const reward = scalarReward(rewards);
  if (rewards !== null && reward === null) notes.push(`${result.trial_name} has several rewards and none is called reward: it has no scalar.`);
  const exception = result.exception_info ?? result.step_results?.find((step) => step.exception_info != null)?.exception_info ?? null;
  const contexts = [result.agent_result, ...(result.step_results ?? []).map((step) => step.agent_result)];
  const calls = await callsOf(folder, result);
  const sum = (read: (given: NonNullable<AgentResult>) => number | null | undefined): number =>
    contexts.reduce((total, given) => total + (given == null ? 0 : (read(given) ?? 0)), 0);
  return {
    taskName: result.task_name,
    taskPath: result.task_id.path ?? result.task_id.name ?? "",
    taskDigest: await taskDigest(folder),
    harness: result.agent_info.name,
    harnessVersion: result.agent_info.version,
    policy: result.agent_info.model_info?.name ?? "unknown",
    sandbox: "docker",
    phases: phasesOf(result),
    reward,
    rewards,
    outcome: gradedOutcome(reward, rewards, exception === null ? null : failureOf(exception)),
    steps: stepsOf(result, calls),
    startedAt: moment(result.started_at),
    endedAt: moment(result.finished_at),
    promptTokens: sum((given) => given.n_input_tokens),
    completionTokens: sum((given) => given.n_output_tokens),
    calls,
    files: await filesOf(folder),
  };
}

/** `step`: null where the trial has none. */
type StepCall = ForeignCall & { readonly step: string | null };

/** The trajectory of the trial, or those of its steps one after another. */
async function callsOf(folder: string, result: TrialResult): Promise<readonly StepCall[]> {
  const from = moment(result.started_at) ?? 0;
  const steps = (result.step_results ?? []).map((step) => ({
    folder: join(folder, "steps", step.step_name),
    name: step.step_name,
    context: step.agent_result,
  }));
  const calls: StepCall[] = [];
  for (const { folder: place, name, context } of [{ folder, name: null, context: result.agent_result }, ...steps]) {
    const path = join(place, "agent", "trajectory.json");
    if (!(await isFile(path))) continue;
    const told = trajectoryCalls(readTrajectory(await readFile(path, "utf8"), path), path, from, turnsOf(context), name);
    calls.push(...told.map((call) => ({ ...call, step: name })));
  }
  return calls;
}

/** In the order in which they ran; each has the calls of its own trajectory. */
function stepsOf({ step_results: results }: TrialResult, calls: readonly StepCall[]): NonNullable<ForeignRollout["steps"]> {
  return (results ?? []).map(({ step_name: name, verifier_result, exception_info, agent_execution, verifier }) => {
    const rewards = verifier_result?.rewards ?? null;
    const reward = scalarReward(rewards);
    const failure = exception_info == null ? null : failureOf(exception_info);
    const { status, cause, detail } = gradedOutcome(reward ?? (rewards === null ? null : 0), rewards, failure);
    const own = calls.flatMap(({ step }, index) => (step === name ? [index] : []));
    return {
      ...{ name, reward, rewards, minReward: null, outcome: { status, cause, detail } },
      ...{ firstCall: own[0] ?? 0, calls: own.length, startedAt: moment(agent_execution?.started_at) },
      ...{ agentSeconds: secondsOf(agent_execution), verifierSeconds: secondsOf(verifier) },
    };
  });
}

function secondsOf(timing: TrialResult["verifier"]): number | null {
  const from = moment(timing?.started_at);
  const to = moment(timing?.finished_at);
  return from === null || to === null ? null : (to - from) / 1000;
}

/** Of the main line, which comes first by convention. */
function turnsOf(context: AgentResult): readonly TurnTokens[] {
  const main = context?.rollout_details?.[0];
  return (main?.prompt_token_ids ?? []).flatMap((prompt, at) => {
    const sampled = main?.completion_token_ids?.[at];
    return sampled === undefined ? [] : [{ prompt, sampled, logprobs: main?.logprobs?.[at] ?? null }];
  });
}

async function taskDigest(folder: string): Promise<string | null> {
  const path = join(folder, "lock.json");
  return (await isFile(path)) ? parseFile(trialLockSchema, await readFile(path, "utf8"), path).task.digest : null;
}

function phasesOf(result: TrialResult): ForeignRollout["phases"] {
  const parts: readonly (readonly [RolloutPhase, TrialResult["verifier"]])[] = [
    ["starting", result.environment_setup],
    ["setup", result.agent_setup],
    ["running", result.agent_execution],
    ["verifying", result.verifier],
  ];
  return parts.flatMap(([name, part]) => {
    const from = moment(part?.started_at);
    const to = moment(part?.finished_at);
    return from === null ? [] : [{ name, startedAt: from, seconds: to === null ? null : (to - from) / 1000 }];
  });
}

const folders = [
  ["agent", "harness-log"],
  ["verifier", "verifier-output"],
  ["artifacts", "artifact"],
] as const;

/** Logs, verifier output and artifacts; of a multi-step trial each under its step. */
async function filesOf(trial: string): Promise<readonly ForeignFile[]> {
  const files: ForeignFile[] = [];
  for (const place of [trial, ...(await subfolders(join(trial, "steps")))]) {
    const prefix = place === trial ? "" : `steps/${basename(place)}/`;
    for (const [folder, kind] of folders) {
      for (const path of await filesUnder(join(place, folder))) {
        const name = `${prefix}${relative(join(place, folder), path).split(sep).join("/")}`;
        if (name.endsWith("trajectory.json") || (kind === "artifact" && name.endsWith("manifest.json"))) continue;
        if ((await stat(path)).size <= fileLimitBytes) files.push({ kind, name, bytes: await readFile(path) });
      }
    }
  }
  return files;
}

async function subfolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(noneOfMissing);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
}

/** Links are not followed. */
async function filesUnder(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(noneOfMissing);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

function noneOfMissing(error: NodeJS.ErrnoException): never[] {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
  throw error;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true;
}
