/** The box that a task asks for, and what of the task is put into it before anybody works there. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { WorkbenchError } from "../errors.ts";
import type { NetworkPolicy, Sandbox, SandboxImage, SandboxKind, SandboxRequest, SingleImage } from "../sandboxes/index.ts";
import type { Healthcheck, Task, TaskNetwork, TaskPart, TaskStep } from "./contract.ts";
import { resolveVariables, type Variables } from "./variables.ts";

/** Of a step's setup.sh; Harbor sets none. */
export const setupLimitMs = 10 * 60_000;

/** What a sandbox has from its rollout; `variables`: what a compose file's are filled in from. */
type SandboxLink = Pick<SandboxRequest, "rolloutId" | "ownerId" | "proxySocket" | "onConnection"> & { readonly variables: Variables };

export function sandboxRequest(task: Task, kind: SandboxKind, { variables, ...link }: SandboxLink): SandboxRequest {
  const { environment } = task;
  const [first = task.agent.network, ...later] = networksOf(task);
  return {
    ...link,
    image: imageOf(task, kind, variables),
    network: policyOf(first),
    laterNetworks: later.map(policyOf),
    limits: {
      ...(environment.cpus === null ? {} : { cpus: environment.cpus }),
      ...(environment.memoryMb === null ? {} : { memoryMb: environment.memoryMb }),
      ...(environment.storageMb === null ? {} : { storageMb: environment.storageMb }),
    },
    // An image knows its own working folder.
    workdir: environment.workdir ?? (kind === "local" ? environment.imageWorkdir : null),
    environment: resolveVariables(environment.env, variables),
  };
}

/** The networks of a box, each once, the first agent's first: of the agents, and of the verifiers that share it. */
export function networksOf(task: Task): readonly TaskNetwork[] {
  const parts: readonly TaskPart[] = task.steps.length > 0 ? task.steps : [task];
  const all = parts.flatMap((part) => [part.agent.network, ...(part.verifier.separate ? [] : [sharedVerifierNetwork(part)])]);
  return all.filter((network, index) => all.findIndex((other) => isSameNetwork(network, other)) === index);
}

/** Of a verifier in the agent's box: its own where the package names one. */
export function sharedVerifierNetwork({ agent, verifier }: TaskPart): TaskNetwork {
  return verifier.network.declared ? verifier.network : agent.network;
}

function isSameNetwork(left: NetworkPolicy, right: NetworkPolicy): boolean {
  return left.mode === right.mode && left.allowedHosts.toSorted().join(" ") === right.allowedHosts.toSorted().join(" ");
}

const policyOf = ({ mode, allowedHosts }: TaskNetwork): NetworkPolicy => ({ mode, allowedHosts });

/** A local box is always made of this machine's own distribution; what the image would hold is laid out instead. */
function imageOf(task: Task, kind: SandboxKind, variables: Variables): SandboxImage {
  const { path, environment } = task;
  if (kind === "local") return { kind: "host" };
  if (!environment.compose) return singleImage(task);
  return {
    kind: "compose",
    file: join(path, "environment/docker-compose.yaml"),
    root: path,
    main: singleImage(task),
    variables: { ...variables, ...resolveVariables(environment.env, variables) },
    buildTimeoutMs: environment.buildTimeoutMs,
  };
}

function singleImage({ path, environment }: Task): SingleImage {
  if (environment.dockerImage !== null) return { kind: "image", reference: environment.dockerImage };
  if (environment.dockerfile) return { kind: "build", contextFolder: join(path, "environment"), timeoutMs: environment.buildTimeoutMs };
  return { kind: "host" };
}

/**
 * Copies files of the package into the working folder where no image brings them, then waits until the task's healthcheck passes.
 * Throws a WorkbenchError when it does not.
 */
export async function layOutTask(sandbox: Sandbox, task: Task, variables: Variables, signal?: AbortSignal): Promise<void> {
  const { initialFiles, healthcheck } = task.environment;
  if (initialFiles !== null && (sandbox.kind === "local" || singleImage(task).kind === "host")) {
    await sandbox.upload(join(task.path, initialFiles), sandbox.workdir);
  } else if (bringsFolder(task)) await sandbox.upload(join(task.path, "environment"), sandbox.workdir);
  if (healthcheck !== null) await waitUntilHealthy(sandbox, healthcheck, resolveVariables(task.environment.env, variables), null, signal);
}

/** As in Harbor: beside an image that is only named, environment/ is what the working folder starts with. */
function bringsFolder({ environment }: Task): boolean {
  return environment.dockerImage !== null && environment.files && !environment.dockerfile && !environment.compose;
}

/**
 * What a step puts into the box before its agent runs: the content of its workdir/, what its setup.sh does there, and the wait for its
 * healthcheck. Script and check run as the step's agent. Throws a WorkbenchError when one of them fails.
 */
export async function layOutStep(sandbox: Sandbox, task: Task, step: TaskStep, variables: Variables, signal?: AbortSignal): Promise<void> {
  const { workdir } = sandbox;
  const env = resolveVariables(task.environment.env, variables);
  const { user } = step.agent;
  if (step.workdirFolder !== null) await sandbox.upload(join(task.path, step.workdirFolder), workdir);
  if (step.setup) {
    const command = ["/bin/sh", "-c", 'exec bash "$0"', `${workdir.replace(/\/+$/, "")}/setup.sh`];
    const run = { command, env, cwd: workdir, timeoutMs: setupLimitMs, outputLimitBytes: 65_536, ...(user === null ? {} : { user }) };
    const { exitCode, timedOut, stderr, stdout } = await sandbox.exec(run, signal);
    if (exitCode !== 0) {
      const said = lastWords(stderr.length > 0 ? stderr : stdout);
      const how = timedOut ? `did not end within ${setupLimitMs / 60_000} minutes` : `ended with exit code ${exitCode ?? "unknown"}`;
      throw new WorkbenchError("sandbox", `The setup.sh of the step ${step.name} ${how}${said}.`, `Check ${step.workdirFolder}/setup.sh.`);
    }
  }
  if (step.healthcheck !== null) await waitUntilHealthy(sandbox, step.healthcheck, env, user, signal);
}

/** `: …`, or nothing. */
function lastWords(bytes: Uint8Array): string {
  const said = new TextDecoder().decode(bytes).trim();
  return said === "" ? "" : `: ${said.slice(-300)}`;
}

/** As Docker does it: failures of the start period do not count, then `retries` in a row are too many. */
async function waitUntilHealthy(
  sandbox: Sandbox,
  check: Healthcheck,
  env: Readonly<Record<string, string>>,
  user: string | null,
  signal?: AbortSignal,
): Promise<void> {
  const startPeriodEnd = Date.now() + check.startPeriodMs;
  for (let failures = 0; ; ) {
    const command = ["/bin/sh", "-c", check.command];
    const result = await sandbox.exec(
      { command, env, timeoutMs: Math.max(check.timeoutMs, 1), outputLimitBytes: 4096, ...(user === null ? {} : { user }) },
      signal,
    );
    if (result.exitCode === 0) return;
    const starting = Date.now() < startPeriodEnd;
    if (!starting) failures += 1;
    if (failures >= check.retries) {
      const said = lastWords(result.stderr.length > 0 ? result.stderr : result.stdout);
      throw new WorkbenchError(
        "sandbox",
        `The task's healthcheck \`${check.command}\` does not pass${said}.`,
        "Check [environment.healthcheck] and what the environment starts.",
      );
    }
    await delay(starting ? check.startIntervalMs : check.intervalMs, undefined, signal === undefined ? {} : { signal });
  }
}
