/**
 * A compose project beside a sandbox's container, which is its service `main`. What `main` needs runs before it; what needs `main` is
 * started when that runs. Each part carries the rollout's labels.
 */
import type Docker from "dockerode";
import { type ComposeProject, type ComposeService, mainService } from "../../compose/project.ts";
import type { SandboxRequest, SandboxServices } from "../../contract.ts";
import { sandboxError } from "../../sandbox-error.ts";
import { downloadFrom } from "../../transfer.ts";
import { removeContainer } from "../container.ts";
import { archivesOf } from "../container-archives.ts";
import { execInContainer } from "../docker-exec.ts";
import { answered, lostOr } from "../engine.ts";
import { switchPublic } from "../networks.ts";
import { makeProjectPlace, type ProjectPlace } from "./project-place.ts";
import { copyPackageFiles, createService, joinNetworks } from "./service-container.ts";
import { logsOf, waitFor } from "./service-states.ts";

interface ComposeRunOptions {
  readonly docker: Docker;
  readonly request: SandboxRequest;
  readonly project: ComposeProject;
  /** Of every service but `main`. */
  readonly imageIds: ReadonlyMap<string, string>;
  readonly labels: Readonly<Record<string, string>>;
  /** Of services that reach a list of hosts. */
  readonly variables: Readonly<Record<string, string>>;
  readonly everPublic: boolean;
  readonly report: (line: string) => void;
}

export class ComposeRun implements SandboxServices {
  readonly main: ComposeService;
  readonly place: ProjectPlace;
  readonly #options: ComposeRunOptions;
  readonly #containers = new Map<string, Docker.Container>();
  #isPublic: boolean;

  private constructor(options: ComposeRunOptions, main: ComposeService, place: ProjectPlace) {
    this.#options = options;
    this.main = main;
    this.place = place;
    this.#isPublic = options.request.network.mode === "public";
  }

  /** Everything that can run without `main`. Nothing is left when it rejects. */
  static async start(options: ComposeRunOptions, signal: AbortSignal | undefined): Promise<ComposeRun> {
    const { docker, project, labels } = options;
    const main = project.services.find(({ name }) => name === mainService);
    if (main === undefined) throw new Error("a project without main");
    const run = new ComposeRun(options, main, await makeProjectPlace(docker, project, labels));
    try {
      await run.#startAll(run.#others(false), signal);
      return run;
    } catch (error) {
      await run.destroy();
      throw error;
    }
  }

  get names(): readonly string[] {
    return this.#options.project.services.map(({ name }) => name).filter((name) => name !== mainService);
  }

  /** Between creating and starting the container of `main`. */
  async prepareMain(container: Docker.Container): Promise<void> {
    await this.#prepare(container, this.main);
  }

  /** What needs `main`, which runs now. */
  async startRest(container: Docker.Container): Promise<void> {
    this.#containers.set(mainService, container);
    await this.#startAll(this.#others(true), undefined);
  }

