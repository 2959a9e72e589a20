/**
 * A folder of this machine in place of a sandbox: nothing is isolated. Only for commands that were checked before (the allow-list) and for
 * verifiers of tasks that were made for it. `OPENFORGE_ROOT` tells those where `/app`, `/logs` and `/tests` are.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type {
  DirectFiles,
  ExecRequest,
  ExecResult,
  HarnessMount,
  IsolationReport,
  NetworkPolicy,
  Sandbox,
  SandboxProgram,
  UploadEntry,
} from "../contract.ts";
import { insidePaths } from "../contract.ts";
import { checkExecStrings } from "../exec-strings.ts";
import { KeptOutput } from "../kept-output.ts";
import { sandboxError, unavailable } from "../sandbox-error.ts";
import { placeOf, requirePlace } from "./places.ts";
import { copyEntries, copyPlain, plainFiles, writePlain } from "./plain-files.ts";

const isolation: IsolationReport = {
  files: "none: commands run as this user, in a folder of their own; only those of the allow-list, which can name nothing outside it",
  network: "none: no allowed command opens a connection",
  processes: "none: no allowed command starts another",
  limits: "a file of 64 MB, 60 s of CPU a command; memory and processes not limited",
};
/** 512-byte blocks and seconds; then the command. */
const limited = ["/bin/sh", "-c", 'ulimit -f 131072 -t 60 2>/dev/null; exec "$@"', "sh"] as const;
const lastWordsMs = 300;

export interface UnisolatedOptions {
  readonly folder: string;
  readonly workdir: string;
  readonly fingerprint: Readonly<Record<string, string>>;
  onEnd(): void;
}

export class UnisolatedSandbox implements Sandbox {
  readonly kind = "local";
  readonly isolation = isolation;
  readonly fingerprint: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly modelBaseHost = null;
  readonly direct: DirectFiles;
  readonly #options: UnisolatedOptions;
  readonly #running = new Set<ChildProcess>();
  #harness: HarnessMount | null = null;

  constructor(options: UnisolatedOptions) {
    this.#options = options;
    this.fingerprint = options.fingerprint;
    this.workdir = options.workdir;
    this.direct = plainFiles(options.folder);
  }

  async provide(harness: HarnessMount): Promise<void> {
    this.#harness = harness;
  }

  async useNetwork({ mode }: NetworkPolicy): Promise<void> {
    if (mode !== "no-network") throw unavailable("Without isolation there is no network to be given.", "Use --sandbox docker.");
  }

  async upload(hostPath: string, insidePath: string): Promise<void> {
    if (await copyPlain(hostPath, this.#place(insidePath))) return;
    throw sandboxError("setup-failed", `There is no ${hostPath} to copy.`, "Check the path.");
  }

  uploadEntries(entries: readonly UploadEntry[], insideFolder: string): Promise<void> {
    return copyEntries(entries, this.#place(insideFolder));
  }

  writeFile(insidePath: string, bytes: Uint8Array, mode = 0o644): Promise<void> {
    return writePlain(this.#place(insidePath), bytes, mode);
  }

  download(insidePath: string, hostPath: string): Promise<boolean> {
    return copyPlain(this.#place(insidePath), hostPath);
  }

  async exec(request: ExecRequest, signal?: AbortSignal): Promise<ExecResult> {
    signal?.throwIfAborted();
    checkExecStrings(request);
    const child = this.#spawn([...limited, ...request.command], request, request.stdin !== undefined);
    const output = new KeptOutput(request.outputLimitBytes, request.onOutput);
    child.stdout?.on("data", (chunk: Buffer) => output.push("stdout", chunk));
    child.stderr?.on("data", (chunk: Buffer) => output.push("stderr", chunk));
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(request.stdin);
    let killed = false;
    let timedOut = false;
    const kill = (): void => {
      killed = true;
      endGroup(child);
    };
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, request.timeoutMs);
    signal?.addEventListener("abort", kill, { once: true });
    try {
      const code = await exitOf(child);
      const closed = new Promise((resolve) => child.once("close", resolve));
      if (child.stdout?.closed !== true || child.stderr?.closed !== true) await Promise.race([closed, delay(lastWordsMs)]);
      signal?.throwIfAborted();
      const ended = !killed && this.#running.has(child);
      const kept = { stdout: output.bytes("stdout"), stderr: output.bytes("stderr"), droppedBytes: output.droppedBytes };
      return { exitCode: ended ? code : null, timedOut, ...kept, outOfMemory: false };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", kill);
      this.#running.delete(child);
    }
  }

  async start(request: Pick<ExecRequest, "command" | "env" | "cwd">): Promise<SandboxProgram> {
    const child = this.#spawn(request.command, request, true);
    const { stdin: input, stdout: output, stderr: errors } = child;
    if (input === null || output === null || errors === null) throw new Error("a program was started without its streams");
    return { input, output, errors, ended: exitOf(child).then(() => void this.#running.delete(child)) };
  }

  async killAll(): Promise<void> {
    const running = [...this.#running];
    this.#running.clear();
    for (const child of running) endGroup(child);
  }

  async destroy(): Promise<void> {
    await this.killAll();
    await rm(this.#options.folder, { recursive: true, force: true });
    this.#options.onEnd();
  }

  #place(inside: string): string {
    return requirePlace(this.#options.folder, inside);
  }

  /** What names a place of a sandbox, as a whole argument or value, becomes the place here. */
  #here(text: string): string {
    if (text === insidePaths.node) return process.execPath;
    if (this.#harness !== null && text.startsWith(`${insidePaths.harness}/`))
      return this.#harness.hostFolder + text.slice(insidePaths.harness.length);
    return placeOf(this.#options.folder, text) ?? text;
  }

  #spawn(given: readonly string[], { env, cwd }: Pick<ExecRequest, "env" | "cwd">, withInput: boolean): ChildProcess {
    const { folder } = this.#options;
    const settings = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/home/agent", LANG: "C.UTF-8", TZ: "UTC", ...env };
    const here = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, this.#here(value)]));
    const [program = "", ...args] = given.map((argument) => this.#here(argument));
    const child = spawn(program, args, {
      cwd: requirePlace(folder, cwd ?? this.workdir),
      env: { ...here, OPENFORGE_ROOT: folder },
      detached: true,
      stdio: [withInput ? "pipe" : "ignore", "pipe", "pipe"],
    });
    this.#running.add(child);
    return child;
  }
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code, signal) => resolve(code ?? (signal === null ? null : 128 + constants.signals[signal])));
    child.once("error", (error) =>
      reject(sandboxError("setup-failed", `The command could not be started: ${error.message}.`, "Run `openforge doctor`.")),
    );
  });
}
