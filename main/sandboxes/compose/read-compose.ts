/** Reads a compose file into a project, or says by line what of it cannot be run. */
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, relative, resolve, sep } from "node:path";
import type { z } from "zod";
import { type ComposeProblem, type ComposeSource, type Path, readComposeSource } from "./compose-source.ts";
import { variablesOf } from "./compose-values.ts";
import { harborVariable, logFolder } from "./harbor-variables.ts";
import type { Lookup } from "./interpolate.ts";
import { mainRefusals } from "./main-service.ts";
import { type ComposeProject, type ComposeService, defaultNetwork, mainService, type PackageMount, type ServiceImage } from "./project.ts";
import { harmlessKeys, projectSchema, type ServiceKeys, sentenceOf, serviceSchema } from "./service-schema.ts";
import { startOrder } from "./start-order.ts";

interface ComposeReading {
  /** Null exactly when there are problems. */
  readonly project: ComposeProject | null;
  readonly problems: readonly ComposeProblem[];
}

interface ComposeOptions {
  readonly file: string;
  /** Folder that no path in the file may leave. */
  readonly root: string;
  /** Null = not known yet: what depends on a variable is not judged. */
  readonly variables: Readonly<Record<string, string | undefined>> | null;
  /** Values that Harbor gives as CPUS and MEMORY. */
  readonly limits?: { readonly cpus?: number; readonly memoryMb?: number };
}

/** What services beside `main` may be given of the rights that Docker gives anybody. */
const grantable = "CHOWN DAC_OVERRIDE FOWNER FSETID KILL NET_BIND_SERVICE SETGID SETUID".split(" ");

export async function readCompose(options: ComposeOptions): Promise<ComposeReading> {
  const { file, variables } = options;
  const lookup: Lookup = (name) => harborVariable(name, options) ?? variables?.[name];
  const source = readComposeSource(await readFile(file, "utf8"), lookup, variables !== null);
  if (source.problems.length > 0) return { project: null, problems: source.problems };
  const reader = new ProjectReader(options, source, lookup);
  const project = await reader.read();
  return reader.problems.length > 0 ? { project: null, problems: reader.problems } : { project, problems: [] };
}

class ProjectReader {
  readonly problems: ComposeProblem[] = [];
  readonly #options: ComposeOptions;
  readonly #source: ComposeSource;
  readonly #lookup: Lookup;

  constructor(options: ComposeOptions, source: ComposeSource, lookup: Lookup) {
    this.#options = options;
    this.#source = source;
    this.#lookup = lookup;
  }

  async read(): Promise<ComposeProject | null> {
    const parsed = projectSchema.safeParse(withoutExtensions(this.#source.value));
    if (!parsed.success) {
      this.#reportIssues([], parsed.error);
      return null;
    }
    const { networks, volumes } = parsed.data;
    const declared = { networks: [...Object.keys(networks ?? {}), defaultNetwork], volumes: Object.keys(volumes ?? {}) };
    const services = new Map<string, ComposeService>();
    for (const [name, keys] of Object.entries({ [mainService]: {}, ...parsed.data.services })) {
      const service = await this.#service(name, keys, declared);
      if (service !== null) services.set(name, service);
    }
    const main = services.get(mainService);
    for (const { key, message } of main === undefined ? [] : mainRefusals(main)) this.#report(["services", mainService, key], message);
    return this.problems.length > 0 ? null : this.#inOrder(services);
  }

  #inOrder(services: ReadonlyMap<string, ComposeService>): ComposeProject | null {
    const needs = (name: string): readonly string[] => {
      const service = services.get(name);
      const shared = service?.sharesNetworkOf ?? null;
      return [...(service?.dependsOn.map((dependency) => dependency.service) ?? []), ...(shared === null ? [] : [shared])];
    };
    for (const name of services.keys()) {
      const missing = needs(name).find((needed) => !services.has(needed));
      if (missing !== undefined) this.#report(["services", name, "depends_on"], `there is no service ${missing}, or it belongs to a profile`);
    }
    const found = this.problems.length > 0 ? { order: [] } : startOrder([...services.keys()], needs);
    if ("circle" in found) this.#report(["services", found.circle[0] ?? ""], `services need each other: ${found.circle.join(" → ")}`);
    if (this.problems.length > 0 || "circle" in found) return null;
    const ordered = found.order.flatMap((name) => services.get(name) ?? []);
    return {
      services: ordered,
      networks: [...new Set(ordered.flatMap((service) => service.networks.map(({ name }) => name)))],
      volumes: [...new Set(ordered.flatMap((service) => service.volumes.flatMap(({ source }) => source ?? [])))],
    };
  }

  async #service(
    name: string,
    raw: unknown,
    declared: { readonly networks: readonly string[]; readonly volumes: readonly string[] },
  ): Promise<ComposeService | null> {
    const at: Path = ["services", name];
    const parsed = serviceSchema.safeParse(withoutExtensions(raw ?? {}, harmlessKeys));
    if (!parsed.success) {
      this.#reportIssues(at, parsed.error);
      return null;
    }
    const keys = parsed.data;
    // Compose starts services of a profile only when they are asked for.
    if ((keys.profiles ?? []).length > 0 && name !== mainService) return null;
    const { mounts, volumes, temporary } = await this.#volumes(at, keys, name === mainService, declared.volumes);
    const limits = keys.deploy?.resources?.limits ?? {};
    return {
      name,
      image: await this.#image(at, keys, name),
      environment: await this.#environment(at, keys),
      command: keys.command ?? null,
      entrypoint: keys.entrypoint ?? null,
      dependsOn: [
        ...(keys.depends_on ?? []).filter(({ required }) => required).map(({ service, condition }) => ({ service, condition })),
        ...(keys.links ?? []).map((service) => ({ service, condition: "service_started" as const })),
      ],
      healthcheck: healthcheckOf(keys.healthcheck),
      ...this.#network(at, keys, name, declared.networks),
      packageMounts: mounts,
      volumes,
      tmpfs: Object.fromEntries([...(keys.tmpfs ?? []), ...temporary].map((entry) => splitOnce(entry, ":"))),
      user: keys.user ?? null,
      workingDir: keys.working_dir ?? null,
      hostname: keys.hostname ?? null,
      memoryBytes: keys.mem_limit ?? limits.memory ?? null,
      cpus: keys.cpus ?? limits.cpus ?? null,
      processes: keys.pids_limit ?? limits.pids ?? null,
      sharedMemoryBytes: keys.shm_size ?? null,
      extraHosts: this.#extraHosts(at, keys),
      ulimits: keys.ulimits ?? [],
      capabilities: this.#capabilities(at, keys, name === mainService),
      init: keys.init ?? false,
      readOnly: keys.read_only ?? false,
      tty: keys.tty ?? false,
      stdinOpen: keys.stdin_open ?? false,
      restart: keys.restart ?? null,
    };
  }

