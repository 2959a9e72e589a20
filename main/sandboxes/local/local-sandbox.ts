/** One local sandbox. It starts at its first use, so that `provide` can still add a mount. */
import type {
  DirectFiles,
  ExecRequest,
  ExecResult,
  HarnessMount,
  IsolationReport,
  NetworkPolicy,
  Sandbox,
  SandboxProgram,
  SandboxRequest,
  UploadEntry,
} from "../contract.ts";
import type { Resolve } from "../egress/destination.ts";
import { type EgressProxy, openEgressProxy } from "../egress/egress-proxy.ts";
import { egressPort, listedHosts, proxyVariables } from "../egress/proxy-variables.ts";
import { checkExecStrings } from "../exec-strings.ts";
import { checkHarness } from "../harness-mount.ts";
import { copyEntriesIn, copyIn, copyOut, writeIn } from "../host-files/box-copy.ts";
import { type FileOwner, makeFolder, withFolder } from "../host-files/box-tree.ts";
import { directFiles } from "../host-files/direct-files.ts";
import type { ProcessIdentity } from "../host-processes.ts";
import { modelBaseHost } from "../proxy-link.ts";
import { sandboxError, sandboxLost, unavailable } from "../sandbox-error.ts";
import { absoluteInside } from "../transfer-limits.ts";
import type { BaseRoot, RootShape } from "./base-root.ts";
import { type BoxRecord, boxName, createBoxFolder, writeBoxRecord } from "./box-folder.ts";
import type { BoxPlace } from "./box-places.ts";
import { isBelowWritableFolder, isInWritableFolder } from "./bubblewrap.ts";
import { type BoxCgroups, type BoxLimits, type CgroupRoot, cgroupFolders, createCgroups, removeCgroups } from "./cgroups.ts";
import { type BoxIdentity, chooseIdentity } from "./identity.ts";
import { type InsidePort, openInsidePort } from "./inside-port.ts";
import type { Launcher } from "./launcher.ts";
import { type ExecPlace, execInside, type RunningExec, standardEnvironment, startInside } from "./local-exec.ts";
import { openModelPort } from "./model-port.ts";
import { startNamespace } from "./namespace.ts";
import type { SystemTools } from "./system-tools.ts";

export interface LocalSandboxOptions {
  readonly request: SandboxRequest & { readonly workdir: string };
  readonly place: BoxPlace;
  readonly tools: SystemTools;
  readonly cgroupRoot: CgroupRoot | null;
  readonly limits: BoxLimits;
  readonly storageMb: number | null;
  readonly isolation: IsolationReport;
  readonly fingerprint: Readonly<Record<string, string>>;
  launcher(): Promise<Launcher>;
  baseRoot(shape: RootShape): BaseRoot;
  readonly resolve: Resolve;
  readonly onEnd: (sandbox: LocalSandbox) => void;
}

interface Started extends ExecPlace {
  readonly ports: readonly InsidePort[];
}

export class LocalSandbox implements Sandbox {
  readonly kind = "local";
  readonly isolation: IsolationReport;
  readonly fingerprint: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly modelBaseHost: string | null;
  readonly direct: DirectFiles;
  readonly rolloutId: string;
  readonly ownerId: string;
  readonly #options: LocalSandboxOptions;
  readonly #folder: string;
  readonly #record: BoxRecord;
  readonly #identity: BoxIdentity;
  readonly #cgroups: BoxCgroups | null;
  readonly #fileOwner: FileOwner;
  readonly #running = new Set<RunningExec>();
  /** The only way out but the model; null = there never is one. */
  readonly #egress: EgressProxy | null;
  #harness: HarnessMount | null = null;
  #started: Promise<Started> | null = null;
  #ended: Promise<void> | null = null;

  private constructor(options: LocalSandboxOptions, folder: string, record: BoxRecord, identity: BoxIdentity, cgroups: BoxCgroups | null) {
    this.#options = options;
    this.#folder = folder;
    this.#record = record;
    this.#identity = identity;
    this.#cgroups = cgroups;
    this.#fileOwner = identity.lent ? identity : null;
    const { network, laterNetworks = [], onConnection } = options.request;
    const listed = [network, ...laterNetworks].some(({ mode }) => mode === "allowlist");
    this.#egress = listed ? openEgressProxy({ allowedHosts: listedHosts(network), onConnection, resolve: options.resolve }) : null;
    this.isolation = options.isolation;
    this.fingerprint = options.fingerprint;
    this.workdir = options.request.workdir;
    this.rolloutId = record.rolloutId;
    this.ownerId = record.ownerId;
    this.modelBaseHost = options.request.proxySocket === null ? null : modelBaseHost;
    // Every folder of the search path is the system's, and read-only inside.
    const path = (standardEnvironment.PATH ?? "").split(":");
    this.direct = directFiles(
      () => this.#firstProcess(),
      this.#fileOwner,
      async () => ({ path, replaced: [] }),
    );
  }

