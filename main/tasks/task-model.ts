/** From what task.toml sets to what the rest of the service works with: defaults filled in, seconds turned to milliseconds. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxLimits } from "../sandboxes/index.ts";
import type { Healthcheck, McpServer, Task, TaskNetwork, VerifierBox } from "./contract.ts";
import type { EnvironmentConfig, TaskConfig } from "./harbor/task-config.ts";
import type { OpenforgeMetadata } from "./openforge-metadata.ts";
import { lastWorkdir } from "./package/dockerfile.ts";
import { isFile } from "./package/file-system.ts";
import { withoutCanary } from "./package/instruction-text.ts";
import { type PackageFiles, readPackageText } from "./package/package-files.ts";
import { cheatNames, type PackageLayout, verifierImage } from "./package/package-layout.ts";
import { defaultWorkdir } from "./task-sandbox.ts";

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

export async function buildTask(parts: TaskParts): Promise<Task> {
  const { files, config, metadata, layout } = parts;
  const environment = config.environment ?? {};
  const verifier = config.verifier ?? {};
  const dockerfile = await isFile(join(files.root, "environment/Dockerfile"));
  const workdir = environment.workdir ?? (dockerfile ? lastWorkdir(await readPackageText(files.root, "environment/Dockerfile")) : null);
  const box = await verifierBox(files, config);
  return {
    path: files.root,
    name: config.task?.name ?? parts.folderName,
    digest: parts.digest,
    checksum: parts.checksum,
    instruction: withoutCanary(layout.instruction),
    description: config.task?.description || null,
    family: metadata.family ?? null,
    agent: {
      timeoutMs: limitMs(config.agent?.timeout_sec),
      user: userText(config.agent?.user),
      network: networkOf(config.agent, environment),
    },
    verifier: {
      timeoutMs: limitMs(verifier.timeout_sec) ?? defaultVerifierMs,
      user: userText(verifier.user),
      env: verifier.env ?? {},
      network: networkOf(verifier, environment),
      separate: box !== null,
      box,
      cwd: metadata.verifier_cwd ?? (await usualCwd(files, layout, workdir ?? defaultWorkdir)),
      cwdDeclared: metadata.verifier_cwd !== undefined,
    },
    solutionEnv: config.solution?.env ?? {},
    environment: {
      dockerImage: environment.docker_image || null,
      dockerfile,
      compose: await isFile(join(files.root, "environment/docker-compose.yaml")),
      buildTimeoutMs: limitMs(environment.build_timeout_sec) ?? defaultBuildMs,
      cpus: positive(environment.cpus),
      memoryMb: positive(environment.memory_mb),
      storageMb: positive(environment.storage_mb),
      workdir,
      os: environment.os ?? "linux",
      healthcheck: healthcheckOf(environment.healthcheck),
      env: environment.env ?? {},
      mcpServers: (environment.mcp_servers ?? []).map(mcpServerOf),
      initialFiles: metadata.initial_state?.files ?? null,
    },
    steps: (config.steps ?? []).map((step) => step.name),
    artifacts: (config.artifacts ?? []).map((entry) =>
      typeof entry === "string" ? { source: entry, destination: null } : { source: entry.source, destination: entry.destination ?? null },
    ),
    hasSolution: layout.solutions.length > 0,
    cheats: await cheatNames(files.root),
    rewardKey: metadata.reward_key ?? null,
    maxReward: metadata.max_reward ?? 1,
    secrets: metadata.secrets ?? [],
    runsUnisolated: metadata.runs_unisolated ?? false,
    requiredTools: metadata.required_tools ?? [],
  };
}

/** A limit of zero, less or no number limits nothing here; `check` warns of it. */
const positive = (value: number | undefined): number | null => (value !== undefined && Number.isFinite(value) && value > 0 ? value : null);

function limitMs(seconds: number | undefined): number | null {
  const value = positive(seconds);
  return value === null ? null : Math.ceil(value * 1000);
}

const userText = (user: string | number | undefined): string | null => (user === undefined || user === "" ? null : String(user));

type NetworkSource = Pick<EnvironmentConfig, "network_mode" | "allowed_hosts"> | undefined;

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

async function verifierBox(files: PackageFiles, config: TaskConfig): Promise<VerifierBox | null> {
  const image = (config.steps ?? []).length > 0 ? null : await verifierImage(files, config);
  if (image === null) return null;
  const environment = config.verifier?.environment ?? config.environment ?? {};
  return {
    dockerImage: image.dockerImage || null,
    buildFolder: image.folder !== null && (await isFile(join(files.root, image.folder, "Dockerfile"))) ? image.folder : null,
    buildTimeoutMs: limitMs(environment.build_timeout_sec) ?? defaultBuildMs,
    testsInImage: image.bundledTests,
    network: networkOf(config.verifier, environment),
    limits: limitsOf(environment),
    workdir: environment.workdir ?? null,
    env: environment.env ?? {},
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
async function usualCwd(files: PackageFiles, layout: PackageLayout, workdir: string): Promise<"tests" | "workdir"> {
  if (!layout.testScripts.some(({ file }) => file.startsWith("tests/"))) return "tests";
  for (const path of await files.select(join(files.root, "tests"))) {
    if ((await isFile(path)) && (await readFile(path)).includes(workdir)) return "tests";
  }
  return "workdir";
}