  /** Gives all containers a way out, or takes it. */
  async usePublic(isPublic: boolean): Promise<void> {
    if (isPublic === this.#isPublic) return;
    this.#isPublic = isPublic;
    for (const [name, container] of this.#containers) {
      const { networks } = this.#service(name);
      // Whoever shares another's network goes with that one; whoever wants none has none.
      if (networks.length > 0) await switchPublic(this.#options.docker, container, isPublic, this.place.networks.length === 0);
    }
  }

  logs(service: string, limitBytes: number): Promise<Uint8Array> {
    return logsOf(this.#container(service), limitBytes);
  }

  async exec(service: string, request: Parameters<SandboxServices["exec"]>[1], signal?: AbortSignal): ReturnType<SandboxServices["exec"]> {
    const end = { wasKilled: () => false, killEverything: async () => undefined };
    // What does not end in time goes with the project.
    const result = await execInContainer(this.#container(service), { ...request, user: request.user ?? "", ...end }, signal);
    return { ...result, outOfMemory: false };
  }

  download(service: string, insidePath: string, hostPath: string): Promise<boolean> {
    return downloadFrom(archivesOf(this.#container(service), { uid: 0, gid: 0 }), insidePath, hostPath);
  }

  async destroy(): Promise<void> {
    await Promise.all(this.names.flatMap((name) => this.#containers.get(name) ?? []).map(removeContainer));
    await this.place.remove();
  }

  #service(name: string): ComposeService {
    const service = this.#options.project.services.find((one) => one.name === name);
    if (service === undefined) throw sandboxError("setup-failed", `The task has no service ${name}.`, "Name one of its compose file.");
    return service;
  }

  #container(name: string): Docker.Container {
    const container = this.#containers.get(this.#service(name).name);
    if (container === undefined) throw sandboxError("setup-failed", `The service ${name} has not been started.`, "Use the sandbox first.");
    return container;
  }

  /** Those that need `main`, directly or through others, or those that do not. */
  #others(needMain: boolean): readonly ComposeService[] {
    const known = new Set<string>([mainService]);
    // Dependencies come first in the project's order.
    for (const { name, dependsOn, sharesNetworkOf } of this.#options.project.services) {
      if ([...dependsOn.map(({ service }) => service), ...(sharesNetworkOf === null ? [] : [sharesNetworkOf])].some((needed) => known.has(needed)))
        known.add(name);
    }
    return this.#options.project.services.filter(({ name }) => name !== mainService && known.has(name) === needMain);
  }

  async #startAll(services: readonly ComposeService[], signal: AbortSignal | undefined): Promise<void> {
    const started = new Map<string, Promise<void>>();
    for (const service of services) {
      const dependencies = [
        ...service.dependsOn,
        ...(service.sharesNetworkOf === null ? [] : [{ service: service.sharesNetworkOf, condition: "service_started" as const }]),
      ];
      const ready = dependencies.map(async (dependency) => {
        await started.get(dependency.service);
        // `main` has been waited for by whoever started it.
        if (dependency.service !== mainService) await waitFor(dependency.service, this.#container(dependency.service), dependency.condition, signal);
      });
      started.set(
        service.name,
        Promise.all(ready).then(() => this.#start(service, signal)),
      );
    }
    await settledOrFirstFault([...started.values()]);
    await settledOrFirstFault(services.map(({ name }) => waitFor(name, this.#container(name), "settled", signal)));
    for (const { service, condition } of this.main.dependsOn) {
      if (services.some(({ name }) => name === service)) await waitFor(service, this.#container(service), condition, signal);
    }
  }

  async #start(service: ComposeService, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const { docker, imageIds, variables, everPublic, report } = this.#options;
    report(`Starting the service ${service.name}`);
    const container = await createService(docker, {
      service,
      imageId: imageIds.get(service.name) ?? "",
      place: this.place,
      variables,
      sharesNetworkOf: service.sharesNetworkOf === null ? null : this.#container(service.sharesNetworkOf).id,
      everPublic,
    });
    this.#containers.set(service.name, container);
    await this.#prepare(container, service);
    await answered(container.start()).catch((error: unknown) => {
      throw lostOr(error, (reason) =>
        sandboxError("setup-failed", `The service ${service.name} does not start: ${reason}.`, "Check the service in the task's compose file."),
      );
    });
  }

  async #prepare(container: Docker.Container, service: ComposeService): Promise<void> {
    const { docker } = this.#options;
    const networks = this.place.networksOf(service);
    await joinNetworks(docker, container, networks);
    if (this.#isPublic && networks.length > 0) await switchPublic(docker, container, true, false);
    await copyPackageFiles(container, service);
  }
}

/** Waits for all, so that nothing is being made while it is taken down. */
async function settledOrFirstFault(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const fault = results.find((result) => result.status === "rejected");
  if (fault !== undefined) throw fault.reason;
}
