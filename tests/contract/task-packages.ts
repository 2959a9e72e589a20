/** Small task packages written to a scratch folder, and the sandboxes of this machine to run them in. */
import { readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type SandboxKind, type SandboxProvider, sandboxProviders } from "../../main/sandboxes/index.ts";
import { checkTask, type Task } from "../../main/tasks/index.ts";

export const starterTasksFolder = new URL("../../resources/tasks", import.meta.url).pathname;
/** Folder names, in order. */
export const starterTaskNames: readonly string[] = readdirSync(starterTasksFolder).sort();

export interface Scratch {
  readonly folder: string;
  dispose(): Promise<void>;
}

export async function scratchFolder(): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), "openforge-test-"));
  return { folder, dispose: () => rm(folder, { recursive: true, force: true }) };
}

/** Writes files (scripts executable) as a package and reads it back; faults of it are a fault of the test. */
export async function writePackage(folder: string, files: Readonly<Record<string, string>>): Promise<Task> {
  for (const [path, text] of Object.entries(files)) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
    if (target.endsWith(".sh")) await chmod(target, 0o755);
  }
  const { task, faults } = await checkTask(folder);
  if (task === null) throw new Error(faults.map((fault) => `${fault.file}:${fault.line}: ${fault.message}`).join("\n"));
  return task;
}

/** Kinds that this machine can run now, each with a state folder of its own below `folder`. */
export async function readyProviders(folder: string, kinds: readonly SandboxKind[]): Promise<readonly SandboxProvider[]> {
  const providers = sandboxProviders({ stateFolder: join(folder, "state") });
  const ready: SandboxProvider[] = [];
  for (const kind of kinds) if ((await providers[kind].probe()).ready) ready.push(providers[kind]);
  return ready;
}
