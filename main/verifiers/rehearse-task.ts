/**
 * Rehearsals of a task before anything is trained on it: the gold solution must earn the maximum, doing nothing must earn 0, and every
 * cheat must earn 0, in the same kind of sandbox and under the same network mode as rollouts.
 */
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WorkbenchError } from "../errors.ts";
import type { Sandbox, SandboxKind } from "../sandboxes/index.ts";
import { layOutStep, layOutTask, resolveVariables, runsOf, sandboxRequest, type Task, type TaskStep } from "../tasks/index.ts";
import { runCollectHooks } from "./collect-hooks.ts";
import type { RehearsalKind, RehearsalOptions, RehearsalResult, VerifierResult } from "./contract.ts";
import { clearFolders, stepFolders } from "./ground.ts";
import { runVerifier } from "./run-verifier.ts";
import { packageEntries } from "./stage-tests.ts";
import { gradeOfSteps, stepsEndAfter } from "./step-grade.ts";

const agentLimitMs = 30 * 60_000;
const outputLimitBytes = 4_000_000;

interface Part {
  readonly name: string;
  /** Folder of the package with solve.sh, for one run; null = nothing is done. */
  folderOf(run: Task): string | null;
}

/**
 * Runs each part in a fresh sandbox, one after the other: one result for `gold` and `empty`, one a cheat for `cheats`.
 * A task that has no such part or cannot run here throws a WorkbenchError.
 */
export async function rehearseTask(kind: RehearsalKind, task: Task, options: RehearsalOptions): Promise<readonly RehearsalResult[]> {
  refuseUnrunnable(task, options.provider.kind);
  const parts = partsOf(kind, task);
  const { ready, detail, remedy } = await options.provider.probe();
  if (!ready)
    throw new WorkbenchError("unavailable", `The ${options.provider.kind} sandbox cannot be used: ${detail}.`, remedy ?? "See `openforge doctor`.");
  const results: RehearsalResult[] = [];
  for (const part of parts) {
    options.signal?.throwIfAborted();
    results.push(await rehearse(kind, part, task, options));
  }
  return results;
}

function refuseUnrunnable({ environment, name, path }: Task, kind: SandboxKind): void {
  if (environment.os === "windows") throw new WorkbenchError("task", `The task ${name} needs Windows, which cannot be run.`, "Use a task for Linux.");
  if (environment.compose && kind === "local") {
    throw new WorkbenchError("unavailable", `The task ${name} brings a compose file: its services need Docker.`, "Use --sandbox docker.");
  }
  if (environment.entrypoint && kind === "local") {
    throw new WorkbenchError("unavailable", `The image of the task ${name} starts a program (ENTRYPOINT): it needs Docker.`, "Use --sandbox docker.");
  }
  if (environment.composeProblem !== null) throw new WorkbenchError("task", join(path, environment.composeProblem), "Mend the compose file.");
}

function partsOf(kind: RehearsalKind, task: Task): readonly Part[] {
  if (kind === "empty") return [{ name: "empty", folderOf: () => null }];
  if (kind === "gold") {
    if (!task.hasSolution) {
      const where = task.steps.length === 0 ? "solution/solve.sh" : "solution/solve.sh, or one in the folder of each step";
      throw new WorkbenchError("task", `The task ${task.name} has no gold solution.`, `Add ${where}.`);
    }
    return [{ name: "gold", folderOf: ({ solutionFolder }) => solutionFolder }];
  }
  if (task.cheats.length === 0)
    throw new WorkbenchError("task", `The task ${task.name} has no cheats.`, "Add cheats/NAME/solve.sh, which must earn 0.");
  return task.cheats.map((name) => ({ name, folderOf: () => `cheats/${name}` }));
}

