/** A Harbor task package as the rest of the service sees it: parsed once at the edge, plain values after. */
import type { NetworkMode } from "../sandboxes/index.ts";

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

export interface Task {
  /** Absolute folder. */
  readonly path: string;
  /** `org/name`, or the folder's name. */
  readonly name: string;
  /** `sha256:…`, Harbor's digest. */
  readonly digest: string;
  readonly checksum: string;
  readonly instruction: string;
  readonly description: string | null;
  readonly family: string | null;
  readonly agent: { readonly timeoutMs: number | null; readonly user: string | null; readonly network: TaskNetwork };
  readonly verifier: {
    readonly timeoutMs: number;
    readonly user: string | null;
    readonly env: Readonly<Record<string, string>>;
    readonly network: TaskNetwork;
    readonly separate: boolean;
  };
  readonly solutionEnv: Readonly<Record<string, string>>;
  readonly environment: {
    readonly dockerImage: string | null;
    readonly dockerfile: boolean;
    readonly compose: boolean;
    readonly buildTimeoutMs: number;
    readonly cpus: number | null;
    readonly memoryMb: number | null;
    readonly storageMb: number | null;
    readonly workdir: string | null;
    readonly env: Readonly<Record<string, string>>;
    readonly mcpServers: readonly McpServer[];
    /** Files that the environment folder copies into the workdir in a local sandbox (see docs/tasks.md). */
    readonly initialFiles: string | null;
  };
  readonly steps: readonly string[];
  readonly artifacts: readonly { readonly source: string; readonly destination: string | null }[];
  readonly hasSolution: boolean;
  readonly cheats: readonly string[];
  readonly rewardKey: string | null;
  readonly maxReward: number;
  /** Names of declared secrets; their values come from the service's environment. */
  readonly secrets: readonly string[];
}

export interface TaskCheck {
  readonly path: string;
  readonly digest: string | null;
  readonly valid: boolean;
  readonly faults: readonly TaskFault[];
  readonly task: Task | null;
}
