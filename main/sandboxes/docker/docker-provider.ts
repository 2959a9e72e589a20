/** The `docker` kind: one container a sandbox, on an engine of this machine. */
import { chmod } from "node:fs/promises";
import { posix } from "node:path";
import type Docker from "dockerode";
import { WorkbenchError } from "../../errors.ts";
import { type IsolationReport, insidePaths, type SandboxProvider, type SandboxRequest } from "../contract.ts";
import type { Resolve } from "../egress/destination.ts";
import { checkSocketPath } from "../proxy-link.ts";
import { unavailable } from "../sandbox-error.ts";
import { defaultLimits } from "../sandbox-limits.ts";
import { baseImage } from "./base-image.ts";
import { isEverPublic, labelsOf, ownerLabel, removeContainer, rolloutLabel } from "./container.ts";
import { DockerSandbox } from "./docker-sandbox.ts";
import { openEgressLink } from "./egress-link.ts";
import { answered, connectEngine, type Engine, requireEngine } from "./engine.ts";
import { examineImage, type ImageFacts } from "./image-facts.ts";
import { ImageSource } from "./images.ts";
import { ownProgramOf } from "./own-program.ts";
import { type PreparedProject, prepareProject, requestOfMain, startProject } from "./project/open-project.ts";
import { removeLeftPlaces } from "./project/project-place.ts";

interface Connected extends Engine {
  readonly images: ImageSource;
  seccomp: Promise<string> | null;
  readonly facts: Map<string, Promise<ImageFacts>>;
}

interface DockerProviderOptions {
  readonly socketPath: string | undefined;
  /** Of the egress proxies' sockets. */
  readonly socketFolder: string;
  readonly resolve: Resolve;
}

export function dockerProvider({ socketPath, socketFolder, resolve }: DockerProviderOptions): SandboxProvider {
  let connected: Connected | null = null;
  const connect = (): Connected => {
    if (connected === null) {
      const engine = connectEngine(socketPath);
      connected = { ...engine, images: new ImageSource(engine.docker), seccomp: null, facts: new Map() };
    }
    return connected;
  };

  const create: SandboxProvider["create"] = async (request, onProgress, signal) => {
    signal?.throwIfAborted();
    refuseWhatItCannot(request);
    const engine = connect();
    const version = await requireEngine(engine);
    if (request.proxySocket !== null) await openToForwarder(request.proxySocket);
    const { docker, images } = engine;
    const prepared = request.image.kind === "compose" ? await prepareProject(request.image, request, images, onProgress, signal) : null;
    const id = request.image.kind === "compose" ? (prepared?.mainImageId ?? "") : await images.resolve(request.image, onProgress, signal);
    const facts = await factsOf(engine, id, prepared?.main.user ?? null, labelsOf(request));
    signal?.throwIfAborted();
    const ofMain = prepared === null ? request : requestOfMain(request, prepared.main);
    const program = ownProgramOf(facts, prepared?.main ?? null);
    // The base image is nobody's choice: what starts from it works where every task of ours does.
    const usual = prepared === null ? request.image.kind === "host" : prepared.mainIsBase;
    const workdir = request.workdir ?? prepared?.main.workingDir ?? facts.workingDir ?? (usual ? insidePaths.work : "/");
    const seccomp = await seccompOf(engine);
    const egress = await openEgressLink(request, socketFolder, resolve);
    try {
      return new DockerSandbox({
        docker,
        request: ofMain,
        workdir: posix.normalize(workdir),
        ...{ facts, program },
        isolation: isolationOf(ofMain, seccomp, prepared?.imageIds.size ?? 0, program !== null && facts.uid === 0),
        fingerprint: {
          ...fingerprintOf(facts, version),
          ...imagesOf(prepared),
          ...(program === null ? {} : { program: program.words.join(" ") }),
        },
        egress,
        project: prepared === null ? null : await startProject(docker, prepared, request, onProgress, signal),
      });
    } catch (error) {
      await egress?.close();
      throw error;
    }
  };

  return {
    kind: "docker",
    holdsPrograms: false,
    isolates: true,
    probe: async () => {
      try {
        const engine = connect();
        const version = await requireEngine(engine);
        return { ready: true, detail: `Docker ${version.Version} at ${engine.socketPath}; ${await proveIt(engine, create)}`, remedy: null };
      } catch (error) {
        if (!(error instanceof WorkbenchError)) throw error;
        return { ready: false, detail: error.message, remedy: error.remedy };
      }
    },
    create,
    reap: async (ownerId, keep) => {
      const engine = connectOrNull(connect);
      if (engine === null) return [];
      const found = await engine.docker.listContainers({ all: true, filters: { label: [`${ownerLabel}=${ownerId}`] } }).catch(() => null);
      if (found === null) return [];
      const ended = new Set<string>();
      for (const { Id, Labels } of found) {
        const rollout = Labels[rolloutLabel] ?? "";
        if (keep.has(rollout)) continue;
        await removeContainer(engine.docker.getContainer(Id));
        ended.add(rollout);
      }
      await removeLeftPlaces(engine.docker, `${ownerLabel}=${ownerId}`, (labels) => keep.has(labels[rolloutLabel] ?? ""));
      return [...ended];
    },
  };
}

