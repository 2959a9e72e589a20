/** Everything about an experiment that can be known to be wrong before anything runs: one sentence each. */
import { join } from "node:path";
import type { ExperimentSpec } from "../api/experiment-views.ts";
import { WorkbenchError } from "../errors.ts";
import { type HarnessManifest, mcpRefusal, skillsRefusal } from "../harnesses/index.ts";
import type { SandboxProvider } from "../sandboxes/index.ts";
import { checkTask, type McpServer, networksOf, packagesIn, runsOf, type Task } from "../tasks/index.ts";

/** The task packages that a spec names, alone or by a folder of packages; `starter` = all that ship. A faulty one refuses the experiment. */
export async function tasksOf(spec: ExperimentSpec, starterTasksFolder: string): Promise<readonly Task[]> {
  const paths = await Promise.all(spec.tasks.map((path) => pathsOf(path === "starter" ? starterTasksFolder : path)));
  const tasks: Task[] = [];
  for (const path of new Set(paths.flat())) {
    tasks.push(soundTask(path, await checkTask(path)));
  }
  return tasks;
}

/** The task as it was read; its first fault is a WorkbenchError. */
export function soundTask(path: string, { task, valid, faults }: Awaited<ReturnType<typeof checkTask>>): Task {
  const fault = faults.find((candidate) => candidate.severity === "error");
  if (task !== null && valid && fault === undefined) return task;
  const where = fault === undefined ? path : `${join(path, fault.file)}:${fault.line}`;
  throw new WorkbenchError(
    "task",
    `${where}: ${fault?.message ?? "this is no task package."}`,
    `See \`openforge task check ${path}\` for every fault.`,
  );
}

/** A path that means no package is given back: its check says what is wrong with it. */
async function pathsOf(path: string): Promise<readonly string[]> {
  const found = await packagesIn(path);
  return found === null || found.length === 0 ? [path] : found;
}

type RefusingProvider = Pick<SandboxProvider, "kind" | "isolates">;

/**
 * Why this task cannot run so, or null. When no task of an experiment can, the experiment is refused; else those that cannot end
 * alone, each with this sentence.
 */
export function refusalOf(task: Task, provider: RefusingProvider, harnesses: readonly HarnessManifest[]): WorkbenchError | null {
  const { kind } = provider;
  if (task.environment.os === "windows")
    return new WorkbenchError("task", `The task ${task.name} needs Windows, which cannot be run.`, "Use a task for Linux.");
  const { gpus, tpu } = task.environment;
  if (gpus !== null || tpu)
    return new WorkbenchError(
      "unavailable",
      `The task ${task.name} asks for ${tpu ? "a TPU" : `${gpus} GPU${gpus === 1 ? "" : "s"}`}, which sandboxes do not give.`,
      "Take gpus and tpu out of task.toml if it can do without, or use another task.",
    );
  const refusal = composeRefusal(task, kind) ?? (kind === "local" ? networkRefusal(task, provider.isolates) : null);
  if (refusal !== null) return refusal;
  const distant = distantServer(task);
  if (distant !== null)
    return new WorkbenchError(
      "task",
      `The task ${task.name} has no network, and its MCP server ${distant.name} is at ${distant.url}, which is not in the sandbox.`,
      "Give the task a network mode that reaches it, or a server over stdio.",
      { cause: "egress-denied" },
    );
  const [only, ...others] = harnesses;
  if (only !== undefined && others.length === 0) {
    const of = `the task ${task.name}`;
    const refusal = mcpRefusal(only, task.environment.mcpServers, of) ?? (task.environment.skillsDir === null ? null : skillsRefusal(only, of));
    if (refusal !== null) return refusal;
  }
  return provider.isolates ? null : refusalWithoutIsolation(task, harnesses);
}

function composeRefusal(task: Task, kind: RefusingProvider["kind"]): WorkbenchError | null {
  const { compose, composeProblem, entrypoint } = task.environment;
  const beside = runsOf(task).some(({ part }) => part.verifier.box !== null && part.verifier.box.composeFolder !== null);
  if (kind === "local" && (compose || beside)) {
    return new WorkbenchError("unavailable", `The task ${task.name} brings a compose file: its services need Docker.`, "Use --sandbox docker.");
  }
  if (kind === "local" && entrypoint) {
    return new WorkbenchError(
      "unavailable",
      `The image of the task ${task.name} starts a program (ENTRYPOINT): it needs Docker.`,
      "Use --sandbox docker.",
    );
  }
  if (composeProblem === null) return null;
  return new WorkbenchError(
    "task",
    `${join(task.path, composeProblem)}`,
    `Mend the compose file; \`openforge task check ${task.path}\` names every fault.`,
  );
}

/** Through a list of hosts a local sandbox can reach out, but where nothing is isolated nothing holds it to one. */
function networkRefusal(task: Task, isolates: boolean): WorkbenchError | null {
  const network = networksOf(task).find(({ mode }) => mode === "public" || (mode === "allowlist" && !isolates));
  if (network === undefined) return null;
  const mode = network.declared ? `asks for the network mode ${network.mode}` : "names no network mode, which means public";
  return new WorkbenchError(
    "unavailable",
    `The task ${task.name} ${mode}; a local sandbox ${isolates ? "reaches no more than a list of hosts" : "has no network without isolation"}.`,
    `Use --sandbox docker, or set network_mode = "no-network"${isolates ? ' or "allowlist"' : ""}.`,
    { cause: "egress-denied" },
  );
}

/** An MCP server over HTTP that an agent without network cannot reach; the services of a compose file can be. */
function distantServer({ environment, agent }: Task): McpServer | null {
  if (environment.compose || agent.network.mode !== "no-network") return null;
  const isNear = ({ url }: McpServer): boolean => url === null || /^https?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/?#]|$)/i.test(url);
  return environment.mcpServers.find((server) => !isNear(server)) ?? null;
}

/** Only `react` runs its commands through the service, which checks them; only a verifier made for it finds its files. */
function refusalWithoutIsolation(task: Task, harnesses: readonly HarnessManifest[]): WorkbenchError | null {
  const why = "This machine has no isolation for a local sandbox (`openforge doctor` says why)";
  const harness = harnesses.find(({ id, resident }) => id !== "react" || resident === undefined);
  if (harness !== undefined)
    return new WorkbenchError(
      "unavailable",
      `${why}, and without it only react may run, with its allow-list of commands: not ${harness.id}.`,
      "Use --harness react, or --sandbox docker.",
    );
  if (!task.runsUnisolated || task.steps.length > 0 || task.verifier.separate || task.environment.mcpServers.length > 0)
    return new WorkbenchError(
      "unavailable",
      `${why}, and the task ${task.name} is not made to run without it.`,
      "Use --sandbox docker, or a task with metadata.openforge.runs_unisolated = true.",
    );
  return null;
}
