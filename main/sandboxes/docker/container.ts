/** The container of one Docker sandbox: how it is confined, started, emptied of processes and removed. */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type Docker from "dockerode";
import type { ComposeService } from "../compose/project.ts";
import { insidePaths, type SandboxRequest } from "../contract.ts";
import { sandboxError } from "../sandbox-error.ts";
import { defaultLimits } from "../sandbox-limits.ts";
import { runInside } from "./docker-exec.ts";
import { answered, lostOr, reasonOf, statusOf } from "./engine.ts";
import { FrameReader } from "./frames.ts";
import { type ImageFacts, nodeMount } from "./image-facts.ts";
import { forwarderSource, forwarderUser, killAllSource, killOthersSource, type Link, listProcessesSource } from "./inside-programs.ts";
import { ensurePublicNetwork } from "./networks.ts";
import type { ProjectPlace } from "./project/project-place.ts";
import { networkSettings, placeSettings } from "./project/service-container.ts";

export const ownerLabel = "openforge.owner";
export const rolloutLabel = "openforge.rollout";

const startLimitMs = 60_000;
const killRounds = 5;
const looks = 20;
/** What our main process needs of the box's own limits. */
const ownShare = { memoryMb: 64, processes: 16 };
/** What installing packages takes, and starting services; given back only where there is a network to install from, or a service to start. */
const installerCapabilities = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"];
const defaultSearchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

interface ContainerPlan {
  readonly request: SandboxRequest;
  readonly facts: ImageFacts;
  readonly harnessFolder: string | null;
  readonly links: readonly Link[];
  /** Variables of every command, beside the image's. */
  readonly variables: Readonly<Record<string, string>>;
  /** The image starts a program of its own, which may need to become another account. */
  readonly hasProgram: boolean;
  /** Where the box is the main service of a compose project. */
  readonly project: { readonly main: ComposeService; readonly place: ProjectPlace } | null;
}

/** By which everything of a rollout is found again. */
export function labelsOf({ ownerId, rolloutId }: SandboxRequest): Record<string, string> {
  return { [ownerLabel]: ownerId, [rolloutLabel]: rolloutId };
}

/** Whether a box may ever reach the outside by itself: only then can packages be installed there. */
export const isEverPublic = ({ network, laterNetworks = [] }: SandboxRequest): boolean =>
  [network, ...laterNetworks].some(({ mode }) => mode === "public");

export async function createContainer(docker: Docker, plan: ContainerPlan): Promise<Docker.Container> {
  const { request, facts, harnessFolder, links } = plan;
  const { limits } = request;
  const place: Docker.HostConfig = plan.project === null ? {} : placeSettings(plan.project.main, plan.project.place);
  const installs = isEverPublic(request) || plan.hasProgram;
  const memory = ((limits.memoryMb ?? defaultLimits.memoryMb) + ownShare.memoryMb) * 1024 ** 2;
  const mounts: Docker.MountSettings[] = [nodeMount()];
  if (harnessFolder !== null) mounts.push({ Type: "bind", Source: harnessFolder, Target: insidePaths.harness, ReadOnly: true });
  for (const { hostSocket, insideSocket } of links) mounts.push({ Type: "bind", Source: hostSocket, Target: insideSocket });
  const searchPath = facts.environment.PATH ?? defaultSearchPath;
  try {
    const network = await networkOf(docker, plan);
    const creation = docker.createContainer({
      name: `openforge-${randomBytes(6).toString("hex")}`,
      Image: facts.id,
      Entrypoint: [insidePaths.node, "-e", forwarderSource, ...links.map((link) => JSON.stringify(link))],
      Cmd: [],
      // Commands have no capability that the main process was not given at its start; as root it lays down its own user at once.
      User: installs ? "0:0" : `${forwarderUser}:${forwarderUser}`,
      WorkingDir: "/",
      Hostname: plan.project?.main.hostname ?? "sandbox",
      ...(network.NetworkingConfig === undefined ? {} : { NetworkingConfig: network.NetworkingConfig }),
      Env: Object.entries({
        ...plan.variables,
        PATH: `${plan.variables.PATH ?? searchPath}:/opt/openforge/bin`,
        LANG: plan.variables.LANG ?? facts.environment.LANG ?? "C.UTF-8",
      }).map(([name, value]) => `${name}=${value}`),
      AttachStdout: true,
      AttachStderr: true,
      Labels: labelsOf(request),
      HostConfig: {
        ...place,
        ...network.HostConfig,
        Init: true,
        Mounts: [...(place.Mounts ?? []), ...mounts],
        CapDrop: ["ALL"],
        CapAdd: installs ? installerCapabilities : [],
        SecurityOpt: ["no-new-privileges"],
        Memory: memory,
        MemorySwap: memory,
        PidsLimit: (limits.processes ?? defaultLimits.processes) + ownShare.processes,
        ...(limits.cpus === undefined ? {} : { NanoCpus: Math.round(limits.cpus * 1e9) }),
        Ulimits: [...(place.Ulimits ?? []).filter(({ Name }) => Name !== "core"), { Name: "core", Soft: 0, Hard: 0 }],
        LogConfig: { Type: "none", Config: {} },
      },
    });
    return await answered(creation);
  } catch (error) {
    throw lostOr(error, (reason) =>
      sandboxError("setup-failed", `Docker cannot create the container: ${reason}.`, "Check the task's image and limits."),
    );
  }
}