function connectOrNull(connect: () => Connected): Connected | null {
  try {
    return connect();
  } catch {
    return null;
  }
}

function factsOf(engine: Connected, id: string, user: string | null, label: Readonly<Record<string, string>>): Promise<ImageFacts> {
  const key = user === null ? id : `${id} ${user}`;
  const known = engine.facts.get(key) ?? examineImage(engine.docker, id, user, label);
  engine.facts.set(key, known);
  known.catch(() => engine.facts.delete(key));
  return known;
}

/** The other services' images, as part of what makes the environment reproducible. */
function imagesOf(prepared: PreparedProject | null): Readonly<Record<string, string>> {
  return Object.fromEntries([...(prepared?.imageIds ?? [])].map(([service, id]) => [`service ${service}`, id]));
}

function refuseWhatItCannot(request: SandboxRequest): void {
  if (process.platform !== "linux") {
    throw unavailable("Docker sandboxes need Linux on this machine itself.", "Run the workbench on Linux (or in WSL2).");
  }
  if (request.workdir !== null && !request.workdir.startsWith("/"))
    throw new WorkbenchError("sandbox", `The working folder ${request.workdir} is no absolute path.`, "Name one such as /app.");
  if (request.proxySocket !== null) checkSocketPath(request.proxySocket);
}

/** The forwarder inside is nobody's account; the folder around the socket keeps this machine's other users out. */
async function openToForwarder(proxySocket: string): Promise<void> {
  await chmod(proxySocket, 0o666).catch(() => {
    throw new WorkbenchError("sandbox", `There is no proxy socket at ${proxySocket}.`, "Open the proxy's session before the sandbox.");
  });
}

/** What the engine says of its system-call filter. */
function seccompOf(engine: Connected): Promise<string> {
  engine.seccomp ??= answered(engine.docker.info()).then(
    ({ SecurityOptions }) => (/name=seccomp/.test(String(SecurityOptions)) ? "the engine's seccomp profile" : "no seccomp profile in this engine"),
    () => "the engine's seccomp profile unknown",
  );
  return engine.seccomp;
}

/** Really runs a container, where there is an image for it. */
async function proveIt(engine: Connected, create: SandboxProvider["create"]): Promise<string> {
  const there = await answered(engine.docker.getImage(baseImage).inspect()).then(
    () => true,
    () => false,
  );
  if (!there) return "no base image yet: openforge images prepare";
  const request = {
    rolloutId: "probe",
    ownerId: `probe-${process.pid}`,
    image: { kind: "host" },
    network: { mode: "no-network", allowedHosts: [] },
  } as const;
  const sandbox = await create({ ...request, limits: {}, workdir: "/app", proxySocket: null }, () => undefined);
  try {
    const result = await sandbox.exec({ command: ["node", "--version"], timeoutMs: 20_000, outputLimitBytes: 1000 });
    if (result.exitCode === 0) return "a container of the base image runs";
    throw unavailable("A container of the base image does not run.", "Remove the image openforge/base:1 and run openforge images prepare.");
  } finally {
    await sandbox.destroy();
  }
}

/** `beside`: number of other services. `startsServices`: the image has a program of its own that runs as root. */
function isolationOf(request: SandboxRequest, seccomp: string, beside: number, startsServices: boolean): IsolationReport {
  const { network, laterNetworks = [], limits } = request;
  const open = isEverPublic(request);
  const listed = [network, ...laterNetworks].some(({ mode }) => mode === "allowlist");
  const cpus = limits.cpus === undefined ? "CPU not limited" : `${limits.cpus} CPUs`;
  const services = beside === 0 ? "" : `; ${beside} other ${beside === 1 ? "service" : "services"} on a private network`;
  return {
    files: "a container's own file system from an image; of this machine only the harness and Node, read-only, and the proxy's socket",
    network: open
      ? `outgoing through a bridge of its own kind; other sandboxes are not reachable, this machine's ports on all addresses are${services}`
      : `none but a loopback; no way out but the model's port${listed ? " and a proxy for the hosts that the task lists" : ""}${services}`,
    processes: `own PID, IPC and host-name namespaces; no new privileges; ${seccomp}; ${open || startsServices ? "of the capabilities only those that package installers need" : "no capabilities"}`,
    limits: `cgroup, the whole box: ${limits.memoryMb ?? defaultLimits.memoryMb} MB of memory without swap, ${limits.processes ?? defaultLimits.processes} processes, ${cpus}, disk not limited`,
  };
}

function fingerprintOf(facts: ImageFacts, version: Docker.DockerVersion): Readonly<Record<string, string>> {
  return {
    image: facts.digest,
    imageId: facts.id,
    distribution: facts.distribution,
    packages: facts.packages,
    kernel: version.KernelVersion ?? "unknown",
    architecture: version.Arch,
    locale: facts.environment.LANG ?? "C.UTF-8",
    node: facts.node,
    docker: version.Version,
  };
}
