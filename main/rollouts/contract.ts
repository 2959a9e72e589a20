/**
 * What the rollout service promises: experiments become rollouts, each rollout runs to an outcome on its own, none touches its
 * siblings, and a service that was killed picks up where it stopped. All progress is in the store, as events.
 */
import type { ExperimentSpec, SummaryRow } from "../api/views.ts";
import type { HarnessRegistry } from "../harnesses/index.ts";
import type { PolicyRegistry, Proxy as RecordingProxy } from "../proxy/index.ts";
import type { SandboxKind, SandboxProvider } from "../sandboxes/index.ts";
import type { Store } from "../store/index.ts";

export interface RolloutServiceOptions {
  readonly store: Store;
  readonly proxy: RecordingProxy;
  readonly policies: PolicyRegistry;
  readonly harnesses: HarnessRegistry;
  readonly sandboxes: Readonly<Record<SandboxKind, SandboxProvider>>;
  /** Names this data folder's sandboxes; the same at every start. */
  readonly ownerId: string;
  /** Folder whose sub-folders are the starter tasks: what `starter` in a spec means. */
  readonly starterTasksFolder: string;
  /** Short folder for the proxy's sockets. */
  readonly socketFolder: string;
  /** Environment that declared secrets of tasks come from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Free bytes on the data folder's disk below which no rollout starts. Default 1 GiB. */
  readonly freeDiskBytes?: number;
  /** Rollouts at once over all experiments. Default 32. */
  readonly concurrency?: number;
}

export interface RolloutService {
  /** Checks everything a person can have written wrong, stores the experiment and its rollouts, and starts; resolves with its id. */
  startExperiment(spec: ExperimentSpec): Promise<string>;
  /** Cancels what has not ended; resolves with their number when every sandbox is gone. */
  cancel(experimentId: string): Promise<number>;
  cancelRollout(rolloutId: string): Promise<void>;
  /** Once, at the start of the service: removes orphaned sandboxes and goes on with what a killed service left. */
  resumeUnfinished(): Promise<{ readonly rollouts: number; readonly sandboxes: number }>;
  /** Resolves when the experiment has ended or was cancelled. */
  settled(experimentId: string): Promise<void>;
  /** Resolves when nothing is queued or running. */
  idle(): Promise<void>;
  /** Mean reward and its interval by harness and policy. */
  summary(experimentId: string): readonly SummaryRow[];
  /** Stops without an outcome: every sandbox is removed, and the next start goes on with what was running. */
  close(): Promise<void>;
}
