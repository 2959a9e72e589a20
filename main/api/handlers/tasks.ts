import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WorkbenchError } from "../../errors.ts";
import { refusalOf } from "../../rollouts/index.ts";
import { checkTask, createTask, importTask, lackingVariables, type Task, type TaskCheck } from "../../tasks/index.ts";
import { type RehearsalKind, type RehearsalResult, rehearseTask } from "../../verifiers/index.ts";
import type { WorkbenchParts } from "../context.ts";
import type { contractImplementer } from "../implementer.ts";
import type { TaskCheckView, TaskRunView, TaskView } from "../task-views.ts";
import { streamWork } from "../work-stream.ts";

interface RehearsalInput {
  readonly path: string;
  readonly sandbox: "local" | "docker";
}

export function taskHandlers(os: ReturnType<typeof contractImplementer>, parts: WorkbenchParts) {
  const rehearse = (kind: RehearsalKind, input: RehearsalInput, report: (line: string) => void, signal: AbortSignal) =>
    rehearseInFolder(parts, kind, input, report, signal);
  const single = async (kind: "gold" | "empty", input: RehearsalInput, report: (line: string) => void, signal: AbortSignal): Promise<TaskRunView> => {
    const [result] = await rehearse(kind, input, report, signal);
    if (result === undefined) throw new Error(`the ${kind} run gave no result`);
    const { reward, status, cause, seconds, detail } = result;
    return { reward, rewards: result.rewards === null ? null : { ...result.rewards }, status, cause, seconds, detail, ok: result.expected };
  };
  return {
    list: os.tasks.list.handler(() => listTasks(parts)),
    create: os.tasks.create.handler(async ({ input }) => {
      const { path, ...options } = input;
      return { path: await createTask(path, options) };
    }),
    check: os.tasks.check.handler(async ({ input }) => {
      return checkView(parts, await checkTask(input.path));
    }),
    import: os.tasks.import.handler(async ({ input, signal }) => {
      const verdict = await importTask({
        source: input.source,
        into: join(parts.store.dataFolder, "tasks"),
        ...(input.to === undefined ? {} : { to: input.to }),
        ...(signal === undefined ? {} : { signal }),
      });
      return checkView(parts, verdict);
    }),
    runGold: os.tasks.runGold.handler(({ input, signal }) => streamWork(signal, (report, stop) => single("gold", input, report, stop))),
    runEmpty: os.tasks.runEmpty.handler(({ input, signal }) => streamWork(signal, (report, stop) => single("empty", input, report, stop))),
    runCheats: os.tasks.runCheats.handler(({ input, signal }) =>
      streamWork(signal, async (report, stop) => {
        const results = await rehearse("cheats", input, report, stop);
        return { results: results.map(({ name, reward, status, cause }) => ({ name, reward, status, cause })) };
      }),
    ),
  };
}

async function rehearseInFolder(
  parts: WorkbenchParts,
  kind: RehearsalKind,
  input: RehearsalInput,
  onProgress: (line: string) => void,
  signal: AbortSignal,
): Promise<readonly RehearsalResult[]> {
  const task = await validTask(input.path);
  const outputFolder = await mkdtemp(join(tmpdir(), "openforge-rehearsal-"));
  try {
    const provider = parts.sandboxes[input.sandbox];
    return await rehearseTask(kind, task, { provider, ownerId: parts.ownerId, outputFolder, environment: parts.env, onProgress, signal });
  } finally {
    await rm(outputFolder, { recursive: true, force: true });
  }
}

async function checkView(parts: WorkbenchParts, { path, digest, valid, faults, task }: TaskCheck): Promise<TaskCheckView> {
  return { path, digest, valid, faults: faults.map((fault) => ({ ...fault })), wants: task === null ? [] : await wantsOf(parts, task) };
}

/** What a task needs and this machine lacks, one sentence each. */
async function wantsOf({ sandboxes, env }: WorkbenchParts, task: Task): Promise<string[]> {
  const wants: string[] = [];
  const local = refusalOf(task, sandboxes.local, []);
  if (local !== null) {
    const docker = refusalOf(task, sandboxes.docker, []);
    if (docker !== null) wants.push(docker.message);
    else {
      const { ready, detail } = await sandboxes.docker.probe();
      if (!ready) wants.push(`${local.message.replace(/\.$/, "")}, and Docker cannot be used here: ${detail}.`);
    }
  }
  for (const name of task.secrets)
    if (!env[name]) wants.push(`The task needs the secret ${name}, which is not set in the environment of the workbench.`);
  return [...wants, ...lackingVariables(task, env)];
}

async function validTask(path: string): Promise<Task> {
  const { task, faults } = await checkTask(path);
  if (task !== null) return task;
  const first = faults.find((fault) => fault.severity === "error");
  throw new WorkbenchError(
    "task",
    first === undefined ? `${path} is no task package.` : `${first.file}:${first.line}: ${first.message}`,
    `See every fault with \`openforge task check ${path}\`.`,
  );
}

/** The tasks that ship and those in the data folder's own `tasks/`. */
async function listTasks({ folders, store }: WorkbenchParts): Promise<TaskView[]> {
  const views: TaskView[] = [];
  for (const [root, starter] of [
    [join(folders.resources, "tasks"), true],
    [join(store.dataFolder, "tasks"), false],
  ] as const) {
    for (const name of subfolders(root)) {
      const { path, digest, valid, faults, task } = await checkTask(join(root, name));
      views.push({
        path,
        name: task?.name ?? name,
        family: task?.family ?? null,
        digest,
        valid,
        description: task?.description ?? null,
        instruction: task === null ? "" : instructionOf(task),
        network: task?.agent.network.mode ?? "–",
        starter,
        faults: faults.map((fault) => ({ ...fault })),
      });
    }
  }
  return views;
}

/** Of several steps, one after the other under their names. */
function instructionOf({ instruction, steps }: Task): string {
  return steps.length === 0 ? instruction : steps.map((step) => `# ${step.name}\n\n${step.instruction.trim()}\n`).join("\n");
}

function subfolders(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .toSorted();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
