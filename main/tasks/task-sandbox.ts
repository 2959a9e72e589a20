/** The box that a task asks for, and what of the task is put into it before anybody works there. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { WorkbenchError } from "../errors.ts";
import type { Sandbox, SandboxImage, SandboxKind, SandboxRequest } from "../sandboxes/index.ts";
import type { Healthcheck, Task } from "./contract.ts";
import { resolveVariables, type Variables } from "./variables.ts";

export const defaultWorkdir = "/app";

export function sandboxRequest(task: Task, kind: SandboxKind, link: Pick<SandboxRequest, "rolloutId" | "ownerId" | "proxySocket">): SandboxRequest {
  const { environment } = task;
  return {
    ...link,
    image: imageOf(task, kind),
    network: { mode: task.agent.network.mode, allowedHosts: task.agent.network.allowedHosts },
    limits: {
      ...(environment.cpus === null ? {} : { cpus: environment.cpus }),
      ...(environment.memoryMb === null ? {} : { memoryMb: environment.memoryMb }),
      ...(environment.storageMb === null ? {} : { storageMb: environment.storageMb }),
    },
    workdir: environment.workdir ?? defaultWorkdir,
  };
}

/** A local box is always made of this machine's own distribution; what the image would hold is laid out instead. */
function imageOf({ path, environment }: Task, kind: SandboxKind): SandboxImage {
  if (kind === "local") return { kind: "host" };
  if (environment.dockerImage !== null) return { kind: "image", reference: environment.dockerImage };
  if (environment.dockerfile) return { kind: "build", contextFolder: join(path, "environment"), timeoutMs: environment.buildTimeoutMs };
  return { kind: "host" };
}

/**
 * Copies the initial files into the working folder where no image brings them, then waits until the task's healthcheck passes.
 * Throws a WorkbenchError when it does not.
 */
export async function layOutTask(sandbox: Sandbox, task: Task, variables: Variables, signal?: AbortSignal): Promise<void> {
  const { initialFiles, workdir, healthcheck } = task.environment;
  if (initialFiles !== null && imageOf(task, sandbox.kind).kind === "host") {
    await sandbox.upload(join(task.path, initialFiles), workdir ?? defaultWorkdir);
  }
  if (healthcheck !== null) await waitUntilHealthy(sandbox, healthcheck, resolveVariables(task.environment.env, variables), signal);
}

/** As Docker does it: failures of the start period do not count, then `retries` in a row are too many. */
async function waitUntilHealthy(sandbox: Sandbox, check: Healthcheck, env: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<void> {
  const startPeriodEnd = Date.now() + check.startPeriodMs;
  for (let failures = 0; ; ) {
    const command = ["/bin/sh", "-c", check.command];
    const result = await sandbox.exec({ command, env, timeoutMs: Math.max(check.timeoutMs, 1), outputLimitBytes: 4096 }, signal);
    if (result.exitCode === 0) return;
    const starting = Date.now() < startPeriodEnd;
    if (!starting) failures += 1;
    if (failures >= check.retries) {
      const said = new TextDecoder().decode(result.stderr.length > 0 ? result.stderr : result.stdout).trim();
      throw new WorkbenchError(
        "sandbox",
        `The task's healthcheck \`${check.command}\` does not pass${said === "" ? "" : `: ${said.slice(-300)}`}.`,
        "Check [environment.healthcheck] and what the environment starts.",
      );
    }
    await delay(starting ? check.startIntervalMs : check.intervalMs, undefined, signal === undefined ? {} : { signal });
  }
}
