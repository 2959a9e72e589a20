/**
 * Rehearsals of a task before anything is trained on it: the gold solution must earn the maximum, doing nothing must earn 0, and every
 * cheat must earn 0, in the same kind of sandbox and under the same network mode as rollouts.
 */
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WorkbenchError } from "../errors.ts";
import type { Sandbox } from "../sandboxes/index.ts";
import { defaultWorkdir, layOutTask, resolveVariables, sandboxRequest, type Task } from "../tasks/index.ts";
import type { RehearsalKind, RehearsalOptions, RehearsalResult } from "./contract.ts";
import { runVerifier } from "./run-verifier.ts";
import { packageEntries } from "./stage-tests.ts";

const agentLimitMs = 30 * 60_000;
const outputLimitBytes = 4_000_000;

interface Part {
  readonly name: string;
  /** Folder of the package with solve.sh; null = nothing is done. */
  readonly folder: string | null;
}

/**
 * Runs each part in a fresh sandbox, one after the other: one result for `gold` and `empty`, one a cheat for `cheats`.
 * A task that has no such part or cannot run here throws a WorkbenchError.
 */
export async function rehearseTask(kind: RehearsalKind, task: Task, options: RehearsalOptions): Promise<readonly RehearsalResult[]> {
  refuseUnrunnable(task);
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

function refuseUnrunnable(task: Task): void {
  const { environment, steps } = task;
  const why =
    steps.length > 0
      ? "has several steps"
      : environment.compose
        ? "needs several containers (docker-compose.yaml)"
        : environment.os === "windows"
          ? "needs Windows"
          : null;
  if (why !== null)
    throw new WorkbenchError("task", `The task ${task.name} ${why}, which cannot be run.`, "Use a task of one step in one Linux container.");
}

function partsOf(kind: RehearsalKind, task: Task): readonly Part[] {
  if (kind === "empty") return [{ name: "empty", folder: null }];
  if (kind === "gold") {
    if (!task.hasSolution) throw new WorkbenchError("task", `The task ${task.name} has no gold solution.`, "Add solution/solve.sh.");
    return [{ name: "gold", folder: "solution" }];
  }
  if (task.cheats.length === 0)
    throw new WorkbenchError("task", `The task ${task.name} has no cheats.`, "Add cheats/NAME/solve.sh, which must earn 0.");
  return task.cheats.map((name) => ({ name, folder: `cheats/${name}` }));
}

async function rehearse(kind: RehearsalKind, part: Part, task: Task, options: RehearsalOptions): Promise<RehearsalResult> {
  const startedAt = Date.now();
  const outputFolder = join(options.outputFolder, part.name);
  await mkdir(outputFolder, { recursive: true });
  const rolloutId = `rehearsal-${randomUUID().slice(0, 8)}`;
  const report = options.onProgress ?? (() => undefined);
  report(`${part.name}: preparing`);
  const request = sandboxRequest(task, options.provider.kind, { rolloutId, ownerId: options.ownerId, proxySocket: null });
  const sandbox = await options.provider.create(request, report, options.signal);
  try {
    await layOutTask(sandbox, task, options.environment, options.signal);
    const timedOut = part.folder !== null && (await solve(sandbox, task, part.folder, outputFolder, options));
    report(`${part.name}: verifying`);
    const { signal, environment, ownerId, provider, onProgress } = options;
    const verdict = await runVerifier(sandbox, task, {
      outputFolder,
      environment,
      provider,
      ownerId,
      rolloutId,
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(signal === undefined ? {} : { signal }),
    });
    const { cause, reward, rewards } = verdict;
    const status = timedOut ? "agent-timeout" : verdict.status;
    const expected = kind === "gold" ? status === "succeeded" : reward === 0;
    const detail = verdict.detail ?? adviceFor(kind, expected, task);
    return { name: part.name, status, cause, reward, rewards, detail, seconds: (Date.now() - startedAt) / 1000, expected };
  } finally {
    await sandbox.destroy();
  }
}

/** Runs the solve script as the agent would run; true when it ran out of the agent's time. */
async function solve(sandbox: Sandbox, task: Task, folder: string, outputFolder: string, options: RehearsalOptions): Promise<boolean> {
  await sandbox.uploadEntries(await packageEntries(task.path, folder), "/solution");
  // Made with the rights of the box, as a harness's own files make it.
  await sandbox.writeFile("/home/agent/.rehearsal", new Uint8Array());
  const values = { ...resolveVariables(task.environment.env, options.environment), ...resolveVariables(task.solutionEnv, options.environment) };
  const end = await sandbox.exec(
    {
      command: ["/bin/sh", "-c", "exec /solution/solve.sh"],
      env: { HOME: "/home/agent", ...values },
      cwd: task.environment.workdir ?? defaultWorkdir,
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
