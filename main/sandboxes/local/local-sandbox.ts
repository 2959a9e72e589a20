/** One local sandbox. It starts at its first use, so that `provide` can still add a mount. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ExecRequest, ExecResult, HarnessMount, IsolationReport, Sandbox, SandboxProgram, SandboxRequest } from "../contract.ts";
import { checkExecStrings } from "../exec-strings.ts";
import { checkHarness } from "../harness-mount.ts";
import { modelBaseHost } from "../proxy-link.ts";
import { sandboxError, sandboxLost } from "../sandbox-error.ts";
import { downloadFrom, type TarEnds, uploadInto, writeInto } from "../transfer.ts";
import { type BoxRecord, createBoxFolder, removeTree, writeBoxRecord } from "./box-folder.ts";
import { isBelowWritableFolder } from "./bubblewrap.ts";
import { type BoxCgroups, type BoxLimits, type CgroupRoot, createCgroups, removeCgroups } from "./cgroups.ts";
import { type BoxIdentity, chooseIdentity } from "./identity.ts";
import { type ExecPlace, execInside, type RunningExec, startInside } from "./local-exec.ts";
import { type ModelPort, openModelPort } from "./model-port.ts";
import { startNamespace } from "./namespace.ts";

export interface LocalSandboxOptions {
  readonly request: SandboxRequest;
  readonly stateFolder: string;
  readonly cgroupRoot: CgroupRoot | null;
  readonly limits: BoxLimits;
  readonly storageMb: number | null;
  readonly isolation: IsolationReport;
  readonly fingerprint: Readonly<Record<string, string>>;
  readonly onEnd: (sandbox: LocalSandbox) => void;
}

const standardEnvironment = {
  PATH: "/opt/openforge/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/home/agent",
  USER: "agent",
  LOGNAME: "agent",
  SHELL: "/bin/sh",
  LANG: "C.UTF-8",
  TZ: "UTC",
} as const;

/** Exit code of ours for "there is no such file", chosen away from those of tar and the shell. */
const missing = 44;

interface Started extends ExecPlace {
  readonly modelPort: ModelPort | null;
}

export class LocalSandbox implements Sandbox {
  readonly kind = "local";
  readonly isolation: IsolationReport;
  readonly fingerprint: Readonly<Record<string, string>>;
  readonly modelBaseHost: string | null;
  readonly rolloutId: string;
  readonly ownerId: string;
  readonly #options: LocalSandboxOptions;
  readonly #folder: string;
  readonly #record: BoxRecord;
  readonly #identity: BoxIdentity;
  readonly #cgroups: BoxCgroups | null;
  readonly #running = new Set<RunningExec>();
  #harness: HarnessMount | null = null;
  #started: Promise<Started> | null = null;
  #ended: Promise<void> | null = null;

  private constructor(options: LocalSandboxOptions, folder: string, record: BoxRecord, identity: BoxIdentity, cgroups: BoxCgroups | null) {
    this.#options = options;
    this.#folder = folder;
    this.#record = record;
    this.#identity = identity;
    this.#cgroups = cgroups;
    this.isolation = options.isolation;
    this.fingerprint = options.fingerprint;
    this.rolloutId = record.rolloutId;
    this.ownerId = record.ownerId;
    this.modelBaseHost = options.request.proxySocket === null ? null : modelBaseHost;
  }

  static async create(options: LocalSandboxOptions): Promise<LocalSandbox> {
    const identity = chooseIdentity();
    const { ownerId, rolloutId } = options.request;
    const empty: BoxRecord = { ownerId, rolloutId, init: null, cgroups: [] };
    const folder = await createBoxFolder(options.stateFolder, empty, identity);
    try {
      const name = folder.slice(folder.lastIndexOf("/") + 1);
      const cgroups = options.cgroupRoot === null ? null : await createCgroups(options.cgroupRoot, name, options.limits);
      const record = { ...empty, cgroups: [...(cgroups?.folders ?? [])] };
      await writeBoxRecord(folder, record);
      return new LocalSandbox(options, folder, record, identity, cgroups);
    } catch (error) {
      await removeTree(folder);
      throw error;
    }
  }

