/** The tasks of a run: packages from disk or made by the starter generator, told apart by what they hold. */
import { join } from "node:path";
import { deriveSeed, seededRandom } from "../../engine/statistics/index.ts";
import { WorkbenchError } from "../errors.ts";
import { generateStarterTasks, type StarterSplit } from "../starter/index.ts";
import { checkTask, packagesIn, type Task } from "../tasks/index.ts";
import type { RunSettings, TaskSource } from "./run-file.ts";

export interface RunTask {
  readonly path: string;
  readonly name: string;
  readonly family: string | null;
  readonly maxReward: number;
  readonly requiredTools: readonly string[];
}

export interface TaskSet {
  readonly train: readonly RunTask[];
  /** Empty = nothing is evaluated. */
  readonly heldOut: readonly RunTask[];
}

export interface TaskPlaces {
  /** What `starter` means: the packages that ship. */
  readonly starterTasksFolder: string;
  /** Receives generated tasks; the same options give the same bytes. */
  readonly generated: string;
}

/** Rejects with WorkbenchError for a faulty package, and for a task that is both trained and held out. */
export async function readTasks({ train, heldOut }: RunSettings["tasks"], places: TaskPlaces): Promise<TaskSet> {
  const trained = await tasksOf(train, "train", places);
  const held = heldOut === undefined ? [] : await tasksOf(heldOut, "held-out", places);
  const digests = new Map(trained.map((task) => [task.digest, task]));
  const shared = held.find((task) => digests.has(task.digest));
  if (shared !== undefined) {
    const also = digests.get(shared.digest);
    throw new WorkbenchError(
      "usage",
      `The task ${shared.path} is held out and trained (${also?.path}).`,
      "A held-out task must not be in `tasks.train`.",
    );
  }
  return { train: trained.map(inBrief), heldOut: held.map(inBrief) };
}

/** The packages that lie on disk already, before a run begins. Rejects with WorkbenchError for a faulty one. */
export async function checkTaskSources({ train, heldOut = [] }: RunSettings["tasks"], starterTasksFolder: string): Promise<void> {
  const places = { starterTasksFolder, generated: "" };
  const onDisk = (sources: readonly TaskSource[]): readonly TaskSource[] => sources.filter((source) => typeof source === "string");
  await tasksOf(onDisk(train), "train", places);
  await tasksOf(onDisk(heldOut), "held-out", places);
}

function inBrief({ path, name, family, maxReward, requiredTools }: Task): RunTask {
  return { path, name, family, maxReward, requiredTools };
}

async function tasksOf(sources: readonly TaskSource[], split: StarterSplit, places: TaskPlaces): Promise<readonly Task[]> {
  const folders = new Set<string>();
  for (const source of sources) for (const folder of await foldersOf(source, split, places)) folders.add(folder);
  const tasks: Task[] = [];
  for (const folder of folders) tasks.push(await soundTask(folder));
  return tasks;
}

async function foldersOf(source: TaskSource, split: StarterSplit, places: TaskPlaces): Promise<readonly string[]> {
  if (typeof source !== "string") {
    const { count, seed } = source.starter;
    const made = await generateStarterTasks({ split, count, seed, folder: join(places.generated, split) });
    return made.map(({ folder }) => folder);
  }
  const folder = source === "starter" ? places.starterTasksFolder : source;
  const packages = await packagesIn(folder);
  if (packages !== null && packages.length > 0) return packages;
  const problem = packages === null ? `The task folder ${folder} cannot be read.` : `The folder ${folder} holds no task package.`;
  throw new WorkbenchError("task", problem, "Name a task package, or a folder of packages.");
}

async function soundTask(folder: string): Promise<Task> {
  const { task, valid, faults } = await checkTask(folder);
  if (task !== null && valid) return task;
  const fault = faults.find(({ severity }) => severity === "error");
  const where = fault === undefined ? folder : `${join(folder, fault.file)}:${fault.line}`;
  throw new WorkbenchError(
    "task",
    `${where}: ${fault?.message ?? "this is no task package."}`,
    `See \`openforge task check ${folder}\` for every fault.`,
  );
}

/**
 * The tasks of one step: every task once before any comes again, each time in another order. Depends on the run's seed and the place
 * alone, never on what came before.
 */
export function drawTasks<T>(tasks: readonly T[], first: number, count: number, seed: number): readonly T[] {
  return Array.from({ length: count }, (_unused, index) => first + index).flatMap((place) => {
    const round = Math.floor(place / tasks.length);
    return shuffled(tasks, deriveSeed(seed, "tasks", round)).slice(place % tasks.length, (place % tasks.length) + 1);
  });
}

/** Fisher–Yates. */
export function shuffled<T>(values: readonly T[], seed: number): readonly T[] {
  const random = seededRandom(seed);
  const order = [...values];
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    const [left, right] = [order[at], order[other]];
    if (left === undefined || right === undefined) continue;
    order[at] = right;
    order[other] = left;
  }
  return order;
}
