/**
 * What training runs promise. A run is a text file; what it does is stored step by step, so that a killed service goes on where it was
 * without repeating or losing a step. A run that fails keeps everything up to its last checkpoint.
 */
import type { TrainedTokens, TrainingCheck, TrainingResult, TrainingRunView, TrainingStepDetail } from "../api/training-views.ts";

/** A run file as it was given, and where its relative paths begin. */
export interface RunFile {
  readonly yaml: string;
  readonly folder: string;
  /** Overrides the file's. */
  readonly seed?: number | undefined;
}

/** Methods that name a run reject with WorkbenchError when there is none. */
export interface TrainingService {
  /** Newest first; without points and evaluations. */
  list(): readonly TrainingRunView[];
  get(id: string): TrainingRunView;
  check(file: RunFile): Promise<TrainingCheck>;
  /** Resolves with the run's id when its file was found good and the run begins. Rejects with WorkbenchError. */
  start(file: RunFile): Promise<string>;
  /** The run file of the starter experiment. */
  starterRun(quick: boolean): RunFile;
  /** Calls `report` with lines of progress until the run has ended. Rejects with WorkbenchError when it failed, with the signal's reason when left. */
  follow(id: string, report: (line: string) => void, signal: AbortSignal): Promise<TrainingResult>;
  pause(id: string): Promise<void>;
  resume(id: string): Promise<void>;
  checkpoint(id: string): Promise<void>;
  cancel(id: string): Promise<void>;
  step(id: string, step: number): TrainingStepDetail;
  stepTokens(id: string, step: number, rollout: string, chain: number): TrainedTokens;
  /** Once, at the start of the service: goes on with runs that a killed service left. */
  resumeUnfinished(): Promise<void>;
  close(): Promise<void>;
}
