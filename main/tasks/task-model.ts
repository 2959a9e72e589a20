/** From what task.toml sets to what the rest of the service works with: defaults filled in, seconds turned to milliseconds. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { insidePaths, readCompose, type SandboxLimits } from "../sandboxes/index.ts";
import type { Healthcheck, McpServer, Task, TaskNetwork, TaskPart, TaskStep, VerifierBox } from "./contract.ts";
import { artifactOf, mainService } from "./harbor/artifact-entry.ts";
import type { EnvironmentConfig, StepConfig, TaskConfig } from "./harbor/task-config.ts";
import type { OpenforgeMetadata } from "./openforge-metadata.ts";
import { hasEntrypoint, lastWorkdir } from "./package/dockerfile.ts";
import { isFile, isFolder } from "./package/file-system.ts";
import { withoutCanary } from "./package/instruction-text.ts";
import { type PackageFiles, readPackageText } from "./package/package-files.ts";
import { cheatNames, type PackageLayout, verifierImage } from "./package/package-layout.ts";

export interface TaskParts {
  readonly files: PackageFiles;
  readonly folderName: string;
  readonly config: TaskConfig;
  readonly metadata: OpenforgeMetadata;
  readonly layout: PackageLayout;
  readonly digest: string;
  readonly checksum: string;
}

const defaultVerifierMs = 600_000;
const defaultBuildMs = 600_000;
const defaultCollectMs = 60_000;

export async function buildTask(parts: TaskParts): Promise<Task> {
  const { files, config, metadata, layout } = parts;
  const environment = config.environment ?? {};
  const dockerfile = await isFile(join(files.root, "environment/Dockerfile"));
  const compose = await readComposeOf(files.root, "environment");
  const instructions = dockerfile ? await readPackageText(files.root, "environment/Dockerfile") : "";
  const imageWorkdir = compose?.workdir ?? lastWorkdir(instructions);
  const place = { files, config, metadata, workdir: environment.workdir ?? imageWorkdir ?? insidePaths.work };
  const part = await partOf(place, withoutCanary(layout.instruction));
  const steps = await Promise.all((config.steps ?? []).map((step) => stepOf(place, step)));
  return {
    path: files.root,
    name: config.task?.name ?? parts.folderName,
    digest: parts.digest,
    checksum: parts.checksum,
    description: config.task?.description || null,
    family: metadata.family ?? null,
    ...part,
    solutionEnv: config.solution?.env ?? {},
    environment: {
      dockerImage: environment.docker_image || null,
      files: await holdsFiles(join(files.root, "environment")),
      dockerfile,
      compose: compose !== null,
      entrypoint: hasEntrypoint(instructions),
      composeProblem:
        compose?.problem ?? [part, ...steps].map(({ verifier }) => verifier.box?.composeProblem).find((problem) => problem != null) ?? null,
      buildTimeoutMs: limitMs(environment.build_timeout_sec) ?? defaultBuildMs,
      cpus: positive(environment.cpus),
      memoryMb: positive(environment.memory_mb),
      storageMb: positive(environment.storage_mb),
      gpus: positive(environment.gpus),
      tpu: environment.tpu !== undefined,
      skillsDir: environment.skills_dir || null,
      workdir: environment.workdir ?? null,
      imageWorkdir,
      os: environment.os ?? "linux",
      healthcheck: healthcheckOf(environment.healthcheck),
      env: environment.env ?? {},
      mcpServers: (environment.mcp_servers ?? []).map(mcpServerOf),
      initialFiles: metadata.initial_state?.files ?? null,
    },
    steps,
    rewardStrategy: config.multi_step_reward_strategy ?? "mean",
    hasSolution: (steps.length > 0 ? steps : [part]).every(({ solutionFolder }) => solutionFolder !== null),
    cheats: await cheatNames(files.root),
    rewardKey: metadata.reward_key ?? null,
    maxReward: metadata.max_reward ?? 1,
    secrets: metadata.secrets ?? [],
    runsUnisolated: metadata.runs_unisolated ?? false,
    requiredTools: metadata.required_tools ?? [],
  };
}

async function holdsFiles(folder: string): Promise<boolean> {
  return (await isFolder(folder)) && (await readdir(folder)).length > 0;
}

interface PartPlace {
  readonly files: PackageFiles;
  readonly config: TaskConfig;
  readonly metadata: OpenforgeMetadata;
  readonly workdir: string;
}

/** What the task says, or a step with what it inherits from the task: by Harbor's rules, field by field. */
async function partOf({ files, config, metadata, workdir }: PartPlace, instruction: string, step?: StepConfig): Promise<TaskPart> {
  const environment = config.environment ?? {};
  const verifier = config.verifier ?? {};
  const own = step?.verifier ?? {};
  const box = await verifierBox(files, config, step);
  const ofStep = (name: string): readonly string[] => (step === undefined ? [] : [`steps/${step.name}/${name}`]);
  const testFolders = await filter(["tests", ...ofStep("tests")], (folder) => isFolder(join(files.root, folder)));
  const solutions = await filter([...ofStep("solution"), "solution"], (folder) => isFile(join(files.root, folder, "solve.sh")));
  return {
    instruction,
    agent: {
      timeoutMs: limitMs(step?.agent?.timeout_sec) ?? limitMs(config.agent?.timeout_sec),
      user: userText(step?.agent?.user) ?? userText(config.agent?.user),
      network: networkOf(phaseOf(step?.agent, config.agent), environment),
    },
    verifier: {
      timeoutMs: limitMs(own.timeout_sec) ?? limitMs(verifier.timeout_sec) ?? defaultVerifierMs,
      user: userText(own.user) ?? userText(verifier.user),
      env: { ...verifier.env, ...own.env },
      network: networkOf(phaseOf(own, verifier), environment),
      separate: box !== null,
      box,
      cwd: metadata.verifier_cwd ?? (await usualCwd(files, box?.testsInImage ? [] : testFolders, workdir)),
      cwdDeclared: metadata.verifier_cwd !== undefined,
      collect: [...(verifier.collect ?? []), ...(own.collect ?? [])].map((hook) => ({
        command: hook.command,
        service: hook.service ?? mainService,
        timeoutMs: limitMs(hook.timeout_sec) ?? defaultCollectMs,
        user: userText(hook.user),
      })),
    },
    artifacts: [...(config.artifacts ?? []), ...(step?.artifacts ?? [])].map(artifactOf),
    testFolders,
    solutionFolder: solutions[0] ?? null,
  };
}

