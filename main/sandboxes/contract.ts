/**
 * One contract for every kind of sandbox. A kind that cannot enforce what is asked refuses with a SandboxError and a remedy;
 * it never runs weaker. One suite (`tests/contract/sandbox-contract.ts`) holds all kinds to it.
 */
import type { Readable, Writable } from "node:stream";

export type SandboxKind = "local" | "docker" | "kubernetes";
export type NetworkMode = "no-network" | "public" | "allowlist";

/** Where things are inside, in every kind. */
export const insidePaths = {
  /** The harness of `provide`, read-only. */
  harness: "/opt/harness",
  /** Working folder where neither a task nor an image names one. */
  work: "/app",
  /** The Node that the workbench brings; its folder is on PATH too (first in `local`, last where an image has its own PATH). */
  node: "/opt/openforge/bin/node",
} as const;

/** What a sandbox really isolates, in words for a person; stored with the rollout. */
export interface IsolationReport {
  readonly files: string;
  readonly network: string;
  readonly processes: string;
  readonly limits: string;
}

export interface SandboxLimits {
  readonly cpus?: number;
  readonly memoryMb?: number;
  readonly storageMb?: number;
  readonly processes?: number;
}

/** How the sandbox starts: the machine's own distribution (`host`; in Docker the base image), an image by name, or a build context with a Dockerfile. */
export type SingleImage =
  | { readonly kind: "host" }
  | { readonly kind: "image"; readonly reference: string }
  | { readonly kind: "build"; readonly contextFolder: string; readonly timeoutMs: number };

/** A compose project, whose service `main` is the box and whose other services run beside it. */
export interface ComposeImage {
  readonly kind: "compose";
  /** Host path of the compose file. Paths in it are relative to its folder. */
  readonly file: string;
  /** Host folder that nothing in the file may lead out of. */
  readonly root: string;
  /** What `main` starts from where the file does not say it. */
  readonly main: SingleImage;
  /** Values of `${VAR}` in the file. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Of one image. */
  readonly buildTimeoutMs: number;
}

export type SandboxImage = SingleImage | ComposeImage;

export interface NetworkPolicy {
  readonly mode: NetworkMode;
  /** With `allowlist`: host names, `*.suffix` (any name below it), addresses and CIDR ranges. */
  readonly allowedHosts: readonly string[];
}

/** One connection that something in a box asked the egress proxy for, told when it has ended. */
export interface EgressConnection {
  readonly host: string;
  readonly port: number;
  readonly allowed: boolean;
  /** Why it was refused or failed, in a sentence; null when it was made. */
  readonly reason: string | null;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly startedAt: number;
}

export interface SandboxRequest {
  readonly rolloutId: string;
  /** Names of this data folder's owner, so that the reaper never touches another service's boxes. */
  readonly ownerId: string;
  readonly image: SandboxImage;
  readonly network: NetworkPolicy;
  /** What `useNetwork` may be asked for later; the box is made so that it can. Default: none. */
  readonly laterNetworks?: readonly NetworkPolicy[];
  /** Hears of every connection through the egress proxy, of refused ones too. */
  readonly onConnection?: (connection: EgressConnection) => void;
  readonly limits: SandboxLimits;
  /** Working folder inside; created when missing. null = where the image itself starts, or `/app` without an image. */
  readonly workdir: string | null;
  /** Variables of the program that the image itself starts; commands bring their own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Host path of the rollout's proxy socket; null = no model access. Inside it is reached at `modelBaseHost`. */
  readonly proxySocket: string | null;
}

/** A harness made available inside: a host folder that appears read-only at `/opt/harness`. */
export interface HarnessMount {
  readonly hostFolder: string;
  /** Content key of the folder, so that a copy into an image happens once. */
  readonly version: string;
}

export interface ExecRequest {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** An account of the image, by name or number; left out = the image's own. A kind with one account (local) ignores it. */
  readonly user?: string;
  readonly stdin?: Uint8Array;
  /** Kill the whole process tree after this time. */
  readonly timeoutMs: number;
  /** Bytes of each stream kept and handed to `onOutput`; more is counted and dropped. */
  readonly outputLimitBytes: number;
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array) => void;
}

