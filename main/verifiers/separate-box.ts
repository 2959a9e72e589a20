/**
 * Grading in a box of its own. Only /logs/artifacts and the declared artifacts are carried over, to the same absolute paths; the rest
 * of the agent's work is not there.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import type { Sandbox, SandboxImage, SandboxKind, SingleImage } from "../sandboxes/index.ts";
import { carriedArtifacts, resolveVariables, type Task, type VerifierBox } from "../tasks/index.ts";
import { downloadArtifact } from "./artifact-download.ts";
import type { VerifierOptions, VerifierResult } from "./contract.ts";

export type Graded = Omit<VerifierResult, "seconds">;
type Grade = (sandbox: Sandbox, task: Task, options: VerifierOptions, testsFromHere: boolean) => Promise<Graded>;

export async function inVerifierBox(agentBox: Sandbox, task: Task, box: VerifierBox, options: VerifierOptions, grade: Grade): Promise<Graded> {
  const { provider } = options;
  if (provider === undefined) {
    const detail = "The task's verifier wants a sandbox of its own, and none can be made here.";
    return { status: "verifier-failure", cause: "verifier-broken", reward: null, rewards: null, detail, exitCode: null };
  }
  const scratch = await mkdtemp(join(tmpdir(), "openforge-artifacts-"));
  try {
    const carried = await bringOut(agentBox, task, scratch);
    const request = {
      rolloutId: options.rolloutId ?? "verifier",
      ownerId: options.ownerId ?? "verifier",
      image: imageOf(task, box, provider.kind, options.environment),
      network: { mode: box.network.mode, allowedHosts: box.network.allowedHosts },
      limits: box.limits,
      workdir: box.workdir,
      environment: resolveVariables(box.env, options.environment),
      proxySocket: null,
      ...(options.onConnection === undefined ? {} : { onConnection: options.onConnection }),
    };
    const sandbox = await provider.create(request, options.onProgress ?? (() => undefined), options.signal);
    try {
      for (const { host, inside } of carried) await sandbox.upload(host, inside);
      return await grade(sandbox, task, options, !box.testsInImage || provider.kind === "local");
    } finally {
      await sandbox.destroy();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** A local box has no image: the tests that the image would hold are uploaded. */
function imageOf(task: Task, box: VerifierBox, kind: SandboxKind, environment: VerifierOptions["environment"]): SandboxImage {
  if (kind === "local") return { kind: "host" };
  const main = singleImage(task, box);
  if (box.composeFolder === null) return main;
  const variables = { ...environment, ...resolveVariables(box.env, environment) };
  const file = join(task.path, box.composeFolder, "docker-compose.yaml");
  return { kind: "compose", file, root: task.path, main, variables, buildTimeoutMs: box.buildTimeoutMs };
}

function singleImage(task: Task, box: VerifierBox): SingleImage {
  if (box.dockerImage !== null) return { kind: "image", reference: box.dockerImage };
  if (box.buildFolder !== null) return { kind: "build", contextFolder: join(task.path, box.buildFolder), timeoutMs: box.buildTimeoutMs };
  return { kind: "host" };
}

async function bringOut(sandbox: Sandbox, task: Task, scratch: string): Promise<{ readonly host: string; readonly inside: string }[]> {
  const carried: { host: string; inside: string }[] = [];
  for (const { source, exclude, service } of carriedArtifacts(task)) {
    const inside = posix.resolve(sandbox.workdir, source);
    const host = join(scratch, String(carried.length));
    if (await downloadArtifact(sandbox, { inside, exclude, service }, host)) carried.push({ host, inside });
  }
  return carried;
}
