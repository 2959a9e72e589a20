/** What the handlers work on: the parts of a booted workbench. */
import type { AttachService } from "../attach/index.ts";
import type { HarnessRegistry } from "../harnesses/index.ts";
import type { PolicyRegistry, Proxy as RecordingProxy } from "../proxy/index.ts";
import type { RolloutService } from "../rollouts/index.ts";
import type { SandboxKind, SandboxProvider } from "../sandboxes/index.ts";
import type { Store } from "../store/index.ts";
import type { TrainingService } from "../training/index.ts";

export interface WorkbenchParts {
  readonly version: string;
  readonly store: Store;
  readonly proxy: RecordingProxy;
  readonly policies: PolicyRegistry;
  readonly harnesses: HarnessRegistry;
  readonly sandboxes: Readonly<Record<SandboxKind, SandboxProvider>>;
  readonly rollouts: RolloutService;
  readonly attach: AttachService;
  readonly training: TrainingService;
  readonly folders: {
    readonly resources: string;
    readonly cache: string;
    /** Short folder for sockets. */
    readonly runtime: string;
  };
  readonly ownerId: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Address with its token when a server runs, else null. */
  readonly address?: () => string;
}
