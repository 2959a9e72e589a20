/** Warnings about a package that is valid: what Harbor's own lint says by default, and what is odd to the workbench. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readCompose } from "../../sandboxes/index.ts";
import type { TaskFault } from "../contract.ts";
import { artifactOf } from "../harbor/artifact-entry.ts";
import type { TaskConfig } from "../harbor/task-config.ts";
import type { TomlDocument } from "../harbor/toml-source.ts";
import { isFile, isFolder } from "../package/file-system.ts";
import { withoutCanary } from "../package/instruction-text.ts";
import { ignoreFileName, inIgnoreScope, type PackageFiles } from "../package/package-files.ts";
import { type PackageLayout, verifierImage } from "../package/package-layout.ts";
import { artifactCollisions, overlapsLogs } from "./artifact-lint.ts";
import { type CommandFinding, lintCommands } from "./command-lint.ts";
import { lintCompose } from "./compose-lint.ts";
import { lintDockerfile } from "./dockerfile-lint.ts";
import { logicalLines } from "./shell-lines.ts";
import { lintValues } from "./value-lint.ts";

export async function lintPackage(files: PackageFiles, config: TaskConfig, document: TomlDocument, layout: PackageLayout): Promise<TaskFault[]> {
  return [
    ...lintValues(config, document),
    ...lintInstruction(config, layout),
    ...(await lintIgnoreFiles(files)),
    ...(await lintArtifacts(files, config, document)),
    ...(await lintSources(files, config, layout)),
    ...(await lintScripts(files, layout)),
  ];
}

const warning = (file: string, line: number, message: string): TaskFault => ({ file, line, severity: "warning", message });

function lintInstruction(config: TaskConfig, layout: PackageLayout): TaskFault[] {
  const empty = (config.steps ?? []).length === 0 && withoutCanary(layout.instruction).trim() === "";
  return empty ? [warning("instruction.md", 1, "The instruction is empty; write what the agent is to do.")] : [];
}

async function lintIgnoreFiles(files: PackageFiles): Promise<TaskFault[]> {
  const found: TaskFault[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name === ignoreFileName && !inIgnoreScope(files.relative(folder), true)) {
        found.push(warning(files.relative(path), 1, `${ignoreFileName} works only in tests/ and solution/ folders; move or remove it.`));
      }
      if (entry.isDirectory() && entry.name !== ".git") await visit(path);
    }
  };
  await visit(files.root);
  return found;
}

async function lintArtifacts(files: PackageFiles, config: TaskConfig, document: TomlDocument): Promise<TaskFault[]> {
  const ofTask = (config.artifacts ?? []).map((entry, index) => ({ path: ["artifacts", index] as (string | number)[], entry: artifactOf(entry) }));
  const steps = config.steps ?? [];
  const found: TaskFault[] = [];
  const check = (entries: typeof ofTask, separate: boolean, after: number) => {
    for (const { index, earlier } of artifactCollisions(entries.map(({ entry }) => entry))) {
      const item = entries[index];
      if (item === undefined || index < after) continue;
      found.push(
        warning(
          "task.toml",
          document.lineOf(item.path),
          `The artifact ${item.entry.source} goes to the same place as ${earlier}; the first one is kept.`,
        ),
      );
    }
    for (const { path, entry } of separate ? entries : []) {
      if (overlapsLogs(entry))
        found.push(
          warning("task.toml", document.lineOf(path), `The artifact ${entry.source} overlaps the logs of agent or verifier; choose another place.`),
        );
    }
  };
  if (steps.length === 0) check(ofTask, (await verifierImage(files, config)) !== null, 0);
  for (const [index, step] of steps.entries()) {
    const ofStep = (step.artifacts ?? []).map((entry, at) => ({
      path: ["steps", index, "artifacts", at] as (string | number)[],
      entry: artifactOf(entry),
    }));
    check([...ofTask, ...ofStep], (await verifierImage(files, config, step)) !== null, index === 0 ? 0 : ofTask.length);
  }
  return found;
}

async function lintSources(files: PackageFiles, config: TaskConfig, layout: PackageLayout): Promise<TaskFault[]> {
  const found: TaskFault[] = [];
  const add = (file: string, findings: readonly CommandFinding[]) => found.push(...findings.map(({ line, message }) => warning(file, line, message)));
  const linux = config.environment?.os !== "windows";
  const folders = ["environment", "tests", ...(config.steps ?? []).map((step) => `steps/${step.name}/tests`)];
  for (const folder of folders) {
    const dockerfile = `${folder}/Dockerfile`;
    if (await isFile(join(files.root, dockerfile)))
      add(dockerfile, lintDockerfile(await readText(files, dockerfile), folder === "environment", linux));
    const compose = `${folder}/docker-compose.yaml`;
    if (await isFile(join(files.root, compose))) add(compose, await composeFindings(files, folder, compose));
  }
  for (const { file, separate } of layout.testScripts) if (file.endsWith(".sh")) add(file, await scriptFindings(files, file, separate));
  for (const file of layout.solutions) if (file.endsWith(".sh")) add(file, await scriptFindings(files, file, false));
  return found;
}

/** What is unwise, and what cannot be run at all. */
async function composeFindings(files: PackageFiles, folder: string, compose: string): Promise<CommandFinding[]> {
  const unwise = lintCompose(await readText(files, compose), folder);
  const { problems } = await readCompose({ file: join(files.root, compose), root: files.root, variables: null });
  const further = problems.filter(({ line }) => unwise.every((finding) => finding.line !== line));
  return [...unwise, ...further.map(({ line, message }) => ({ line, message: `${message} As it is, the task cannot be run.` }))];
}

async function scriptFindings(files: PackageFiles, file: string, separate: boolean): Promise<CommandFinding[]> {
  return logicalLines(await readText(files, file)).flatMap((line) => lintCommands(line, separate));
}

/** Scripts that the kernel could not start, and rehearsals that cannot be made. */
async function lintScripts(files: PackageFiles, layout: PackageLayout): Promise<TaskFault[]> {
  const found: TaskFault[] = [];
  for (const file of [...layout.testScripts.map((script) => script.file), ...layout.solutions]) {
    const firstLine = (await readText(files, file)).split("\n", 1)[0] ?? "";
    if (file.endsWith(".sh") && firstLine.endsWith("\r")) found.push(warning(file, 1, `${file} has Windows line ends; Linux cannot start it.`));
  }
  if (layout.solutions.length === 0)
    found.push(warning("task.toml", 1, "The package has no solution/solve.sh; whether the task can be solved cannot be rehearsed."));
  const cheats = join(files.root, "cheats");
  if (await isFolder(cheats)) {
    for (const entry of await readdir(cheats, { withFileTypes: true })) {
      if (entry.isDirectory() && !(await isFile(join(cheats, entry.name, "solve.sh")))) {
        found.push(warning(`cheats/${entry.name}`, 1, `The cheat ${entry.name} has no solve.sh and is not rehearsed.`));
      }
    }
  }
  return found;
}

/** Bytes that are no UTF-8 are read as replacement characters: these are warnings, not verdicts. */
async function readText(files: PackageFiles, file: string): Promise<string> {
  return readFile(join(files.root, file), "utf8");
}
