/** One rollout as a Harbor trial: its folder's files and its result. */
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, normalize } from "node:path";
import type { RolloutPhase } from "../../../engine/outcome/index.ts";
import type { ArtifactRecord, ExperimentRecord, RolloutRecord, StepRecord, Store } from "../../store/index.ts";
import { mediaFiles } from "../atif/media-files.ts";
import { atifTrajectory } from "../atif/trajectory.ts";
import { agentResult, exceptionInfo, stepFailure, stepResult, wasRun } from "./agent-result.ts";
import { failureOf, type HarborFailure, isRewardValid } from "./exceptions.ts";
import { digestOf, jsonFile, moment, uuidOf } from "./written-values.ts";

export interface TrialPlan {
  readonly name: string;
  readonly rollout: RolloutRecord;
  readonly jobId: string;
  readonly jobName: string;
  /** Bare hex over the package's files. */
  readonly checksum: string;
}

/** What the job's totals are made of. */
export interface WrittenTrial {
  readonly name: string;
  readonly task: string;
  readonly evalKey: string;
  readonly rewards: Readonly<Record<string, number>> | null;
  readonly rewardValid: boolean;
  /** Its own, then those of its steps. */
  readonly failures: readonly HarborFailure[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly lock: object;
}

/** Writes `<folder>/<name>/…`; the folder is new. */
export async function writeTrial(store: Store, experiment: ExperimentRecord | null, plan: TrialPlan, folder: string): Promise<WrittenTrial> {
  const { rollout, name } = plan;
  const root = join(folder, name);
  const failure = failureOf(rollout.outcome);
  const failures = failuresOf(rollout);
  const rewards = rewardsOf(rollout);
  const rewardValid = isRewardValid(rewards === null ? null : rollout.reward, failures);
  const config = configOf(plan);
  const lock = lockOf(plan);
  const put = async (path: string, content: string | Uint8Array): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  };
  await put("config.json", jsonFile(config));
  await put("lock.json", jsonFile(lock));
  await put("result.json", jsonFile(resultOf(store, plan, { config, failure, rewards, rewardValid })));
  await put("trial.log", failure === null ? "" : `Trial ${name} failed: ${failure.message}\n`);
  if (failure !== null) await put("exception.txt", `${failure.type}: ${failure.message}\n`);
  const places = rollout.steps.length === 0 ? [{ folder: "", rewards, source: {} }] : rollout.steps.filter(wasRun).map(placeOfStep);
  for (const { folder: place, rewards: given, source } of places) {
    const media = mediaFiles(store, "images");
    const trajectory = atifTrajectory({ store, experiment, rollout, media, ...source });
    if (trajectory !== null) {
      await put(`${place}agent/trajectory.json`, jsonFile(trajectory));
      await media.write(join(root, place, "agent"));
    }
    await putArtifacts(store, rollout, place, given, put);
  }
  return {
    name,
    task: rollout.taskName,
    evalKey: `${rollout.harness}__${rollout.policy}__adhoc`,
    rewards,
    rewardValid,
    failures,
    inputTokens: rollout.promptTokens,
    outputTokens: rollout.completionTokens,
    lock,
  };
}

function failuresOf({ outcome, steps }: RolloutRecord): readonly HarborFailure[] {
  return [failureOf(outcome), ...steps.filter(wasRun).map(stepFailure)].filter((failure) => failure !== null);
}

function rewardsOf({ reward, rewards }: RolloutRecord): Readonly<Record<string, number>> | null {
  if (rewards !== null && Object.keys(rewards).length > 0) return rewards;
  return reward === null ? null : { reward };
}

type Put = (path: string, content: string | Uint8Array) => Promise<void>;

const placeOfStep = (step: StepRecord) => ({ folder: `steps/${step.name}/`, rewards: step.rewards, source: { step } });

/** Of the last attempt, those below `place`: `steps/NAME/`, or nothing. The reward file says what the result says. */
async function putArtifacts(
  store: Store,
  rollout: RolloutRecord,
  place: string,
  rewards: Readonly<Record<string, number>> | null,
  put: Put,
): Promise<void> {
  const all = store.artifactsOf(rollout.id);
  const last = Math.max(...all.map(({ attempt }) => attempt));
  const manifest: object[] = [];
  for (const { kind, name, blob } of all.filter((artifact) => artifact.attempt === last && artifact.name.startsWith(place))) {
    const bytes = store.blobs.get(blob);
    const own = name.slice(place.length);
    const path = placeOf(kind, own);
    if (bytes === null || path === null || (rewards !== null && /^verifier\/reward\.(?:json|txt)$/.test(path))) continue;
    await put(`${place}${path}`, bytes);
    if (kind === "artifact") manifest.push({ source: `/${own}`, destination: path, type: "file", status: "ok", service: null, exclude: null });
  }
  if (rewards !== null) await put(`${place}verifier/reward.json`, `${JSON.stringify(rewards)}\n`);
  await put(`${place}artifacts/manifest.json`, jsonFile(manifest));
}

