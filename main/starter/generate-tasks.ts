import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { deriveSeed, seededRandom } from "../../engine/statistics/index.ts";
import { WorkbenchError } from "../errors.ts";
import { type GenerateOptions, type StarterPackage, type StarterSplit, type StarterTask, starterFamilies } from "./contract.ts";
import { drawTask, taskHash } from "./families.ts";
import { packageFiles } from "./task-package.ts";

/** More than this many would soon leave nothing new to draw in the smallest family. */
const most = 20_000;

/**
 * Writes task packages, the families taking turns: same options, same bytes. Packages that are there already are written anew.
 * Resolves in the order drawn; no two are the same task.
 */
export async function generateStarterTasks({ split, count, seed, folder }: GenerateOptions): Promise<readonly StarterPackage[]> {
  if (!Number.isInteger(count) || count < 1 || count > most) {
    throw new WorkbenchError("usage", `${count} starter tasks cannot be made.`, `Ask for a whole number from 1 to ${most}.`);
  }
  const packages: StarterPackage[] = [];
  for (const task of drawTasks(split, count, seed)) {
    const short = `${task.family}-${taskHash(task).toString(16).padStart(8, "0")}`;
    const name = `openforge-starter/${short}`;
    const target = join(resolve(folder), short);
    await writePackage(target, task, name, split);
    packages.push({ folder: target, name, family: task.family });
  }
  return packages;
}

function drawTasks(split: StarterSplit, count: number, seed: number): readonly StarterTask[] {
  const random = seededRandom(deriveSeed("starter-tasks", split, seed));
  const drawn = new Map<number, StarterTask>();
  for (let turn = 0; drawn.size < count; ) {
    const family = starterFamilies[turn % starterFamilies.length] ?? "write";
    const task = drawTask(family, split, random);
    const hash = taskHash(task);
    if (drawn.has(hash)) continue;
    drawn.set(hash, task);
    turn += 1;
  }
  return [...drawn.values()];
}

async function writePackage(folder: string, task: StarterTask, name: string, split: StarterSplit): Promise<void> {
  for (const { path, text, executable } of packageFiles(task, name, split)) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
    if (executable) await chmod(target, 0o755);
  }
}
