/** The verdict on a task package: faults by file and line, and the task itself when it is valid. */
import { readFile, realpath } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { WorkbenchError } from "../errors.ts";
import type { TaskCheck, TaskFault } from "./contract.ts";
import { readTaskToml } from "./harbor/read-task-toml.ts";
import { lintPackage } from "./lint/lint-package.ts";
import { readOpenforgeMetadata } from "./openforge-metadata.ts";
import { isFile, isFolder } from "./package/file-system.ts";
import { packageNames } from "./package/package-digest.ts";
import { PackageFileError, PackageFiles } from "./package/package-files.ts";
import { checkLayout } from "./package/package-layout.ts";
import { PackageMemory } from "./package/package-memory.ts";
import { buildTask } from "./task-model.ts";

const checked = new PackageMemory<TaskCheck>();

/**
 * Checks the package in a folder; one that is sound and has not changed since is answered from memory. What is wrong with the package is in the result; only a path that is no folder throws
 * (WorkbenchError, exit code 2).
 */
export async function checkTask(path: string): Promise<TaskCheck> {
  const folder = resolve(path);
  if (!(await isFolder(folder))) {
    throw new WorkbenchError("not-found", `There is no folder ${folder}.`, "Give the folder of a task package, the one that holds task.toml.");
  }
  const root = await realpath(folder);
  return checked.of(
    root,
    () => check(root),
    ({ valid }) => valid,
  );
}

async function check(root: string): Promise<TaskCheck> {
  const faults: TaskFault[] = [];
  const invalid = (...more: readonly TaskFault[]): TaskCheck => ({
    path: root,
    digest: null,
    valid: false,
    faults: ordered([...faults, ...more]),
    task: null,
  });
  if (!(await isFile(join(root, "task.toml")))) {
    return invalid({ file: "task.toml", line: 1, severity: "error", message: "The folder has no task.toml; every task package needs one." });
  }
  const reading = readTaskToml(await readFile(join(root, "task.toml")));
  faults.push(...reading.faults);
  const { config, document } = reading;
  if (config === null || document === null) return invalid();
  try {
    const files = await PackageFiles.open(root);
    const layout = await checkLayout(files, config, document);
    const { metadata, faults: metadataFaults } = readOpenforgeMetadata(config.metadata, document);
    faults.push(...layout.faults, ...metadataFaults, ...(await initialStateFaults(files, metadata.initial_state?.files, document)));
    if (faults.some((fault) => fault.severity === "error")) return invalid();
    const { digest, checksum } = await packageNames(files);
    faults.push(...(await lintPackage(files, config, document, layout)));
    const task = await buildTask({ files, folderName: basename(root), config, metadata, layout, digest, checksum });
    return { path: root, digest, valid: true, faults: ordered(faults), task };
  } catch (error) {
    if (error instanceof PackageFileError) return invalid({ file: error.file, line: error.line, severity: "error", message: error.message });
    throw error;
  }
}

async function initialStateFaults(
  files: PackageFiles,
  folder: string | undefined,
  document: { lineOf(path: string[]): number },
): Promise<TaskFault[]> {
  if (folder === undefined) return [];
  const fault = (message: string): TaskFault[] => [
    { file: "task.toml", line: document.lineOf(["metadata", "openforge", "initial_state", "files"]), severity: "error", message },
  ];
  const path = resolve(files.root, folder);
  if (!path.startsWith(`${files.root}/`)) return fault(`The initial files ${folder} lie outside the task package.`);
  if (!(await isFolder(path))) return fault(`The folder of initial files ${folder} does not exist.`);
  await files.checkTree(path, false);
  return [];
}

/** Errors first, then by file and line; what several checks found is said once. */
function ordered(faults: readonly TaskFault[]): TaskFault[] {
  const distinct = new Map(faults.map((fault) => [JSON.stringify([fault.file, fault.line, fault.message]), fault]));
  const rank = (fault: TaskFault) => (fault.severity === "error" ? 0 : 1);
  return [...distinct.values()].sort((left, right) => rank(left) - rank(right) || left.file.localeCompare(right.file) || left.line - right.line);
}