const folders = { "harness-log": "agent", "sandbox-log": "agent", "verifier-output": "verifier", artifact: "artifacts", workspace: null } as const;

/** Null for a name that leads out of its folder, and for what Harbor has no place for. */
function placeOf(kind: ArtifactRecord["kind"], name: string): string | null {
  const inside = normalize(name);
  const folder = folders[kind];
  if (folder === null || inside.startsWith("..") || inside.startsWith("/")) return null;
  const place = `${folder}/${inside}`;
  // The trajectory is ours; a harness's own file of that name stands beside it.
  return place === "agent/trajectory.json" ? "agent/harness-trajectory.json" : place;
}

function taskConfig({ rollout }: TrialPlan) {
  return {
    path: rollout.taskPath || rollout.taskName,
    git_url: null,
    git_commit_id: null,
    name: null,
    ref: null,
    overwrite: false,
    download_dir: null,
    source: null,
  };
}

function agentConfig({ rollout }: TrialPlan) {
  return {
    name: rollout.harness,
    model_name: rollout.policy,
    skip_model_parsing: true,
    kwargs: { seed: rollout.seed, policy_version: rollout.policyVersion },
  };
}

/** Harbor knows no sandbox of ours but Docker: the kind stands under kwargs. */
function environmentConfig({ rollout }: TrialPlan) {
  return { type: "docker", kwargs: { openforge_sandbox: rollout.sandbox } };
}

function configOf(plan: TrialPlan) {
  return {
    schema_version: 1,
    task: taskConfig(plan),
    trial_name: plan.name,
    trials_dir: plan.jobName,
    agent: agentConfig(plan),
    environment: environmentConfig(plan),
    verifier: { override_timeout_sec: null, max_timeout_sec: null, disable: false },
    job_id: plan.jobId,
  };
}

function lockOf(plan: TrialPlan) {
  const { rollout } = plan;
  return {
    schema_version: 2,
    task: {
      name: basename(rollout.taskPath) || rollout.taskName,
      type: "local",
      digest: digestOf(rollout.taskDigest),
      path: rollout.taskPath || rollout.taskName,
    },
    agent: agentConfig(plan),
    environment: environmentConfig(plan),
    verifier: { disable: false, environment_mode: "shared" },
  };
}

interface Judged extends Pick<WrittenTrial, "rewards" | "rewardValid"> {
  readonly config: object;
  /** The trial's own. */
  readonly failure: HarborFailure | null;
}

function resultOf(store: Store, plan: TrialPlan, { config, failure, rewards, rewardValid }: Judged) {
  const { rollout, name } = plan;
  return {
    schema_version: 1,
    id: uuidOf(rollout.id),
    task_name: rollout.taskName,
    trial_name: name,
    trial_uri: `openforge://rollout/${rollout.id}`,
    task_id: { path: rollout.taskPath || rollout.taskName },
    source: null,
    task_checksum: plan.checksum,
    config,
    agent_info: { name: rollout.harness, version: rollout.harnessVersion, model_info: { name: rollout.policy, provider: null } },
    // Of several steps each has its own.
    agent_result: rollout.steps.length > 0 ? null : agentResult(store, rollout),
    verifier_result: rewards === null ? null : { rewards },
    verifier_environment_mode: "shared",
    exception_info: failure === null ? null : exceptionInfo(failure, rollout.endedAt ?? rollout.createdAt),
    started_at: moment(rollout.startedAt ?? rollout.createdAt),
    finished_at: rollout.endedAt === null ? null : moment(rollout.endedAt),
    environment_setup: span(rollout, ["preparing", "starting"]),
    agent_setup: span(rollout, ["setup"]),
    agent_execution: rollout.steps.length > 0 ? null : span(rollout, ["running", "stopping"]),
    verifier: rollout.steps.length > 0 ? null : span(rollout, ["verifying"]),
    step_results: rollout.steps.length === 0 ? null : rollout.steps.filter(wasRun).map((step) => stepResult(store, rollout, step)),
    reward_valid: rewardValid,
  };
}

/** From the start of the first of these phases to the end of the last; null when none was reached. */
function span({ phases }: RolloutRecord, names: readonly RolloutPhase[]) {
  const reached = phases.filter(({ name }) => names.includes(name));
  const first = reached[0];
  const last = reached.at(-1);
  if (first === undefined || last === undefined) return null;
  return { started_at: moment(first.startedAt), finished_at: last.seconds === null ? null : moment(last.startedAt + last.seconds * 1000) };
}
