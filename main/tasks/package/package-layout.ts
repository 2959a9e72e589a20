/** Files that a package must have, by Harbor's rules; each fault says where it is to be put right. */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { TaskFault } from "../contract.ts";
import type { StepConfig, TaskConfig } from "../harbor/task-config.ts";
import type { TomlDocument } from "../harbor/toml-source.ts";
import { exists, isFile, isFolder } from "./file-system.ts";
import { PackageFileError, type PackageFiles, readPackageText } from "./package-files.ts";

type System = "linux" | "windows";

/** What a verifier that has a box of its own starts from. */
export interface VerifierImage {
  readonly dockerImage: string | null;
  /** Folder, relative to the package, that holds the Dockerfile or compose file; null with `dockerImage`. */
  readonly folder: string | null;
  readonly bundledTests: boolean;
  readonly os: System;
}

export interface PackageLayout {
  readonly faults: readonly TaskFault[];
  /** Text of instruction.md; empty for a task of steps. */
  readonly instruction: string;
  /** Test scripts that run, relative to the package, and whether they run in a box of their own. */
  readonly testScripts: readonly { readonly file: string; readonly separate: boolean }[];
  readonly solutions: readonly string[];
}

/** Never throws for what is wrong with the package. */
export async function checkLayout(files: PackageFiles, config: TaskConfig, document: TomlDocument): Promise<PackageLayout> {
  const faults: TaskFault[] = [];
  const report = (file: string, message: string, line = 1) => faults.push({ file, line, severity: "error", message });
  const guarded = async (check: () => Promise<void>) => {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof PackageFileError)) throw error;
      report(error.file, error.message, error.line);
    }
  };
  const testScripts = new Map<string, boolean>();
  const solutions = new Set<string>();
  const os = config.environment?.os ?? "linux";
  let instruction = "";

  if (!config.environment?.docker_image && !(await isFolder(join(files.root, "environment")))) {
    report(
      "task.toml",
      "The package has no environment/ folder and names no environment.docker_image; add one of them.",
      document.lineOf(["environment"]),
    );
  }
  await guarded(() => files.checkTree(join(files.root, "tests")));
  await guarded(() => files.checkTree(join(files.root, "solution")));
  const steps = config.steps ?? [];
  if (steps.length === 0) {
    if (!(await exists(join(files.root, "instruction.md"))))
      report("instruction.md", "The package has no instruction.md; write there what the agent is to do.");
    else {
      await guarded(async () => {
        instruction = await readInstruction(files, "instruction.md");
      });
    }
  }
  for (const [index, step] of steps.length === 0 ? [undefined].entries() : steps.entries()) {
    await guarded(async () => {
      const line = step === undefined ? 1 : document.lineOf(["steps", index, "name"]);
      if (step !== undefined && !(await checkStepFolder(files, step, line, report))) return;
      const image = await verifierImage(files, config, step);
      const solution = await firstFile(files, [...(step === undefined ? [] : [`steps/${step.name}/solution/`]), "solution/"], "solve", os);
      if (solution !== null && (await isFile(join(files.root, solution)))) solutions.add(solution);
      if (image?.bundledTests) return;
      const script = await testScript(files, step, image?.os ?? os, line);
      testScripts.set(script, (testScripts.get(script) ?? false) || image !== null);
    });
  }
  return { faults, instruction, testScripts: [...testScripts].map(([file, separate]) => ({ file, separate })), solutions: [...solutions] };
}

async function readInstruction(files: PackageFiles, file: string): Promise<string> {
  if (!(await isFile(join(files.root, file)))) throw new PackageFileError(file, `${file} must be a file.`);
  return readPackageText(files.root, file);
}

type Report = (file: string, message: string, line?: number) => void;

/** False when the step's folder is not there to look into. */
async function checkStepFolder(files: PackageFiles, step: StepConfig, line: number, report: Report): Promise<boolean> {
  const folder = `steps/${step.name}`;
  if (!(await exists(join(files.root, folder)))) {
    report("task.toml", `The step ${JSON.stringify(step.name)} has no folder ${folder}.`, line);
    return false;
  }
  await files.checkTree(join(files.root, folder));
  const instruction = `${folder}/instruction.md`;
  if (await exists(join(files.root, instruction))) return true;
  report(instruction, `The step ${JSON.stringify(step.name)} has no instruction.md; write there what the agent is to do.`);
  return true;
}

/** The script that a verifier runs; a step's own goes before the task's. */
async function testScript(files: PackageFiles, step: StepConfig | undefined, os: System, line: number): Promise<string> {
  const folders = [...(step === undefined ? [] : [`steps/${step.name}/tests/`]), "tests/"];
  const script = await firstFile(files, folders, "test", os);
  if (script === null) {
    const wanted = folders.map((folder) => `${folder}test${extensionOf(os)}`).join(" or ");
    const why = os === "windows" ? ", which os = windows needs" : "";
    if (step === undefined) throw new PackageFileError(wanted, `The package has no ${wanted}${why}; write there how the work is checked.`);
    throw new PackageFileError("task.toml", `The step ${JSON.stringify(step.name)} has no test script; add ${wanted}${why}.`, line);
  }
  if (!(await isFile(join(files.root, script)))) throw new PackageFileError(script, `${script} must be a file.`);
  if (await files.isExcluded(join(files.root, script))) throw new PackageFileError(script, `${script} is needed but .harborignore leaves it out.`);
  return script;
}

const extensionOf = (os: System) => (os === "windows" ? ".bat" : ".sh");

async function firstFile(files: PackageFiles, folders: readonly string[], name: string, os: System): Promise<string | null> {
  for (const folder of folders) {
    const file = `${folder}${name}${extensionOf(os)}`;
    if (await exists(join(files.root, file))) return file;
  }
  return null;
}

/** Null when the verifier shares the agent's box. Harbor's order: step, task, the agent's own environment. */
export async function verifierImage(files: PackageFiles, config: TaskConfig, step?: StepConfig): Promise<VerifierImage | null> {
  const own = (verifier: StepConfig["verifier"]) => verifier?.environment_mode ?? (verifier?.environment === undefined ? undefined : "separate");
  if ((own(step?.verifier) ?? own(config.verifier) ?? "shared") !== "separate") return null;
  const chosen = step?.verifier?.environment ?? config.verifier?.environment;
  const os = chosen?.os ?? config.environment?.os ?? "linux";
  const candidates = [
    ...(step === undefined ? [] : [{ environment: step.verifier?.environment, folder: `steps/${step.name}/tests` }]),
    { environment: config.verifier?.environment, folder: "tests" },
  ];
  for (const { environment, folder } of candidates) {
    const path = join(files.root, folder);
    await files.checkTree(path);
    if (environment?.docker_image) return { dockerImage: environment.docker_image, folder: null, bundledTests: true, os };
    if ((await isFile(join(path, "Dockerfile"))) || (await isFile(join(path, "docker-compose.yaml")))) {
      await files.checkTree(path, false);
      return { dockerImage: null, folder, bundledTests: true, os };
    }
  }
  await files.checkTree(join(files.root, "environment"), false);
  const dockerImage = config.environment?.docker_image ?? null;
  return { dockerImage, folder: dockerImage === null ? "environment" : null, bundledTests: false, os };
}

/** Names of cheats: folders of cheats/ that hold a solve.sh. */
export async function cheatNames(root: string): Promise<string[]> {
  const folder = join(root, "cheats");
  if (!(await isFolder(folder))) return [];
  const names = (await readdir(folder)).sort();
  const found: string[] = [];
  for (const name of names) if (await isFile(join(folder, name, "solve.sh"))) found.push(basename(name));
  return found;
}
