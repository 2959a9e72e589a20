/** Grades one stored rollout with the verifier of a task package as it is now, in fresh boxes. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { WorkbenchError } from "../../errors.ts";
import { insidePaths, type Sandbox, type SandboxProvider } from "../../sandboxes/index.ts";
import type { ArtifactRecord, GradeRecord, RolloutRecord, StepRecord, Store } from "../../store/index.ts";
import { carriedArtifacts, mainService, runsOf, sandboxRequest, type Task, type TaskStep } from "../../tasks/index.ts";
import { gradeOfSteps, runVerifier, stepsEndAfter, type VerifierResult, verifierDigest } from "../../verifiers/index.ts";
import { workspaceName } from "../collect.ts";
import { workspaceLoss } from "../log-line.ts";
import { refusalOf } from "../preflight.ts";
import { restoreWorkspace } from "./workspace.ts";

interface RegradeOptions {
  readonly store: Store;
  readonly provider: SandboxProvider;
  readonly ownerId: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** What is left of one run of an agent: its kept state, or its declared artifacts. */
type Kept = { readonly source: "workspace"; readonly packed: Uint8Array } | { readonly source: "artifacts"; readonly files: readonly KeptFile[] };
interface KeptFile {
  readonly inside: string;
  readonly bytes: Uint8Array;
}

/** The grade, not yet stored; a WorkbenchError says why there can be none. */
export async function regradeRollout(rollout: RolloutRecord, task: Task, options: RegradeOptions): Promise<GradeRecord> {
  const { store, provider } = options;
  const refusal = refusalOf(task, provider, []);
  if (refusal !== null) throw refusal;
  const attempt = Math.max(0, rollout.attempts - 1);
  const artifacts = store.artifactsOf(rollout.id).filter((artifact) => artifact.attempt === attempt);
  const startedAt = Date.now();
  const verdicts: VerifierResult[] = [];
  const sources = new Set<Kept["source"]>();
  const runs = runsOf(task);
  for (const [index, { step, part }] of runs.entries()) {
    if (!part.verifier.separate) refuseLostState(rollout);
    const kept = keptOf(store, artifacts, part, step, workdirOf(rollout, task));
    if (typeof kept === "string") {
      if (index === 0) throw notKept(kept, workspaceLoss(store, rollout.id, attempt, step?.name ?? null));
      // The old verifier ended the steps here: what the agent would have done is not known.
      break;
    }
    sources.add(kept.source);
    verdicts.push(await gradeKept(rollout, { step, part }, kept, options));
    const last = verdicts.at(-1);
    if (last === undefined || (step !== null && stepsEndAfter(task, index, last) !== null)) break;
  }
  const verdict = task.steps.length > 0 ? gradeOfSteps(task, verdicts) : verdicts[0];
  if (verdict === undefined) throw new Error("a regrade gave no verdict");
  const { status, cause, detail, reward, rewards } = verdict;
  return {
    ...{ rolloutId: rollout.id, attempt, at: Date.now(), status, cause, detail, reward, rewards },
    steps: stepRecords(rollout, task, verdicts),
    seconds: (Date.now() - startedAt) / 1000,
    source: sources.has("artifacts") ? "artifacts" : "workspace",
    ...{ taskPath: task.path, taskDigest: task.digest, verifierDigest: await verifierDigest(task) },
  };
}

/** A service starts anew without what it held in memory or elsewhere; a verifier beside it would take that for the agent's doing. */
function refuseLostState({ fingerprint }: RolloutRecord): void {
  const services = Object.keys(fingerprint ?? {}).flatMap((key) => (key.startsWith("service ") ? [key.slice("service ".length)] : []));
  const held = [...services, ...(fingerprint?.program === undefined ? [] : ["what its image starts"])];
  if (held.length === 0) return;
  throw new WorkbenchError(
    "store",
    `What its services held (${held.join(", ")}) was not kept, and its verifier could ask them.`,
    "Give the verifier a sandbox of its own, with the artifacts that it looks at, and run it again.",
  );
}

/** `told`: why its workspace was not kept although it should have been. */
function notKept(sentence: string, told: string | null): WorkbenchError {
  if (told === null) return new WorkbenchError("store", sentence, "Run it again with --keep-workspace.");
  return new WorkbenchError("store", told, "Give the verifier a sandbox of its own, with the artifacts that it looks at, and run it again.");
}

