/** What a compose file comes to: services as they are to be run, in plain values. */
import type { Condition, ServiceVolume } from "./service-schema.ts";

export const mainService = "main";
/** The network of services that name none. */
export const defaultNetwork = "default";

export type ServiceImage =
  | { readonly kind: "image"; readonly reference: string }
  | {
      readonly kind: "build";
      /** Absolute. */
      readonly contextFolder: string;
      readonly dockerfile: string;
      readonly args: Readonly<Record<string, string>>;
      readonly target: string | null;
    };

/** A folder or file of the package that appears inside. */
export interface PackageMount {
  readonly hostPath: string;
  readonly target: string;
  /** Else the service gets a copy of its own. */
  readonly readOnly: boolean;
}

export interface ServiceHealthcheck {
  /** As the engine takes it: `NONE`, `CMD …` or `CMD-SHELL …`; null = the image's. */
  readonly test: readonly string[] | null;
  readonly intervalMs: number | null;
  readonly timeoutMs: number | null;
  readonly startPeriodMs: number | null;
  readonly retries: number | null;
}

export interface ComposeService {
  readonly name: string;
  /** Null only in `main`: what the task says elsewhere. */
  readonly image: ServiceImage | null;
  readonly environment: Readonly<Record<string, string>>;
  /** Null = the image's. */
  readonly command: readonly string[] | null;
  readonly entrypoint: readonly string[] | null;
  readonly dependsOn: readonly { readonly service: string; readonly condition: Condition }[];
  readonly healthcheck: ServiceHealthcheck | null;
  /** Its own networks, or the one service whose network it shares; none at all without either. */
  readonly networks: readonly { readonly name: string; readonly aliases: readonly string[] }[];
  readonly sharesNetworkOf: string | null;
  readonly packageMounts: readonly PackageMount[];
  /** Named volumes of the project, and volumes without a name. */
  readonly volumes: readonly ServiceVolume[];
  /** Folder → options. */
  readonly tmpfs: Readonly<Record<string, string>>;
  readonly user: string | null;
  readonly workingDir: string | null;
  readonly hostname: string | null;
  readonly memoryBytes: number | null;
  readonly cpus: number | null;
  readonly processes: number | null;
  readonly sharedMemoryBytes: number | null;
  readonly extraHosts: readonly string[];
  readonly ulimits: readonly { readonly Name: string; readonly Soft: number; readonly Hard: number }[];
  readonly capabilities: { readonly add: readonly string[]; readonly drop: readonly string[] };
  readonly init: boolean;
  readonly readOnly: boolean;
  readonly tty: boolean;
  readonly stdinOpen: boolean;
  readonly restart: string | null;
}

export interface ComposeProject {
  /** `main` and the others; dependencies before what needs them. */
  readonly services: readonly ComposeService[];
  /** Names of what the services use. */
  readonly networks: readonly string[];
  readonly volumes: readonly string[];
}