async function networkOf(docker: Docker, { request, project }: ContainerPlan): Promise<ReturnType<typeof networkSettings>> {
  const networks = project?.place.networksOf(project.main) ?? [];
  if (networks.length > 0) return networkSettings(networks, isEverPublic(request));
  const isOpen = request.network.mode === "public" && (project === null || project.main.networks.length > 0);
  return { HostConfig: { NetworkMode: isOpen ? await answered(ensurePublicNetwork(docker)) : "none" } };
}

/** Starts the container (again); resolves when its main process is ready, with the processes that are ours. */
export async function startContainer(container: Docker.Container): Promise<ReadonlySet<string>> {
  try {
    const stream = await answered(container.attach({ stream: true, stdout: true, stderr: true }));
    const ready = firstWord(stream);
    ready.catch(() => undefined);
    await answered(container.start());
    await ready;
    stream.removeAllListeners("data");
    stream.on("error", () => undefined).resume();
    return new Set((await processesIn(container))?.map(({ pid }) => pid));
  } catch (error) {
    throw sandboxError("setup-failed", `The container does not start: ${reasonOf(error)}.`, "Check the task's image and Docker's log.");
  }
}

async function firstWord(stream: NodeJS.ReadableStream): Promise<void> {
  let complaint = "";
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`it was not ready after ${startLimitMs / 1000} seconds`)), startLimitMs);
    const frames = new FrameReader((name, payload) => {
      if (name === "stderr") complaint = (complaint + payload.toString()).slice(-1000);
      else if (payload.includes("ready")) {
        clearTimeout(timer);
        resolve();
      }
    });
    stream.on("data", (packet: Buffer) => frames.push(packet));
    const ended = (): void => {
      clearTimeout(timer);
      reject(new Error(complaint.trim() || "its main process ended at once"));
    };
    stream.once("end", ended).once("error", ended);
  });
}

interface ContainerProcess {
  /** As the machine numbers it. */
  readonly pid: string;
  readonly parent: string;
  readonly uid: string;
  readonly started: string;
}

/** What the image itself started: as the engine's machine sees it, and by its numbers inside. */
export interface Residents {
  /** Number on the engine's machine → start. */
  readonly outside: ReadonlyMap<string, string>;
  readonly inside: string;
}

/** Everything that runs in the container now and is not ours. Null where the engine's machine has no `ps`. */
export async function residentsOf(container: Docker.Container, ours: ReadonlySet<string>, user: string): Promise<Residents | null> {
  const [running, inside] = [await processesIn(container), await runInside(container, user, listProcessesSource)];
  if (running === null) return null;
  return { outside: new Map(running.filter(({ pid }) => !ours.has(pid)).map(({ pid, started }) => [pid, started])), inside };
}

