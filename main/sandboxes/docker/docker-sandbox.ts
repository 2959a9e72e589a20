/** One Docker sandbox. Its container is created at its first use, so that `provide` can still add a mount. */
import { posix } from "node:path";
import type Docker from "dockerode";
import type {
  DirectFiles,
  ExecRequest,
  ExecResult,
  HarnessMount,
  IsolationReport,
  NetworkPolicy,
  Sandbox,
  SandboxRequest,
  SandboxServices,
  UploadEntry,
} from "../contract.ts";
import { listedHosts, proxyVariables } from "../egress/proxy-variables.ts";
import { checkExecStrings } from "../exec-strings.ts";
import { checkHarness } from "../harness-mount.ts";
import { copyEntriesIn, copyIn, copyOut, writeIn } from "../host-files/box-copy.ts";
import { makeFolder as makePlace, type Place, withFolder } from "../host-files/box-tree.ts";
import { directFiles } from "../host-files/direct-files.ts";
import type { ProcessIdentity } from "../host-processes.ts";
import { modelBaseHost } from "../proxy-link.ts";
import { sandboxError, sandboxLost, unavailable } from "../sandbox-error.ts";
import { downloadFrom, type TarEnds, uploadInto, writeInto } from "../transfer.ts";
import { absoluteInside } from "../transfer-limits.ts";
import { createContainer, emptyContainer, isEverPublic, type Residents, removeContainer, residentsOf, startContainer } from "./container.ts";
import { archivesOf, makeFolder } from "./container-archives.ts";
import { type ContainerExecResult, execInContainer, runInside } from "./docker-exec.ts";
import type { EgressLink } from "./egress-link.ts";
import { statusOf } from "./engine.ts";
import { endStrangers, processesOfContainer, reachableProcess, trustedPrograms } from "./host-access.ts";
import type { ImageFacts } from "./image-facts.ts";
import { egressLink, modelLink, outOfMemorySource } from "./inside-programs.ts";
import { switchPublic } from "./networks.ts";
import { type OwnProgram, RunningProgram } from "./own-program.ts";
import type { ComposeRun } from "./project/compose-run.ts";
import { healthcheckOfMain, waitUntilHealthy } from "./project/main-health.ts";
import { withStagedEntries } from "./staged-entries.ts";

export interface DockerSandboxOptions {
  readonly docker: Docker;
  readonly request: SandboxRequest;
  readonly facts: ImageFacts;
  readonly workdir: string;
  readonly isolation: IsolationReport;
  readonly fingerprint: Readonly<Record<string, string>>;
  /** Null when no network of the request is a list of hosts. Closed by the sandbox. */
  readonly egress: EgressLink | null;
  /** What the image itself starts, where it starts anything. */
  readonly program: OwnProgram | null;
  /** The services beside it, where there are any; they end with the sandbox. */
  readonly project: ComposeRun | null;
}

/** What the image itself started, by the two ways to look at a container; see `residentsOf` and `endStrangers`. */
interface Settled {
  readonly program: RunningProgram;
  readonly residents: Residents | null;
  readonly reached: ReadonlyMap<number, string>;
}

export class DockerSandbox implements Sandbox {
  readonly kind = "docker";
  readonly isolation: IsolationReport;
  readonly fingerprint: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly modelBaseHost: string | null;
  readonly services?: SandboxServices;
  readonly #options: DockerSandboxOptions;
  readonly #running = new Set<object>();
  #harness: HarnessMount | null = null;
  #started: Promise<Docker.Container> | null = null;
  #ended: Promise<void> | null = null;
  #ours: ReadonlySet<string> = new Set();
  #outOfMemoryKills = 0;
  /** The end of the last emptying, which freezes the container. */
  #emptying: Promise<void> = Promise.resolve();
  #isPublic: boolean;
  /** First process by which the files are reached; null where they are not. */
  #reached: ProcessIdentity | null = null;
  #settled: Settled | null = null;

  constructor(options: DockerSandboxOptions) {
    this.#options = options;
    this.isolation = options.isolation;
    if (options.project !== null) this.services = options.project;
    this.#isPublic = options.request.network.mode === "public";
    this.fingerprint = options.fingerprint;
    this.workdir = options.workdir;
    this.modelBaseHost = options.request.proxySocket === null ? null : modelBaseHost;
  }