export interface ExecResult {
  /** null = unknown (killed, lost). Never guessed. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly droppedBytes: number;
  readonly outOfMemory: boolean;
}

/** A program that lives on inside, with its three streams open. */
export interface SandboxProgram {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** Resolves when it has ended, by itself or not. */
  readonly ended: Promise<void>;
}

/** One file or folder to be copied in under a name of its own, folders before what they hold. */
export interface UploadEntry {
  /** Relative to the folder that receives it, with forward slashes. */
  readonly name: string;
  /** Of a file; null = a folder. */
  readonly hostFile: string | null;
  readonly mode: number;
}

/** What is at a path; links are looked at, not through. */
export type PlainFile =
  | { readonly state: "missing" }
  | { readonly state: "file"; readonly bytes: Uint8Array }
  /** Not a plain file, or over the limit; `reason` completes "reward.json is …". */
  | { readonly state: "unreadable"; readonly reason: string };

/**
 * A box's files as the service itself reaches them, without a process inside. Meant for when nothing runs there. No link is followed,
 * wherever on a path it lies.
 */
export interface DirectFiles {
  /** Makes an empty folder of the box's user, whatever is there now; null, or a phrase on why it cannot be made. */
  freshFolder(path: string, mode: number): Promise<string | null>;
  /** Removes for good what the folder holds; one that is not there, or is no folder, is left so. A phrase on why it cannot be emptied, or null. */
  emptyFolder(path: string): Promise<string | null>;
  readPlain(path: string, limitBytes: number): Promise<PlainFile>;
  /** Bytes and number of entries below a folder; looks at no more than a little over `entryLimit` of them. */
  measure(path: string, entryLimit: number): Promise<{ readonly bytes: number; readonly entries: number }>;
  /** Search path without folders that the agent could write to, and programs of the system that were changed since the box was made. */
  programs(workdir: string): Promise<{ readonly path: readonly string[]; readonly replaced: readonly string[] }>;
}

/** The services beside `main` in a compose project, by the names that they have there. They live until the sandbox is destroyed. */
export interface SandboxServices {
  readonly names: readonly string[];
  /** The last of what a service said, both streams as they came; no more than `limitBytes`. */
  logs(service: string, limitBytes: number): Promise<Uint8Array>;
  /** In the service's own image, folder and account, unless told otherwise. */
  exec(service: string, request: ExecRequest, signal?: AbortSignal): Promise<ExecResult>;
  /** As `Sandbox.download`. */
  download(service: string, insidePath: string, hostPath: string): Promise<boolean>;
}

export interface Sandbox {
  readonly kind: SandboxKind;
  readonly isolation: IsolationReport;
  /** Image digest, distribution, kernel, locale …: what makes the environment reproducible. */
  readonly fingerprint: Readonly<Record<string, string>>;
  /** Working folder inside: as asked for, or as the image says. */
  readonly workdir: string;
  /** Base of every model URL as seen inside, e.g. `http://127.0.0.1:8790`; null when there is no proxy link. */
  readonly modelBaseHost: string | null;
  /** Null where only a process inside reaches the files. */
  readonly direct: DirectFiles | null;
  /** Absent where the box is alone. */
  readonly services?: SandboxServices;
  /** Makes a harness visible. A sandbox starts at its first use, and mounts are fixed then: call it before any exec or copy. */
  provide(harness: HarnessMount): Promise<void>;
  /** Copies a host file to, or the content of a host folder into, an absolute path inside; missing parents are made. */
  upload(hostPath: string, insidePath: string): Promise<void>;
  /** The same for chosen files, with chosen modes; existing ones are replaced. */
  uploadEntries(entries: readonly UploadEntry[], insideFolder: string): Promise<void>;
  writeFile(insidePath: string, bytes: Uint8Array, mode?: number): Promise<void>;
  /**
   * Copies a file to, or the content of a folder into, `hostPath`; a missing source is `false`, not an error.
   * Links are neither followed nor copied; a transfer over the size limit fails with a SandboxError.
   */
  download(insidePath: string, hostPath: string): Promise<boolean>;
  exec(request: ExecRequest, signal?: AbortSignal): Promise<ExecResult>;
  /** Starts a program that is talked to while it runs; it ends with `killAll` or the sandbox. Absent in a kind that cannot hold one. */
  start?(request: Pick<ExecRequest, "command" | "env" | "cwd">): Promise<SandboxProgram>;
  /**
   * From now on this network and no other; what was open through the old one ends. One of the request's networks, else it rejects. Call it
   * when nothing of the agent's runs.
   */
  useNetwork(network: NetworkPolicy): Promise<void>;
  /** Ends every process started by exec; resolves when none is left. A forwarder of ours survives, and what the image itself started. */
  killAll(): Promise<void>;
  /** Ends everything and removes all traces. Safe to call twice; rejects when it could not (an engine that is gone): the reaper then does it. */
  destroy(): Promise<void>;
}

export interface SandboxProvider {
  readonly kind: SandboxKind;
  /** Its sandboxes have `start`. */
  readonly holdsPrograms: boolean;
  /** False = nothing is isolated: only commands that the service has checked may run, and verifiers made for it. */
  readonly isolates: boolean;
  /** What is left where this kind cannot be had; never chosen by the kind itself. */
  readonly fallback?: SandboxProvider;
  /** Whether this machine can run it now; runs a probe, never guesses. */
  probe(): Promise<{ readonly ready: boolean; readonly detail: string; readonly remedy: string | null }>;
  create(request: SandboxRequest, onProgress: (line: string) => void, signal?: AbortSignal): Promise<Sandbox>;
  /** Removes every sandbox of this owner whose rollout is not in `keep`; returns the rollout ids it ended. */
  reap(ownerId: string, keep: ReadonlySet<string>): Promise<readonly string[]>;
}