/** Living processes of the container, ours included; null where the engine's machine has no `ps` to list them. */
async function processesIn(container: Docker.Container): Promise<readonly ContainerProcess[] | null> {
  const listing = await answered(container.top({ ps_args: "-eo pid,ppid,uid,stat,lstart" })).catch((error: unknown) => {
    if (/\bps\b.*(executable file not found|exited with)/i.test(reasonOf(error))) return null;
    throw error;
  });
  if (listing === null) return null;
  const { Titles, Processes } = listing;
  const column = (title: string): number => Titles.indexOf(title);
  const rows: readonly (readonly string[])[] = Processes ?? [];
  return rows
    .filter((row) => !(row[column("STAT")] ?? "").startsWith("Z"))
    .map((row) => {
      const cell = (title: string): string => row[column(title)] ?? "";
      return { pid: cell("PID"), parent: cell("PPID"), uid: cell("UID"), started: cell("STARTED") };
    });
}

interface Emptied {
  readonly ours: ReadonlySet<string>;
  /** Nothing but ours was left: what the image started has to be started anew. */
  readonly restarted: boolean;
}

/**
 * Ends every process but ours and the residents with what they started. Each user's processes are ended by that user, since root inside has
 * lost the right to end others'. What still lives then (a program that forks as fast as it dies) is ended by stopping and starting the
 * container; its files stay. `residents`: null = they cannot be told from others.
 */
export async function emptyContainer(container: Docker.Container, ours: ReadonlySet<string>, residents: Residents | null): Promise<Emptied> {
  try {
    for (let round = 0; residents !== null && round < killRounds; round += 1) {
      const strangers = await strangersIn(container, ours, residents, round === 0 ? 1 : looks);
      if (strangers === null) break;
      // One look can miss a process that begins anew under another number; what was killed does not.
      if (strangers.length === 0 && (round > 0 || (await strangersIn(container, ours, residents, 1))?.length === 0)) {
        return { ours, restarted: false };
      }
      const users = [...new Set(strangers.map(({ uid }) => uid))];
      // Somebody in our own user's clothes: ending that user's processes would end ours.
      if (users.includes(String(forwarderUser))) break;
      const endOthers = (user: string): Promise<string> =>
        residents.outside.size === 0 ? runInside(container, user, killAllSource) : runInside(container, user, killOthersSource, residents.inside);
      const answers = await Promise.allSettled(users.map(endOthers));
      if (answers.some((answer) => answer.status === "rejected")) break;
    }
    await answered(container.stop({ t: 0 }));
  } catch (error) {
    throw lostOr(error, (reason) => sandboxError("sandbox-lost", `The container cannot be emptied: ${reason}.`, "Run the rollout again."));
  }
  return { ours: await startContainer(container), restarted: true };
}

/** Processes that are not ours. What has been killed, and our own killer, take a moment to vanish: it looks up to `times`. */
async function strangersIn(
  container: Docker.Container,
  ours: ReadonlySet<string>,
  { outside }: Residents,
  times: number,
): Promise<readonly ContainerProcess[] | null> {
  for (let look = 1; ; look += 1) {
    const running = await processesIn(container);
    const byPid = new Map((running ?? []).map((one) => [one.pid, one]));
    const isResident = (one: ContainerProcess | undefined): boolean =>
      one !== undefined && !ours.has(one.pid) && (outside.get(one.pid) === one.started || isResident(byPid.get(one.parent)));
    const strangers = running?.filter((one) => !ours.has(one.pid) && !isResident(one)) ?? null;
    if (strangers === null || strangers.length === 0 || look >= times) return strangers;
    await delay(15);
  }
}

/** Removes a container with its anonymous volumes; one that is gone, or going, is fine. */
export async function removeContainer(container: Docker.Container): Promise<void> {
  try {
    await answered(container.remove({ force: true, v: true }));
  } catch (error) {
    const status = statusOf(error);
    if (status === 404 || status === 409) return;
    throw lostOr(error, (reason) => sandboxError("sandbox-lost", `Docker cannot remove a container: ${reason}.`, "Remove it by docker rm -f."));
  }
}
