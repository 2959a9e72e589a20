/** The container of one service beside `main`: as its file says, with no more rights and limits than a rollout gives. */
import { stat } from "node:fs/promises";
import { basename, posix } from "node:path";
import type Docker from "dockerode";
import tar from "tar-fs";
import type { ComposeService } from "../../compose/project.ts";
import { sandboxError } from "../../sandbox-error.ts";
import { defaultLimits } from "../../sandbox-limits.ts";
import { answered, lostOr } from "../engine.ts";
import type { ProjectPlace } from "./project-place.ts";

interface ServiceOptions {
  readonly service: ComposeService;
  readonly imageId: string;
  readonly place: ProjectPlace;
  /** Variables that the file's own go over. */
  readonly variables: Readonly<Record<string, string>>;
  /** Container whose network it shares, by id. */
  readonly sharesNetworkOf: string | null;
  readonly everPublic: boolean;
}

/** Kept of what a service says. */
const logLimit = { "max-size": "1m", "max-file": "2" };
const nanoseconds = 1_000_000;

export async function createService(docker: Docker, options: ServiceOptions): Promise<Docker.Container> {
  const { service, place, variables } = options;
  const memory = service.memoryBytes ?? defaultLimits.memoryMb * 1024 ** 2;
  const network = networkSettings(place.networksOf(service), options.everPublic);
  const creation = docker.createContainer({
    name: place.nameOf(service.name),
    Image: options.imageId,
    ...(service.entrypoint === null ? {} : { Entrypoint: [...service.entrypoint] }),
    ...(service.command === null ? {} : { Cmd: [...service.command] }),
    ...(service.user === null ? {} : { User: service.user }),
    ...(service.workingDir === null ? {} : { WorkingDir: service.workingDir }),
    ...(service.hostname === null ? {} : { Hostname: service.hostname }),
    ...(service.healthcheck === null ? {} : { Healthcheck: healthConfig(service.healthcheck) }),
    Env: Object.entries({ ...variables, ...service.environment }).map(([name, value]) => `${name}=${value}`),
    Tty: service.tty,
    OpenStdin: service.stdinOpen,
    Labels: { ...place.labels, "openforge.service": service.name },
    NetworkingConfig: network.NetworkingConfig,
    HostConfig: {
      ...network.HostConfig,
      ...(options.sharesNetworkOf === null ? {} : { NetworkMode: `container:${options.sharesNetworkOf}` }),
      ...placeSettings(service, place),
      Init: service.init,
      ReadonlyRootfs: service.readOnly,
      CapDrop: ["ALL"],
      CapAdd: [...service.capabilities.add],
      SecurityOpt: ["no-new-privileges"],
      Memory: memory,
      MemorySwap: memory,
      PidsLimit: service.processes !== null && service.processes > 0 ? service.processes : defaultLimits.processes,
      ...(service.cpus === null ? {} : { NanoCpus: Math.round(service.cpus * 1e9) }),
      RestartPolicy: restartPolicy(service.restart),
      LogConfig: { Type: "json-file", Config: logLimit },
    },
  });
  const container = await answered(creation).catch((error: unknown) => {
    throw lostOr(error, (reason) =>
      sandboxError("setup-failed", `Docker cannot create the service ${service.name}: ${reason}.`, "Check the task's compose file."),
    );
  });
  return container;
}

/** What `main` and the others have alike. */
export function placeSettings(service: ComposeService, place: ProjectPlace): Docker.HostConfig {
  return {
    Mounts: place.mountsOf(service),
    Tmpfs: { ...service.tmpfs },
    // A container that shares another's network has that one's names.
    ...(service.extraHosts.length === 0 || service.sharesNetworkOf !== null ? {} : { ExtraHosts: [...service.extraHosts] }),
    ...(service.sharedMemoryBytes === null ? {} : { ShmSize: service.sharedMemoryBytes }),
    Ulimits: service.ulimits.map((limit) => ({ ...limit })),
  };
}

type Networks = ReturnType<ProjectPlace["networksOf"]>;

/** The first network; `joinNetworks` adds the others. */
export function networkSettings([first]: Networks, everPublic: boolean): Pick<Docker.ContainerCreateOptions, "NetworkingConfig" | "HostConfig"> {
  if (first === undefined) return { HostConfig: { NetworkMode: "none" } };
  // Old engines ask this machine's resolver even for networks without a way out; a look-up of an unknown name must not get that far.
  const closed = everPublic ? {} : { Dns: ["127.0.0.1"], DnsOptions: ["timeout:1", "attempts:1"] };
  return {
    NetworkingConfig: { EndpointsConfig: { [first.name]: { Aliases: [...first.aliases] } } },
    HostConfig: { NetworkMode: first.name, ...closed },
  };
}

export async function joinNetworks(docker: Docker, container: Docker.Container, [, ...others]: Networks): Promise<void> {
  for (const { name, aliases } of others) {
    await answered(docker.getNetwork(name).connect({ Container: container.id, EndpointConfig: { Aliases: [...aliases] } }));
  }
}

/** Gives a container that has not started yet its copies of files of the package. */
export async function copyPackageFiles(container: Docker.Container, { name, packageMounts }: ComposeService): Promise<void> {
  for (const { hostPath, target } of packageMounts.filter(({ readOnly }) => !readOnly)) {
    const isFolder = (await stat(hostPath)).isDirectory();
    const inside = target.slice(1);
    const archive = isFolder
      ? tar.pack(hostPath, { map: (header) => ({ ...header, name: posix.join(inside, header.name) }) })
      : tar.pack(posix.dirname(hostPath), { entries: [basename(hostPath)], map: (header) => ({ ...header, name: inside }) });
    await container.putArchive(archive as unknown as NodeJS.ReadableStream, { path: "/" }).catch((error: unknown) => {
      throw lostOr(error, (reason) =>
        sandboxError("setup-failed", `The files for ${target} cannot be given to the service ${name}: ${reason}.`, "Mount them read-only."),
      );
    });
  }
}

function healthConfig(check: NonNullable<ComposeService["healthcheck"]>): Docker.HealthConfig {
  return {
    ...(check.test === null ? {} : { Test: [...check.test] }),
    ...(check.intervalMs === null ? {} : { Interval: check.intervalMs * nanoseconds }),
    ...(check.timeoutMs === null ? {} : { Timeout: check.timeoutMs * nanoseconds }),
    ...(check.startPeriodMs === null ? {} : { StartPeriod: check.startPeriodMs * nanoseconds }),
    ...(check.retries === null ? {} : { Retries: check.retries }),
  };
}

function restartPolicy(restart: string | null): Docker.HostRestartPolicy {
  const [Name = "no", count] = (restart ?? "no").split(":");
  return { Name, ...(Name === "on-failure" ? { MaximumRetryCount: Number(count ?? 0) } : {}) };
}