  static async create(options: LocalSandboxOptions): Promise<LocalSandbox> {
    const { cgroupRoot, limits, request, place } = options;
    const identity = chooseIdentity();
    const name = boxName();
    const cgroups = cgroupRoot === null ? [] : cgroupFolders(cgroupRoot, name, limits.cpus !== null);
    const record: BoxRecord = { ownerId: request.ownerId, rolloutId: request.rolloutId, init: null, cgroups: [...cgroups] };
    const folder = createBoxFolder(place.boxes, name, record, identity, !isInWritableFolder(request.workdir));
    try {
      return new LocalSandbox(options, folder, record, identity, cgroupRoot === null ? null : createCgroups(cgroupRoot, name, limits));
    } catch (error) {
      await removeCgroups(cgroups);
      place.trash.take(folder);
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
    const cwd = request.cwd ?? this.workdir;
    if (!(await withFolder(place.namespace.init, cwd, (folder) => folder !== null))) {
      throw sandboxError(
        "setup-failed",
        `The command cannot run in ${cwd}: there is no such folder.`,
        "Check the working folder that the task names.",
      );
    }
    return execInside(place, request, cwd, this.#running, signal);
  }

  async useNetwork(network: NetworkPolicy): Promise<void> {
    if (network.mode === "public" || (network.mode === "allowlist" && this.#egress === null)) {
      throw unavailable(`The local sandbox was not made for the network mode ${network.mode}.`, "Use --sandbox docker.");
    }
    this.#egress?.allow(listedHosts(network));
  }

  async start({ command, env, cwd }: Pick<ExecRequest, "command" | "env" | "cwd">): Promise<SandboxProgram> {
    checkExecStrings({ command, ...(env === undefined ? {} : { env }) });
    return startInside(await this.#place(), { command, env: env ?? {} }, cwd ?? this.workdir, this.#running);
  }

  async upload(hostPath: string, insidePath: string): Promise<void> {
    const inside = absoluteInside(insidePath);
    await copyIn(await this.#firstProcess(), this.#fileOwner, hostPath, inside);
  }

  async uploadEntries(entries: readonly UploadEntry[], insideFolder: string): Promise<void> {
    const inside = absoluteInside(insideFolder);
    await copyEntriesIn(await this.#firstProcess(), this.#fileOwner, entries, inside);
  }

  async writeFile(insidePath: string, bytes: Uint8Array, mode = 0o644): Promise<void> {
    const inside = absoluteInside(insidePath);
    await writeIn(await this.#firstProcess(), this.#fileOwner, inside, bytes, mode);
  }

  async download(insidePath: string, hostPath: string): Promise<boolean> {
    const inside = absoluteInside(insidePath);
    return copyOut(await this.#firstProcess(), inside, hostPath);
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
    for (const port of started?.ports ?? []) port.close();
    this.#egress?.close();
    await started?.namespace.end();
    await removeCgroups(this.#record.cgroups);
    this.#options.place.trash.take(this.#folder);
    this.#options.onEnd(this);
  }

  async #firstProcess(): Promise<ProcessIdentity> {
    return (await this.#place()).namespace.init;
  }

  async #place(): Promise<Started> {
    if (this.#ended !== null) throw sandboxLost("it was destroyed");
    this.#started ??= this.#start();
    const started = await this.#started;
    if (!started.namespace.alive) throw sandboxLost("its first process ended");
    return started;
  }

  async #start(): Promise<Started> {
    const { request, limits, place, storageMb, tools } = this.#options;
    const { workdir, proxySocket } = request;
    const cgroups = this.#cgroups;
    const launcher = await this.#options.launcher();
    const namespace = await startNamespace({
      launcher,
      tools,
      root: this.#options.baseRoot({ harness: this.#harness !== null, workdir: isInWritableFolder(workdir) ? null : workdir }),
      folder: this.#folder,
      workdir,
      harness: this.#harness?.hostFolder ?? null,
      identity: this.#identity,
      cgroups: cgroups?.folders ?? [],
    });
    writeBoxRecord(this.#folder, { ...this.#record, init: namespace.init });
    const ofProcess = cgroups === null ? [`--data=${limits.memoryMb * 1024 ** 2}`, `--nproc=${limits.processes}`] : [];
    // In memory it is the group that limits them, and a command starts without a further program.
    const limitsFiles = storageMb !== null && !(place.inMemory && cgroups !== null);
    const ofFile = limitsFiles ? [`--fsize=${storageMb * 1024 ** 2}`] : [];
    try {
      if (isBelowWritableFolder(workdir)) {
        const make = (parent: Parameters<typeof makeFolder>[0], name: string): void => makeFolder(parent, name, this.#fileOwner);
        await withFolder(namespace.init, workdir, () => undefined, { make });
      }
      const { enterNetwork } = namespace;
      const egress = this.#egress;
      const ports = await Promise.all([
        ...(proxySocket === null ? [] : [openModelPort(launcher, enterNetwork, proxySocket)]),
        ...(egress === null ? [] : [openInsidePort(launcher, enterNetwork, egressPort, (socket) => egress.accept(socket))]),
      ]);
      const environment = { ...standardEnvironment, ...(egress === null ? {} : proxyVariables()) };
      return { launcher, tools, namespace, cgroups, environment, processLimits: [...ofProcess, ...ofFile], ports };
    } catch (error) {
      await namespace.end();
      throw error;
    }
  }
}