async function rehearse(kind: RehearsalKind, part: Part, task: Task, options: RehearsalOptions): Promise<RehearsalResult> {
  const startedAt = Date.now();
  const outputFolder = join(options.outputFolder, part.name);
  await mkdir(outputFolder, { recursive: true });
  const rolloutId = `rehearsal-${randomUUID().slice(0, 8)}`;
  const report = options.onProgress ?? (() => undefined);
  report(`${part.name}: preparing`);
  const request = sandboxRequest(task, options.provider.kind, {
    ...{ rolloutId, ownerId: options.ownerId, proxySocket: null },
    variables: options.environment,
  });
  const sandbox = await options.provider.create(request, report, options.signal);
  try {
    await layOutTask(sandbox, task, options.environment, options.signal);
    const verdicts: VerifierResult[] = [];
    let timedOut = false;
    for (const [index, { step, part: run }] of runsOf(task).entries()) {
      const of = step === null ? part.name : `${part.name}, step ${step.name}`;
      const folder = step === null ? outputFolder : join(outputFolder, step.name);
      await mkdir(folder, { recursive: true });
      if (step !== null) await prepareStep(sandbox, task, step, index, options);
      const solution = part.folderOf(run);
      report(`${of}: ${solution === null ? "nothing is done" : "solving"}`);
      timedOut = solution !== null && (await solve(sandbox, run, step, solution, folder, options));
      await sandbox.killAll();
      await runCollectHooks(sandbox, run, { ...options, onLoss: report });
      report(`${of}: verifying`);
      verdicts.push(await runVerifier(sandbox, run, { ...options, outputFolder: folder, rolloutId, ofStep: step !== null }));
      const last = verdicts.at(-1);
      if (last === undefined || (step !== null && stepsEndAfter(task, index, last) !== null)) break;
    }
    const verdict = task.steps.length === 0 ? verdicts[0] : gradeOfSteps(task, verdicts);
    if (verdict === undefined) throw new Error("a rehearsal gave no verdict");
    const { cause, reward, rewards } = verdict;
    const status = timedOut ? "agent-timeout" : verdict.status;
    const expected = kind === "gold" ? status === "succeeded" : reward === 0;
    const detail = verdict.detail ?? adviceFor(kind, expected, task);
    return { name: part.name, status, cause, reward, rewards, detail, seconds: (Date.now() - startedAt) / 1000, expected };
  } finally {
    await sandbox.destroy();
  }
}

/** What a rollout does before a step's agent runs. */
async function prepareStep(sandbox: Sandbox, task: Task, step: TaskStep, index: number, { environment, signal }: RehearsalOptions): Promise<void> {
  if (index > 0) await clearFolders(sandbox, [...stepFolders, "/solution"], signal);
  await sandbox.useNetwork(step.agent.network);
  await layOutStep(sandbox, task, step, environment, signal);
}

/** Runs the solve script as the agent would run; true when it ran out of the agent's time. `step` names the step to a cheat. */
async function solve(
  sandbox: Sandbox,
  task: Task,
  step: TaskStep | null,
  folder: string,
  outputFolder: string,
  options: RehearsalOptions,
): Promise<boolean> {
  await sandbox.uploadEntries(await packageEntries(task.path, folder), "/solution");
  // Made with the rights of the box, as a harness's own files make it.
  await sandbox.writeFile("/home/agent/.rehearsal", new Uint8Array());
  const values = { ...resolveVariables(task.environment.env, options.environment), ...resolveVariables(task.solutionEnv, options.environment) };
  const end = await sandbox.exec(
    {
      command: ["/bin/sh", "-c", "exec /solution/solve.sh"],
      env: { HOME: "/home/agent", ...(step === null ? {} : { OPENFORGE_STEP: step.name }), ...values },
      cwd: sandbox.workdir,
      ...(task.agent.user === null ? {} : { user: task.agent.user }),
      timeoutMs: task.agent.timeoutMs ?? agentLimitMs,
      outputLimitBytes,
    },
    options.signal,
  );
  await writeFile(join(outputFolder, "solve-stdout.txt"), end.stdout);
  await writeFile(join(outputFolder, "solve-stderr.txt"), end.stderr);
  return end.timedOut;
}

function adviceFor(kind: RehearsalKind, expected: boolean, task: Task): string | null {
  if (expected) return null;
  if (kind !== "gold") return "The verifier gives a reward where none was earned; make it stricter.";
  const cwd =
    task.verifier.cwd === "tests"
      ? ' The test script runs in /tests; if it needs the agent\'s folder as its own, set verifier_cwd = "workdir" under [metadata.openforge].'
      : "";
  return `The gold solution does not earn the maximum of ${task.maxReward}.${cwd}`;
}
