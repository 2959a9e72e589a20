import { WorkbenchError } from "../errors.ts";
import type { SandboxKind, SandboxProvider } from "./contract.ts";
import { dockerProvider } from "./docker/docker-provider.ts";
import { localProvider } from "./local/local-provider.ts";
import { unisolatedProvider } from "./unisolated/unisolated-provider.ts";

export interface SandboxProvidersOptions {
  /** Folder of this service for what sandboxes leave on disk; on a disk with room, removed sandbox by sandbox. */
  readonly stateFolder: string;
  /** Docker's socket. Default: `DOCKER_HOST` when it names a socket, else `/var/run/docker.sock`. */
  readonly dockerSocket?: string;
}

/** Every kind of sandbox of this machine. Making a provider starts nothing. */
export function sandboxProviders(options: SandboxProvidersOptions): Readonly<Record<SandboxKind, SandboxProvider>> {
  const local = { ...localProvider(options.stateFolder), fallback: unisolatedProvider(options.stateFolder) };
  return { local, docker: dockerProvider(options.dockerSocket), kubernetes: refusingProvider("kubernetes") };
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