  async #image(at: Path, keys: ServiceKeys, name: string): Promise<ServiceImage | null> {
    const { build, image } = keys;
    if (build === undefined) {
      if (image === undefined && name !== mainService && !this.#source.isUncertain(at)) this.#report(at, "has neither image nor build");
      return image === undefined ? null : { kind: "image", reference: image };
    }
    const path = [...at, "build"];
    const contextFolder = await this.#inside(path, build.context);
    if (contextFolder === null) return null;
    // An image that the task names may stand for what main would be built from.
    const dockerfile = await this.#inside(path, resolve(contextFolder, build.dockerfile), name !== mainService, build.dockerfile);
    if (dockerfile === null) return null;
    const fromContext = relative(contextFolder, dockerfile);
    if (fromContext.startsWith("..")) this.#report(path, `${build.dockerfile} must lie in the folder that is built, ${build.context}`);
    const args = Object.entries(build.args).map(([key, value]) => [key, value ?? this.#lookup(key) ?? ""]);
    return { kind: "build", contextFolder, dockerfile: fromContext.split(sep).join("/"), args: Object.fromEntries(args), target: build.target };
  }

  async #environment(at: Path, keys: ServiceKeys): Promise<Readonly<Record<string, string>>> {
    const environment: Record<string, string> = {};
    for (const { path, required } of keys.env_file ?? []) {
      const file = await this.#inside([...at, "env_file"], path, required);
      if (file !== null) Object.assign(environment, variablesOf(await readFile(file, "utf8")));
    }
    for (const [name, value] of Object.entries(keys.environment ?? {})) {
      const known = value ?? this.#lookup(name);
      if (known !== undefined) environment[name] = known;
    }
    return environment;
  }

  #network(at: Path, keys: ServiceKeys, name: string, declared: readonly string[]): Pick<ComposeService, "networks" | "sharesNetworkOf"> {
    if (keys.network_mode !== undefined) {
      if (keys.networks !== undefined) this.#report([...at, "network_mode"], "cannot stand beside networks");
      const [, shared] = /^service:(.+)$/.exec(keys.network_mode) ?? [];
      return { networks: [], sharesNetworkOf: shared ?? null };
    }
    const wanted = keys.networks ?? [];
    for (const network of wanted) {
      if (!declared.includes(network.name)) this.#report([...at, "networks"], `there is no network ${network.name} in this file`);
    }
    const aliases = [
      name,
      ...(keys.container_name === undefined ? [] : [keys.container_name]),
      ...(keys.hostname === undefined ? [] : [keys.hostname]),
    ];
    const own = wanted.length === 0 ? [{ name: defaultNetwork, aliases: [] }] : wanted;
    return {
      networks: own.map((network) => ({ name: network.name, aliases: [...new Set([...aliases, ...network.aliases])] })),
      sharesNetworkOf: null,
    };
  }

