import { tmpdir } from "node:os";
import { WorkbenchError } from "../errors.ts";
import type { SandboxKind, SandboxProvider } from "./contract.ts";
import { dockerProvider } from "./docker/docker-provider.ts";
import { machineResolver, type Resolve } from "./egress/destination.ts";
import { localProvider } from "./local/local-provider.ts";
import { unisolatedProvider } from "./unisolated/unisolated-provider.ts";

export interface SandboxProvidersOptions {
  /** Folder of this service for what sandboxes leave on disk; on a disk with room, removed sandbox by sandbox. */
  readonly stateFolder: string;
  /** Docker's socket. Default: `DOCKER_HOST` when it names a socket, else `/var/run/docker.sock`. */
  readonly dockerSocket?: string;
  /** Short folder for sockets, which is emptied when the service starts. Default: folders below the system's temporary one. */
  readonly socketFolder?: string;
  /** How the egress proxy finds addresses. Default: this machine's resolver. */
  readonly resolve?: Resolve;
}

/** Every kind of sandbox of this machine. Making a provider starts nothing. */
export function sandboxProviders(options: SandboxProvidersOptions): Readonly<Record<SandboxKind, SandboxProvider>> {
  const { stateFolder, resolve = machineResolver } = options;
  const local = { ...localProvider(stateFolder, resolve), fallback: unisolatedProvider(stateFolder) };
  const docker = dockerProvider({ socketPath: options.dockerSocket, socketFolder: options.socketFolder ?? tmpdir(), resolve });
  return { local, docker, kubernetes: refusingProvider("kubernetes") };
}

function refusingProvider(kind: SandboxKind): SandboxProvider {
  const detail = `this version of the workbench has no ${kind} sandbox`;
  const remedy = "Use --sandbox local or --sandbox docker.";
  return {
    kind,
    holdsPrograms: false,
    isolates: true,
    probe: async () => ({ ready: false, detail, remedy }),
    create: async () => {
      throw new WorkbenchError("unavailable", detail, remedy);
    },
    reap: async () => [],
  };
}