/** Where its agent worked. Records of older versions do not say it; then it was where the package says. */
function workdirOf({ fingerprint }: RolloutRecord, { environment }: Task): string {
  return fingerprint?.workdir ?? environment.workdir ?? environment.imageWorkdir ?? insidePaths.work;
}

/** Why nothing was kept, as a sentence, or what was. */
function keptOf(store: Store, artifacts: readonly ArtifactRecord[], part: Task, step: TaskStep | null, workdir: string): Kept | string {
  const workspace = artifacts.find(({ kind, name }) => kind === "workspace" && name === workspaceName(step?.name ?? null));
  const packed = workspace === undefined ? null : store.blobs.get(workspace.blob);
  if (packed !== null) return { source: "workspace", packed };
  const of = step === null ? "" : ` of the step ${step.name}`;
  if (!part.verifier.separate) return `The workspace${of} was not kept.`;
  const files = carriedArtifacts(part).flatMap((artifact) => filesOf(store, artifacts, workdir, step, artifact));
  const lacking = part.artifacts.find((artifact) => filesOf(store, artifacts, workdir, step, artifact).length === 0);
  if (lacking !== undefined || files.length === 0) return `Neither the workspace${of} nor the artifact ${lacking?.source ?? "folder"} was kept.`;
  return { source: "artifacts", files };
}

function filesOf(
  store: Store,
  artifacts: readonly ArtifactRecord[],
  workdir: string,
  step: TaskStep | null,
  { source, destination, service }: Task["artifacts"][number],
): readonly KeptFile[] {
  if (service !== mainService) return [];
  const inside = posix.resolve(workdir, source);
  const name = `${step === null ? "" : `steps/${step.name}/`}${destination ?? inside.slice(1)}`;
  return artifacts.flatMap((artifact) => {
    if (artifact.kind !== "artifact" || (artifact.name !== name && !artifact.name.startsWith(`${name}/`))) return [];
    const bytes = store.blobs.get(artifact.blob);
    return bytes === null ? [] : [{ inside: `${inside}${artifact.name.slice(name.length)}`, bytes }];
  });
}

async function gradeKept(
  rollout: RolloutRecord,
  { step, part }: { readonly step: TaskStep | null; readonly part: Task },
  kept: Kept,
  options: RegradeOptions,
): Promise<VerifierResult> {
  const { provider, ownerId, env, onProgress, signal } = options;
  const rolloutId = `regrade-${rollout.id}`;
  const outputFolder = await mkdtemp(join(tmpdir(), "openforge-regrade-"));
  const request = sandboxRequest(part, provider.kind, { rolloutId, ownerId, proxySocket: null, variables: env });
  const box = await provider.create(request, onProgress, signal);
  try {
    await putBack(box, kept, signal);
    const stopping = signal === undefined ? {} : { signal };
    return await runVerifier(box, part, {
      outputFolder,
      environment: env,
      provider,
      ownerId,
      rolloutId,
      onProgress,
      ofStep: step !== null,
      ...stopping,
    });
  } finally {
    await box.destroy();
    await rm(outputFolder, { recursive: true, force: true });
  }
}

async function putBack(box: Sandbox, kept: Kept, signal?: AbortSignal): Promise<void> {
  if (kept.source === "workspace") return restoreWorkspace(box, kept.packed, signal);
  for (const { inside, bytes } of kept.files) await box.writeFile(inside, bytes);
}

/** What the agent did stays as it was; only the grades are new. */
function stepRecords(rollout: RolloutRecord, task: Task, verdicts: readonly VerifierResult[]): readonly StepRecord[] {
  return task.steps.map(({ name, minReward }, index) => {
    const before = rollout.steps.find((step) => step.name === name);
    const verdict = verdicts[index];
    const { firstCall = 0, calls = 0, startedAt = null, agentSeconds = null } = before ?? {};
    return {
      ...{ name, minReward, firstCall, calls, startedAt, agentSeconds },
      outcome: verdict === undefined ? null : { status: verdict.status, cause: verdict.cause, detail: verdict.detail },
      reward: verdict?.reward ?? null,
      rewards: verdict?.rewards ?? null,
      verifierSeconds: verdict?.seconds ?? null,
    };
  });
}