async function stepOf(place: PartPlace, step: StepConfig): Promise<TaskStep> {
  const { root } = place.files;
  const folder = `steps/${step.name}`;
  const instruction = withoutCanary(await readPackageText(root, `${folder}/instruction.md`));
  const workdirFolder = `${folder}/workdir`;
  return {
    ...(await partOf(place, instruction, step)),
    name: step.name,
    workdirFolder: (await isFolder(join(root, workdirFolder))) ? workdirFolder : null,
    setup: await isFile(join(root, workdirFolder, "setup.sh")),
    healthcheck: healthcheckOf(step.healthcheck),
    minReward: typeof step.min_reward === "number" ? { reward: step.min_reward } : (step.min_reward ?? null),
  };
}

/** A step as a task of one step in the same environment. */
function taskOfStep(task: Task, step: TaskStep): Task {
  const { name, workdirFolder, setup, healthcheck, minReward, ...part } = step;
  return { ...task, ...part, steps: [] };
}

/** The runs of an agent that a task asks for: one a step, or one. */
export function runsOf(task: Task): readonly { readonly step: TaskStep | null; readonly part: Task }[] {
  if (task.steps.length === 0) return [{ step: null, part: task }];
  return task.steps.map((step) => ({ step, part: taskOfStep(task, step) }));
}

async function filter(names: readonly string[], keep: (name: string) => Promise<boolean>): Promise<string[]> {
  const kept = await Promise.all(names.map(keep));
  return names.filter((_name, index) => kept[index]);
}

/** A limit of zero, less or no number limits nothing here; `check` warns of it. */
const positive = (value: number | undefined): number | null => (value !== undefined && Number.isFinite(value) && value > 0 ? value : null);

function limitMs(seconds: number | undefined): number | null {
  const value = positive(seconds);
  return value === null ? null : Math.ceil(value * 1000);
}

