/** The `local` kind: bubblewrap on the machine's own distribution. Linux only; no network but the proxy; refuses rather than run weaker. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { type IsolationReport, insidePaths, type SandboxProvider, type SandboxRequest } from "../contract.ts";
import type { Resolve } from "../egress/destination.ts";
import { killQuietly, killUntilNone, namespaceMembers, pidNamespace, processStat } from "../host-processes.ts";
import { checkSocketPath } from "../proxy-link.ts";
import { unavailable } from "../sandbox-error.ts";
import { defaultLimits } from "../sandbox-limits.ts";
import { type BaseRoot, makeBaseRoot, type RootShape } from "./base-root.ts";
import { type BoxRecord, boxFolders, makeBoxParent } from "./box-folder.ts";
import { type BoxPlace, boxPlaces } from "./box-places.ts";
import { isInWritableFolder, workdirRefusal } from "./bubblewrap.ts";
import { type BoxLimits, type CgroupRoot, findCgroupRoot, removeCgroups } from "./cgroups.ts";
import { hostFingerprint } from "./host-fingerprint.ts";
import { type Launcher, startLauncher } from "./launcher.ts";
import { LocalSandbox } from "./local-sandbox.ts";
import { findSystemTools, type SystemTools, toolEnvironment } from "./system-tools.ts";

type PlacedRequest = SandboxRequest & { readonly workdir: string };

const probeOwner = "probe";

interface Machine {
  readonly tools: SystemTools;
  readonly cgroupRoot: CgroupRoot | null;
  readonly fingerprint: Readonly<Record<string, string>>;
}

export function localProvider(stateFolder: string, resolve: Resolve): SandboxProvider {
  const live = new Set<LocalSandbox>();
  let machine: Promise<Machine> | null = null;
  const examine = (): Promise<Machine> => {
    machine ??= examineMachine(places.of(null).boxes).catch((error: unknown) => {
      machine = null;
      throw error;
    });
    return machine;
  };
  let launcher: Launcher | null = null;
  let launching: Promise<Launcher> | null = null;
  const openLauncher = async (tools: SystemTools): Promise<Launcher> => {
    if (launcher?.alive) return launcher;
    launching ??= startLauncher(tools).finally(() => {
      launching = null;
    });
    launcher = await launching;
    return launcher;
  };
  const places = boxPlaces(stateFolder, (command) => removeBy(launcher, command));
  const roots = new Map<string, BaseRoot>();
  const baseRoot = (shape: RootShape): BaseRoot => {
    const key = JSON.stringify(shape);
    const known = roots.get(key);
    if (known !== undefined && existsSync(known.folder)) return known;
    const root = makeBaseRoot(join(stateFolder, "local-base"), shape);
    roots.set(key, root);
    return root;
  };

  const create = async (asked: SandboxRequest): Promise<LocalSandbox> => {
    const request = { ...asked, workdir: posix.normalize(asked.workdir ?? insidePaths.work) };
    refuseWhatItCannot(request);
    if (request.proxySocket !== null) checkSocketPath(request.proxySocket);
    const { tools, cgroupRoot, fingerprint } = await examine();
    const limits: BoxLimits = {
      cpus: request.limits.cpus ?? null,
      memoryMb: request.limits.memoryMb ?? defaultLimits.memoryMb,
      processes: request.limits.processes ?? defaultLimits.processes,
    };
    const storageMb = request.limits.storageMb ?? null;
    const place = places.of(storageMb);
    const sandbox = await LocalSandbox.create({
      request,
      place,
      tools,
      cgroupRoot,
      limits,
      storageMb,
      isolation: isolationOf(cgroupRoot, limits, storageMb, place, request),
      fingerprint,
      launcher: () => openLauncher(tools),
      baseRoot,
      resolve,
      onEnd: (ended) => live.delete(ended),
    });
    live.add(sandbox);
    return sandbox;
  };

  return {
    kind: "local",
    holdsPrograms: true,
    isolates: true,
    probe: async () => {
      try {
        const detail = await proveIt(create);
        return { ready: true, detail, remedy: null };
      } catch (error) {
        const remedy = error instanceof Error && "remedy" in error ? String(error.remedy) : "Use --sandbox docker.";
        return { ready: false, detail: error instanceof Error ? error.message : String(error), remedy };
      }
    },
    create: async (request, _onProgress, signal) => {
      signal?.throwIfAborted();
      return create(request);
    },
    reap: async (ownerId, keep) => {
      const ended = new Set<string>();
      for (const sandbox of [...live]) {
        if (sandbox.ownerId !== ownerId || keep.has(sandbox.rolloutId)) continue;
        await sandbox.destroy();
        ended.add(sandbox.rolloutId);
      }
      for (const { boxes, trash } of places.all) {
        for (const { folder: leftover, record } of boxFolders(boxes)) {
          // A probe that was killed is nobody's: no two services share a state folder.
          const isOthers = record !== null && record.ownerId !== probeOwner && record.ownerId !== ownerId;
          if (isOthers || (record !== null && keep.has(record.rolloutId))) continue;
          if (record !== null) {
            await endLeftover(record);
            ended.add(record.rolloutId);
          }
          trash.take(leftover);
        }
        await trash.empty();
      }
      return [...ended];
    },
  };
}

/** By the launcher where one runs: the service itself takes long to start a program. */
async function removeBy(launcher: Launcher | null, command: readonly string[]): Promise<void> {
  const [program = "", ...args] = command;
  if (!launcher?.alive) await promisify(execFile)(program, args, { cwd: "/" });
  else await launcher.launch({ command, env: toolEnvironment(), outputLimitBytes: 0, onOutput: () => undefined }).end;
}