  get direct(): DirectFiles | null {
    if (this.#reached === null) return null;
    const { facts } = this.#options;
    const first = async (): Promise<ProcessIdentity> => {
      if (this.#reached === null) throw sandboxLost("it was emptied meanwhile");
      return this.#reached;
    };
    return directFiles(first, facts, async (workdir) => trustedPrograms(await first(), facts, workdir));
  }

  async provide(harness: HarnessMount): Promise<void> {
    if (this.#started !== null) {
      throw sandboxError("setup-failed", "The sandbox runs already; a harness can only be provided before its first use.", "Call provide first.");
    }
    await checkHarness(harness, this.#options.facts);
    this.#harness = harness;
  }

  async exec(request: ExecRequest, signal?: AbortSignal): Promise<ExecResult> {
    checkExecStrings(request);
    const container = await this.#container();
    await this.#emptying;
    const ticket = {};
    this.#running.add(ticket);
    try {
      const place = { cwd: request.cwd ?? this.workdir, user: request.user ?? this.#options.facts.user };
      const result = await execInContainer(
        container,
        { ...request, ...place, wasKilled: () => !this.#running.has(ticket), killEverything: () => this.#empty(container) },
        signal,
      );
      return { ...result, outOfMemory: await this.#ranOutOfMemory(container, result) };
    } finally {
      this.#running.delete(ticket);
    }
  }

  async upload(hostPath: string, insidePath: string): Promise<void> {
    const container = await this.#container();
    if (this.#reached === null) await uploadInto(this.#archives(container), hostPath, insidePath);
    else await copyIn(this.#reached, this.#options.facts, hostPath, absoluteInside(insidePath));
  }

  async uploadEntries(entries: readonly UploadEntry[], insideFolder: string): Promise<void> {
    await this.#container();
    if (this.#reached === null) await withStagedEntries(entries, (staged) => this.upload(staged, insideFolder));
    else await copyEntriesIn(this.#reached, this.#options.facts, entries, absoluteInside(insideFolder));
  }

  async writeFile(insidePath: string, bytes: Uint8Array, mode = 0o644): Promise<void> {
    const container = await this.#container();
    if (this.#reached === null) await writeInto(this.#archives(container), insidePath, bytes, mode);
    else await writeIn(this.#reached, this.#options.facts, absoluteInside(insidePath), bytes, mode);
  }

  async download(insidePath: string, hostPath: string): Promise<boolean> {
    const container = await this.#container();
    if (this.#reached === null) return downloadFrom(this.#archives(container), insidePath, hostPath);
    return copyOut(this.#reached, absoluteInside(insidePath), hostPath);
  }

  async useNetwork(network: NetworkPolicy): Promise<void> {
    const { docker, egress, request, project } = this.#options;
    const isPublic = network.mode === "public";
    if ((network.mode === "allowlist" && egress === null) || (isPublic && !isEverPublic(request))) {
      throw unavailable(`The container was not made for the network mode ${network.mode}.`, "Name it when the sandbox is created.");
    }
    egress?.allow(listedHosts(network));
    const container = await this.#container();
    if (project !== null) await project.usePublic(isPublic);
    else if (isPublic !== this.#isPublic) await switchPublic(docker, container, isPublic, true);
    this.#isPublic = isPublic;
  }

  async killAll(): Promise<void> {
    if (this.#started === null) return;
    const container = await this.#container();
    this.#running.clear();
    await this.#empty(container);
  }

  #empty(container: Docker.Container): Promise<void> {
    const emptied = this.#endStrangers(container);
    this.#emptying = emptied.catch(() => undefined);
    return emptied;
  }

  async #endStrangers(container: Docker.Container): Promise<void> {
    try {
      if (this.#reached !== null && (await endStrangers(container, this.#reached, this.#ours, this.#settled?.reached ?? new Map()))) return;
    } catch (error) {
      // An engine that cannot freeze, or a container that has just ended: the slower way tells.
      if (statusOf(error) === null) throw error;
    }
    const residents = this.#settled === null ? { outside: new Map(), inside: "[]" } : this.#settled.residents;
    const { ours, restarted } = await emptyContainer(container, this.#ours, residents);
    this.#ours = ours;
    this.#reached = await reachableProcess(container);
    if (restarted && this.#settled !== null) await this.#startProgram(container);
  }

  /** Runs what the image itself starts and waits until it is ready, with its healthcheck. Nothing of the agent runs yet. */
  async #startProgram(container: Docker.Container): Promise<void> {
    const { facts, program, project, request } = this.#options;
    this.#settled?.program.close();
    this.#settled = null;
    const check = healthcheckOfMain(facts.healthcheck, project?.main.healthcheck ?? null);
    const running = program === null ? null : await RunningProgram.start(container, program, facts.user, request.environment ?? {});
    if (check === null) await running?.settled(facts.user);
    else await waitUntilHealthy(container, check, facts.user, async () => running?.requireAlive());
    if (running === null) return;
    const reached = this.#reached === null ? [] : processesOfContainer(this.#reached).filter(({ pid }) => !this.#ours.has(String(pid)));
    this.#settled = {
      program: running,
      // Nothing else needs to be told apart where the files are reached.
      residents: this.#reached === null ? await residentsOf(container, this.#ours, facts.user) : null,
      reached: new Map(reached.map(({ pid, startTime }) => [pid, startTime])),
    };
  }

  destroy(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    const container = await this.#started?.catch(() => null);
    await this.#options.egress?.close();
    this.#settled?.program.close();
    if (container) await removeContainer(container);
    await this.#options.project?.destroy();
  }

  async #container(): Promise<Docker.Container> {
    if (this.#ended !== null) throw sandboxLost("it was destroyed");
    this.#started ??= this.#start();
    return this.#started;
  }

  async #start(): Promise<Docker.Container> {
    const { docker, request, facts, egress, project, program } = this.#options;
    const container = await createContainer(docker, {
      ...{ request, facts, harnessFolder: this.#harness?.hostFolder ?? null },
      links: [
        ...(request.proxySocket === null ? [] : [modelLink(request.proxySocket)]),
        ...(egress === null ? [] : [egressLink(egress.socket, (project?.names ?? []).length > 0)]),
      ],
      variables: { ...(egress === null ? {} : proxyVariables(project?.names)), ...project?.main.environment },
      hasProgram: program !== null && facts.uid === 0,
      project,
    });
    try {
      await project?.prepareMain(container);
      this.#ours = await startContainer(container);
      this.#reached = await reachableProcess(container);
      await this.#makePlace(container, this.workdir, 0o755);
      // Agent and verifier may be different accounts of the image.
      for (const name of ["agent", "verifier", "artifacts"]) await this.#makePlace(container, `/logs/${name}`, 0o777);
      await this.#startProgram(container);
      await project?.startRest(container);
      return container;
    } catch (error) {
      await removeContainer(container);
      throw error;
    }
  }

  /** What exists stays as it is. */
  async #makePlace(container: Docker.Container, path: string, mode: number): Promise<void> {
    const { facts } = this.#options;
    if (this.#reached === null) return makeFolder(container, path, mode, facts);
    const make = (parent: Place, name: string): void => makePlace(parent, name, facts, name === posix.basename(path) ? mode : 0o755);
    await withFolder(this.#reached, path, () => undefined, { make });
  }

  /** Asked only after a failure: a kill for want of memory leaves its trace in the box's counter. */
  async #ranOutOfMemory(container: Docker.Container, result: ContainerExecResult): Promise<boolean> {
    if (result.exitCode === 0 || result.timedOut) return false;
    // A command that was ended with all others is told of while the container is still frozen, and a frozen one runs nothing.
    await this.#emptying;
    const kills = Number.parseInt(await runInside(container, this.#options.facts.user, outOfMemorySource), 10);
    if (!(kills > this.#outOfMemoryKills)) return false;
    this.#outOfMemoryKills = kills;
    return true;
  }

  #archives(container: Docker.Container): TarEnds {
    return archivesOf(container, this.#options.facts);
  }
}