const userText = (user: string | number | undefined): string | null => (user === undefined || user === "" ? null : String(user));

type NetworkSource = Pick<EnvironmentConfig, "network_mode" | "allowed_hosts"> | undefined;

/** A step's phase counts before the task's when it names a mode. */
const phaseOf = (step: NetworkSource, task: NetworkSource): NetworkSource => (step?.network_mode === undefined ? task : step);

/** A phase's own mode, else the environment's, else Harbor's default. */
function networkOf(phase: NetworkSource, environment: NetworkSource): TaskNetwork {
  const source = phase?.network_mode === undefined ? environment : phase;
  return { mode: source?.network_mode ?? "public", allowedHosts: source?.allowed_hosts ?? [], declared: source?.network_mode !== undefined };
}

function limitsOf(environment: EnvironmentConfig): SandboxLimits {
  const cpus = positive(environment.cpus);
  const memoryMb = positive(environment.memory_mb);
  const storageMb = positive(environment.storage_mb);
  return { ...(cpus === null ? {} : { cpus }), ...(memoryMb === null ? {} : { memoryMb }), ...(storageMb === null ? {} : { storageMb }) };
}

async function verifierBox(files: PackageFiles, config: TaskConfig, step?: StepConfig): Promise<VerifierBox | null> {
  const image = await verifierImage(files, config, step);
  if (image === null) return null;
  const environment = step?.verifier?.environment ?? config.verifier?.environment ?? config.environment ?? {};
  const compose = image.folder === null ? null : await readComposeOf(files.root, image.folder);
  return {
    dockerImage: image.dockerImage || null,
    buildFolder: image.folder !== null && (await isFile(join(files.root, image.folder, "Dockerfile"))) ? image.folder : null,
    buildTimeoutMs: limitMs(environment.build_timeout_sec) ?? defaultBuildMs,
    composeFolder: compose === null ? null : image.folder,
    composeProblem: compose?.problem ?? null,
    testsInImage: image.bundledTests,
    network: networkOf(phaseOf(step?.verifier, config.verifier), environment),
    limits: limitsOf(environment),
    workdir: environment.workdir ?? null,
    env: environment.env ?? {},
  };
}

/** Of a folder's compose file: what is wrong with it, and where its agent works. Null = there is none. */
async function readComposeOf(root: string, folder: string): Promise<{ readonly problem: string | null; readonly workdir: string | null } | null> {
  const file = join(root, folder, "docker-compose.yaml");
  if (!(await isFile(file))) return null;
  const { project, problems } = await readCompose({ file, root, variables: null });
  const [problem] = problems;
  return {
    problem: problem === undefined ? null : `${folder}/docker-compose.yaml:${problem.line}: ${problem.message}`,
    workdir: project?.services.find(({ name }) => name === mainService)?.workingDir ?? null,
  };
}

function healthcheckOf(check: EnvironmentConfig["healthcheck"]): Healthcheck | null {
  if (check === undefined) return null;
  return {
    command: check.command,
    intervalMs: (check.interval_sec ?? 5) * 1000,
    timeoutMs: (check.timeout_sec ?? 30) * 1000,
    startPeriodMs: (check.start_period_sec ?? 0) * 1000,
    startIntervalMs: (check.start_interval_sec ?? 5) * 1000,
    retries: check.retries ?? 3,
  };
}

function mcpServerOf(server: NonNullable<EnvironmentConfig["mcp_servers"]>[number]): McpServer {
  return {
    name: server.name,
    transport: server.transport ?? "sse",
    command: server.command ?? null,
    args: server.args ?? [],
    url: server.url ?? null,
    headers: "headers" in server ? server.headers : {},
  };
}

/** A verifier whose files never name the agent's folder must mean it by relative paths, so it runs there as in Harbor. */
async function usualCwd(files: PackageFiles, testFolders: readonly string[], workdir: string): Promise<"tests" | "workdir"> {
  const scripts = await filter(testFolders, (folder) => isFile(join(files.root, folder, "test.sh")));
  if (scripts.length === 0) return "tests";
  for (const folder of testFolders) {
    for (const path of await files.select(join(files.root, folder))) {
      if ((await isFile(path)) && (await readFile(path)).includes(workdir)) return "tests";
    }
  }
  return "workdir";
}