async function examineMachine(boxesFolder: string): Promise<Machine> {
  const tools = findSystemTools();
  makeBoxParent(boxesFolder);
  const [cgroupRoot, fingerprint] = await Promise.all([findCgroupRoot(), hostFingerprint()]);
  return { tools, cgroupRoot, fingerprint };
}

function refuseWhatItCannot(request: PlacedRequest): void {
  if (process.platform !== "linux") {
    throw unavailable("The local sandbox needs Linux namespaces, which this system lacks.", "Use --sandbox docker.");
  }
  if ([request.network, ...(request.laterNetworks ?? [])].some(({ mode }) => mode === "public")) {
    throw unavailable(
      "The local sandbox reaches no more than a list of hosts, but the task asks for the public network.",
      'Use --sandbox docker, or give the task network_mode = "allowlist" or "no-network".',
    );
  }
  if (request.image.kind === "compose") {
    throw unavailable("The task brings a compose file: its services need Docker.", "Use --sandbox docker.");
  }
  if (request.image.kind !== "host") {
    throw unavailable("The local sandbox runs this machine's own distribution, but the task names an image.", "Use --sandbox docker.");
  }
  const refusal = workdirRefusal(request.workdir);
  if (refusal !== null)
    throw unavailable(`The task's working folder ${request.workdir} ${refusal}.`, "Use --sandbox docker, or a folder such as /app.");
}

function isolationOf(
  root: CgroupRoot | null,
  limits: BoxLimits,
  storageMb: number | null,
  { inMemory }: BoxPlace,
  request: PlacedRequest,
): IsolationReport {
  const places = isInWritableFolder(request.workdir) ? "" : ` ${request.workdir},`;
  const cpus =
    limits.cpus !== null && root !== null && (root.version === 2 ? root.cpu : root.cpu !== null) ? `, ${limits.cpus} CPUs` : ", CPU not limited";
  const storage =
    storageMb === null
      ? "disk not limited"
      : inMemory && root !== null
        ? "files are kept in memory and count as such"
        : `${storageMb} MB a file, ${inMemory ? "files are kept in memory" : "disk as a whole not limited"}`;
  return {
    files: `own mount namespace; read-only root with the machine's programs;${places} /app, /logs, /tests, /tmp and home are the box's own; no file of the user is visible`,
    network: `own network namespace with a loopback; no way out but the model's port${hasList(request) ? " and a proxy for the hosts that the task lists" : ""}`,
    processes: "own user, PID, IPC and host-name namespaces; one unprivileged user without capabilities; nothing of the machine is visible",
    limits:
      root === null
        ? `prlimit, process by process: ${limits.memoryMb} MB of data, ${limits.processes} processes in all, CPU not limited, ${storage}`
        : `cgroup v${root.version}, the whole box: ${limits.memoryMb} MB of memory, ${limits.processes} processes${cpus}, ${storage}`,
  };
}

const hasList = ({ network, laterNetworks = [] }: SandboxRequest): boolean => [network, ...laterNetworks].some(({ mode }) => mode === "allowlist");

/** Really runs a box: the answer must come from inside, from a process that cannot write to the system. */
async function proveIt(create: (request: SandboxRequest) => Promise<LocalSandbox>): Promise<string> {
  const sandbox = await create({
    rolloutId: "probe",
    ownerId: probeOwner,
    image: { kind: "host" },
    network: { mode: "no-network", allowedHosts: [] },
    limits: { memoryMb: 512, processes: 64 },
    workdir: "/app",
    proxySocket: null,
  });
  try {
    const script = "node --version && touch /app/written && ! touch /usr/written 2>/dev/null && cat /proc/net/dev | tail -n +3 | cut -d: -f1";
    const result = await sandbox.exec({ command: ["sh", "-c", script], timeoutMs: 20_000, outputLimitBytes: 4096 });
    const said = Buffer.from(result.stdout).toString().trim().split(/\s+/);
    if (result.exitCode === 0 && said.length === 2 && said[1] === "lo") return `bubblewrap; ${sandbox.isolation.limits}`;
    const complaint = Buffer.from(result.stderr).toString().trim();
    throw unavailable(`The local sandbox does not isolate as it must: ${complaint || said.join(" ")}.`, "Use --sandbox docker.");
  } finally {
    await sandbox.destroy();
  }
}

/** What a killed service left. Its boxes die with it; this makes sure, and frees what only a living service could free. */
async function endLeftover(record: BoxRecord): Promise<void> {
  const { init } = record;
  if (init !== null && processStat(init.pid)?.startTime === init.startTime) {
    const namespace = pidNamespace(init.pid);
    killQuietly(init.pid);
    if (namespace !== null) await killUntilNone(() => namespaceMembers(namespace), 10_000);
  }
  await removeCgroups(record.cgroups);
}
