/** A Harbor task package as the rest of the service sees it: parsed once at the edge, plain values after. */
import type { NetworkMode, SandboxLimits } from "../sandboxes/index.ts";

export interface TaskFault {
  /** Path relative to the package. */
  readonly file: string;
  /** 1-based; 1 when the fault is the whole file. */
  readonly line: number;
  readonly severity: "error" | "warning";
  readonly message: string;
}

export interface TaskNetwork {
  readonly mode: NetworkMode;
  readonly allowedHosts: readonly string[];
  /** False when the package says nothing and Harbor's default (`public`) was taken; shown to the user. */
  readonly declared: boolean;
}

export interface McpServer {
  readonly name: string;
  readonly transport: "stdio" | "sse" | "streamable-http";
  readonly command: string | null;
  readonly args: readonly string[];
  readonly url: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Healthcheck {
  readonly command: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly startPeriodMs: number;
  readonly startIntervalMs: number;
  readonly retries: number;
}

/** The box of a verifier that does not share the agent's: only /logs/artifacts and declared artifacts are carried into it. */
export interface VerifierBox {
  readonly dockerImage: string | null;
  /** Folder with a Dockerfile, relative to the package; null when an image is named or none is needed. */
  readonly buildFolder: string | null;
  readonly buildTimeoutMs: number;
  /** The folder that holds docker-compose.yaml, relative to the package; null = there is none. */
  readonly composeFolder: string | null;
  readonly composeProblem: string | null;
  /** The image holds /tests; else the package's tests/ are uploaded. */
  readonly testsInImage: boolean;
  readonly network: TaskNetwork;
  readonly limits: SandboxLimits;
  readonly workdir: string | null;
  readonly env: Readonly<Record<string, string>>;
}

/** What is collected when the agent has ended, by absolute path or relative to the working folder. */
export interface TaskArtifact {
  readonly source: string;
  /** Below the rollout's artifacts; null = at its own path. */
  readonly destination: string | null;
  /** Patterns of names that are left out of a folder. */
  readonly exclude: readonly string[];
  /** Of a compose file; `main` is the agent's own. */
  readonly service: string;
}

/** A command run before artifacts are collected; its failure ends nothing. */
interface CollectHook {
  readonly command: string;
  readonly service: string;
  readonly timeoutMs: number;
  readonly user: string | null;
}

/** What one run of an agent is told, and how it is graded: a task of one step, or a step. */
export interface TaskPart {
  readonly instruction: string;
  readonly agent: { readonly timeoutMs: number | null; readonly user: string | null; readonly network: TaskNetwork };
  readonly verifier: {
    readonly timeoutMs: number;
    readonly user: string | null;
    readonly env: Readonly<Record<string, string>>;
    readonly network: TaskNetwork;
    readonly separate: boolean;
    /** Set exactly when `separate`. */
    readonly box: VerifierBox | null;
    /** Where the test script runs: `tests` = /tests, which the agent cannot have written; `workdir` = the agent's folder. */
    readonly cwd: "tests" | "workdir";
    /** The package says so itself; else it was concluded from what the tests name. */
    readonly cwdDeclared: boolean;
    readonly collect: readonly CollectHook[];
  };
  readonly artifacts: readonly TaskArtifact[];
  /** Folders of the package that become /tests, one over the other; only those that are there. */
  readonly testFolders: readonly string[];
  /** Folder of the package with the gold solve.sh, or null. */
  readonly solutionFolder: string | null;
}

/** One of several steps in one sandbox. Each has an agent run and a grading of its own. */
export interface TaskStep extends TaskPart {
  readonly name: string;
  /** Folder of the package whose content is copied into the working folder before the step, or null. */
  readonly workdirFolder: string | null;
  /** That folder holds setup.sh, which is run there. */
  readonly setup: boolean;
  readonly healthcheck: Healthcheck | null;
  /** What its rewards must reach, by name, for the next step to begin; null = nothing. */
  readonly minReward: Readonly<Record<string, number>> | null;
}

export interface Task extends TaskPart {
  /** Absolute folder. */
  readonly path: string;
  /** `org/name`, or the folder's name. */
  readonly name: string;
  /** `sha256:…`, Harbor's digest. */
  readonly digest: string;
  readonly checksum: string;
  readonly description: string | null;
  readonly family: string | null;
  readonly solutionEnv: Readonly<Record<string, string>>;
  readonly environment: {
    readonly dockerImage: string | null;
    /** There is a folder environment/ with something in it. */
    readonly files: boolean;
    readonly dockerfile: boolean;
    readonly compose: boolean;
    /** Its Dockerfile starts a program: an ENTRYPOINT. */
    readonly entrypoint: boolean;
    /** Why its compose file, or a verifier's, cannot be run, with file and line; null = nothing is wrong with it. */
    readonly composeProblem: string | null;
    readonly buildTimeoutMs: number;
    readonly cpus: number | null;
    readonly memoryMb: number | null;
    readonly storageMb: number | null;
    /** Graphics processors; null = none are asked for. */
    readonly gpus: number | null;
    readonly tpu: boolean;
    /** Folder inside the sandbox whose folders are skills for the agent, or null. */
    readonly skillsDir: string | null;
    /** From task.toml; null = where the image starts. */
    readonly workdir: string | null;
    /** What the compose file says of `main`, else the Dockerfile's last WORKDIR: the working folder where there is no image. */
    readonly imageWorkdir: string | null;
    readonly os: "linux" | "windows";
    readonly healthcheck: Healthcheck | null;
    /** Values as written: `resolveVariables` fills in `${VAR}`. */
    readonly env: Readonly<Record<string, string>>;
    readonly mcpServers: readonly McpServer[];
    /** Files that the environment folder copies into the workdir in a local sandbox (see docs/tasks.md). */
    readonly initialFiles: string | null;
  };
  /** Empty = a task of one step. Else the parts of the task itself are only what its steps inherit. */
  readonly steps: readonly TaskStep[];
  /** How the steps' rewards become the task's. */
  readonly rewardStrategy: "mean" | "final";
  /** There is a gold solution, of every step. */
  readonly hasSolution: boolean;
  readonly cheats: readonly string[];
  readonly rewardKey: string | null;
  readonly maxReward: number;
  /** Its verifier finds its places by OPENFORGE_ROOT and touches nothing else: it may run where nothing is isolated. */
  readonly runsUnisolated: boolean;
  /** Names of declared secrets; their values come from the service's environment. */
  readonly secrets: readonly string[];
  /** Tools that a good solution uses; programs where everything runs through a shell. */
  readonly requiredTools: readonly string[];
}

export interface TaskCheck {
  readonly path: string;
  readonly digest: string | null;
  readonly valid: boolean;
  readonly faults: readonly TaskFault[];
  readonly task: Task | null;
}
