/**
 * What the rollout service promises: experiments become rollouts, each rollout runs to an outcome on its own, none touches its
 * siblings, and a service that was killed picks up where it stopped. All progress is in the store, as events.
 */
import type { OutcomeRules } from "../../engine/outcome/index.ts";
import type { ExperimentSpec, SummaryRow } from "../api/experiment-views.ts";
import type { HarnessRegistry } from "../harnesses/index.ts";
import type { PolicyRegistry, Proxy as RecordingProxy } from "../proxy/index.ts";
import type { SandboxKind, SandboxProvider } from "../sandboxes/index.ts";
import type { GradeRecord, RolloutLabels, RolloutRecord, Store, TokenMode } from "../store/index.ts";

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

/** What all rollouts of an open experiment have in common. */
export interface OpenExperiment {
  readonly name: string;
  readonly sandbox: SandboxKind;
  /** Rollouts of this experiment at once. */
  readonly concurrency: number;
  readonly rules: OutcomeRules;
  /** Tries of a rollout whose infrastructure failed. */
  readonly attempts: number;
  /** Left out = as the policy can. */
  readonly tokenMode?: TokenMode;
  /** Overrides the tasks' agent budgets. The time that calls wait for the policy does not count. */
  readonly agentTimeoutSeconds?: number;
}

export interface PlannedRollout {
  /** Folder of the task package. */
  readonly taskPath: string;
  readonly harness: string;
  /** A name that the policy registry resolves; it is held open until the rollouts that were added with it have ended. */
  readonly policy: string;
  /** 0-based number inside its group (same task, harness and policy). */
  readonly groupIndex: number;
  readonly seed: number;
  /** The owner's own words, kept with the rollout: step, split … */
  readonly labels: RolloutLabels;
}

export interface AddedRollout {
  readonly id: string;
  /** The record as it ended, a cancelled one too; null when the service stopped first. Never rejects. */
  readonly ended: Promise<RolloutRecord | null>;
}

export interface RegradeRequest {
  readonly rolloutIds: readonly string[];
  /** Folder of the task package with the verifier; left out = where each rollout's own lies. */
  readonly taskPath?: string;
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface RegradedRollout {
  readonly rollout: RolloutRecord;
  /** null = it could not be graded; `skipped` says why. */
  readonly grade: GradeRecord | null;
  readonly skipped: string | null;
}

export interface RolloutService {
  /** Checks everything a person can have written wrong, stores the experiment and its rollouts, and starts; resolves with its id. */
  startExperiment(spec: ExperimentSpec): Promise<string>;
  /**
   * An experiment that stays open (`kind: training`): its owner adds rollouts step by step and closes it. After a restart its rollouts
   * are left to the owner, who knows whether they are still wanted: `resumeRollouts` or `cancelRollouts`.
   */
  openExperiment(experiment: OpenExperiment): Promise<string>;
  /** In the order given. A task, harness or policy that cannot be used rejects with a WorkbenchError before anything is stored. */
  addRollouts(experimentId: string, rollouts: readonly PlannedRollout[]): Promise<readonly AddedRollout[]>;
  /** Goes on with rollouts of an open experiment that a killed service left; those that have ended are given as they are. */
  resumeRollouts(experimentId: string, rolloutIds: readonly string[]): Promise<readonly AddedRollout[]>;
  /** Ends stragglers as `cancelled`, also those that a killed service left; resolves with their number when every sandbox is gone. */
  cancelRollouts(rolloutIds: readonly string[]): Promise<number>;
  /** Cancels what has not ended and ends the experiment. */
  closeExperiment(experimentId: string): Promise<void>;
  /** Cancels what has not ended; resolves with their number when every sandbox is gone. */
  cancel(experimentId: string): Promise<number>;
  cancelRollout(rolloutId: string): Promise<void>;
  /** Once, at the start of the service: removes orphaned sandboxes and goes on with what a killed service left. */
  resumeUnfinished(): Promise<{ readonly rollouts: number; readonly sandboxes: number }>;
  /** Resolves when the experiment has ended or was cancelled. */
  settled(experimentId: string): Promise<void>;
  /** Resolves when nothing is queued or running. */
  idle(): Promise<void>;
  /** Tells of ends that could not be written (the disk is full): no event will ever tell them. Returns the unsubscriber. */
  onUnwritable(listener: (error: unknown) => void): () => void;
  /**
   * Grades stored rollouts with a task's verifier as it is now, one after the other, from what was kept of their sandboxes. A grade is
   * added beside the one a rollout has; what cannot be graded is named with a sentence.
   */
  regrade(request: RegradeRequest): Promise<readonly RegradedRollout[]>;
  /** Mean reward and its interval by harness and policy. */
  summary(experimentId: string): readonly SummaryRow[];
  /** Stops without an outcome: every sandbox is removed, and the next start goes on with what was running. */
  close(): Promise<void>;
}