  async #volumes(
    at: Path,
    keys: ServiceKeys,
    isMain: boolean,
    declared: readonly string[],
  ): Promise<{ readonly mounts: readonly PackageMount[]; readonly volumes: ComposeService["volumes"]; readonly temporary: readonly string[] }> {
    const mounts: PackageMount[] = [];
    const volumes: ComposeService["volumes"][number][] = [];
    const temporary: string[] = [];
    for (const [index, volume] of (keys.volumes ?? []).entries()) {
      const path = [...at, "volumes", index];
      const { type, source, target, readOnly } = volume;
      if (this.#source.isUncertain(path)) continue;
      if (type === "tmpfs") temporary.push(target);
      else if (type === "volume") {
        if (source !== null && !declared.includes(source)) this.#report(path, `there is no volume ${source} in this file`);
        volumes.push(volume);
      } else if (source === null) this.#report(path, "a bind mount needs a source");
      else if (source.startsWith(`${logFolder}/`)) {
        if (!isMain) this.#report(path, "the rollout's logs are the agent's box's alone; use a named volume");
      } else {
        const hostPath = await this.#inside(path, source);
        if (hostPath !== null) mounts.push({ hostPath, target, readOnly });
      }
    }
    return { mounts, volumes, temporary };
  }

  #extraHosts(at: Path, keys: ServiceKeys): readonly string[] {
    const hosts = keys.extra_hosts ?? [];
    if (hosts.some((entry) => entry.endsWith(":host-gateway")))
      this.#report([...at, "extra_hosts"], "host-gateway is this machine, which services cannot reach");
    return hosts;
  }

  #capabilities(at: Path, keys: ServiceKeys, isMain: boolean): ComposeService["capabilities"] {
    const plain = (names: readonly string[] | undefined): readonly string[] => (names ?? []).map((name) => name.toUpperCase().replace(/^CAP_/, ""));
    const add = plain(keys.cap_add);
    const refused = add.find((name) => !grantable.includes(name));
    if (refused !== undefined) this.#report([...at, "cap_add"], `${refused} is not given; only ${grantable.join(", ")} can be`);
    const drop = plain(keys.cap_drop);
    const kept = isMain || drop.includes("ALL") ? [] : grantable.filter((name) => !drop.includes(name));
    return { add: [...new Set([...kept, ...add])], drop };
  }

  /** Absolute, with links followed; null, and reported, when it is not in the package. */
  async #inside(at: Path, path: string, required = true, shown = path): Promise<string | null> {
    if (this.#source.isUncertain(at)) return null;
    const { file } = this.#options;
    const root = await realpath(this.#options.root);
    const wanted = resolve(dirname(file), path);
    const found = await realpath(wanted).catch(() => null);
    const within = (candidate: string): boolean => candidate === root || candidate.startsWith(`${root}/`);
    if (found === null && within(resolve(await realpath(dirname(file)), path))) {
      if (required) this.#report(at, `there is no ${shown}`);
      return null;
    }
    if (found === null || !within(found)) {
      this.#report(at, `${shown} lies outside the task package`);
      return null;
    }
    return found;
  }

  #report(path: Path, message: string): void {
    const place = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
    this.problems.push({ line: this.#source.lineOf(path), message: `${place.slice(1)}: ${message}.` });
  }

  #reportIssues(at: Path, error: z.ZodError): void {
    for (const issue of error.issues) {
      const path = [...at, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))];
      if (this.#source.isUncertain(path)) continue;
      if (issue.code === "unrecognized_keys") {
        for (const key of issue.keys)
          this.#report([...path, key], `cannot be had in a rollout${path.length === 0 ? "" : `; take it out of ${basename(this.#options.file)}`}`);
      } else this.#report(path, sentenceOf(issue));
    }
  }
}

/** `x-…` keys are nobody's, those without a meaning here and without a value are as if they were not there. */
function withoutExtensions(value: unknown, ignored: ReadonlySet<string> = new Set()): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key, entry]) => !key.startsWith("x-") && !ignored.has(key) && entry !== null));
}

function healthcheckOf(check: ServiceKeys["healthcheck"]): ComposeService["healthcheck"] {
  if (check === undefined) return null;
  const { test, interval = null, timeout = null, start_period: startPeriodMs = null, retries = null } = check;
  const words = check.disable === true ? ["NONE"] : test === undefined ? null : Array.isArray(test) ? test : ["CMD-SHELL", test];
  return { test: words, intervalMs: interval, timeoutMs: timeout, startPeriodMs, retries };
}

function splitOnce(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