  async provide(harness: HarnessMount): Promise<void> {
    if (this.#started !== null) {
      throw sandboxError("setup-failed", "The sandbox runs already; a harness can only be provided before its first use.", "Call provide first.");
    }
    await checkHarness(harness, this.#identity);
    this.#harness = harness;
  }

  async exec(request: ExecRequest, signal?: AbortSignal): Promise<ExecResult> {
    checkExecStrings(request);
    const place = await this.#place();
    const env = { ...standardEnvironment, ...request.env };
    return execInside(place, { ...request, env }, request.cwd ?? this.#options.request.workdir, this.#running, signal);
  }

  async start(request: Pick<ExecRequest, "command" | "env" | "cwd">): Promise<SandboxProgram> {
    checkExecStrings(request);
    const place = await this.#place();
    const env = { ...standardEnvironment, ...request.env };
    const exec = startInside(place, { ...request, env }, request.cwd ?? this.#options.request.workdir, true);
    const { stdin: input, stdout: output, stderr: errors } = exec.child;
    if (input === null || output === null || errors === null) throw new Error("a program was started without its streams");
    this.#running.add(exec);
    const ended = new Promise<void>((resolve) => {
      exec.child.once("error", () => resolve());
      exec.child.once("exit", () => resolve());
    }).then(() => void this.#running.delete(exec));
    return { input, output, errors, ended };
  }

  async upload(hostPath: string, insidePath: string): Promise<void> {
    await uploadInto(await this.#tarEnds(), hostPath, insidePath);
  }

  async writeFile(insidePath: string, bytes: Uint8Array, mode = 0o644): Promise<void> {
    await writeInto(await this.#tarEnds(), insidePath, bytes, mode);
  }

  async download(insidePath: string, hostPath: string): Promise<boolean> {
    return downloadFrom(await this.#tarEnds(), insidePath, hostPath);
  }

  async killAll(): Promise<void> {
    if (this.#started === null) return;
    const { namespace } = await this.#place();
    const running = [...this.#running];
    this.#running.clear();
    await Promise.all(running.map((exec) => exec.kill()));
    await namespace.killAll();
  }

  destroy(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    const started = await this.#started?.catch(() => null);
    started?.modelPort?.close();
    await started?.namespace.end();
    await removeCgroups(this.#record.cgroups);
    await removeTree(this.#folder);
    this.#options.onEnd(this);
  }

  async #place(): Promise<Started> {
    if (this.#ended !== null) throw sandboxLost("it was destroyed");
    this.#started ??= this.#start();
    const started = await this.#started;
    if (!started.namespace.alive) throw sandboxLost("its first process ended");
    return started;
  }

  async #start(): Promise<Started> {
    const { request, limits, storageMb } = this.#options;
    const cgroups = this.#cgroups;
    const namespace = await startNamespace({
      folder: this.#folder,
      workdir: request.workdir,
      harness: this.#harness?.hostFolder ?? null,
      identity: this.#identity,
      cgroups: cgroups?.folders ?? [],
    });
    await writeBoxRecord(this.#folder, { ...this.#record, init: namespace.init });
    const ofProcess = cgroups === null ? [`--data=${limits.memoryMb * 1024 ** 2}`, `--nproc=${limits.processes}`] : [];
    const ofFile = storageMb === null ? [] : [`--fsize=${storageMb * 1024 ** 2}`];
    const place: ExecPlace = { namespace, cgroups, processLimits: [...ofProcess, ...ofFile] };
    try {
      const [modelPort] = await Promise.all([
        request.proxySocket === null ? null : openModelPort(namespace.enterNetwork, request.proxySocket),
        isBelowWritableFolder(request.workdir) ? finished(startInside(place, { command: ["mkdir", "-p", "--", request.workdir] }, "/", false)) : null,
      ]);
      return { ...place, modelPort };
    } catch (error) {
      await namespace.end();
      throw error;
    }
  }

  async #tarEnds(): Promise<TarEnds> {
    const place = await this.#place();
    const run = (script: string, path: string, withInput: boolean): RunningExec =>
      startInside(place, { command: ["/bin/sh", "-c", script, "sh", path], env: standardEnvironment }, "/", withInput);
    return {
      owner: { uid: 1000, gid: 1000 },
      unpackInside: async (folder, archive) => {
        const exec = run('mkdir -p -- "$1" && exec tar -x -p -f - --no-same-owner -C "$1"', folder, true);
        const end = finished(exec);
        const { stdin } = exec.child;
        // When tar stops reading, its own complaint is the better one.
        const sent =
          stdin === null
            ? null
            : await pipeline(Readable.from(archive), stdin).then(
                () => null,
                (error: unknown) => error,
              );
        const { code, complaint } = await end;
        if (code === 0 && sent !== null) throw sent;
        if (code !== 0)
          throw sandboxError("setup-failed", `Files could not be copied to ${folder}: ${complaint}.`, "Use a writable folder with room.");
      },
      packInside: async (path) => {
        const found = await finished(run(`[ -e "$1" ] || exit ${missing}`, path, false));
        if (found.code === missing) return null;
        const exec = run('cd "$(dirname -- "$1")" && exec tar -c -f - --ignore-failed-read -- "$(basename -- "$1")"', path, false);
        const archive = exec.child.stdout;
        if (archive === null) return null;
        return { archive, done: finished(exec).then(() => undefined) };
      },
    };
  }
}

async function finished(exec: RunningExec): Promise<{ readonly code: number | null; readonly complaint: string }> {
  let complaint = "";
  exec.child.stderr?.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-500);
  });
  return new Promise((resolve, reject) => {
    exec.child.once("error", reject);
    exec.child.once("exit", (code) => resolve({ code, complaint: complaint.trim().replaceAll("\n", "; ") }));
  });
}
