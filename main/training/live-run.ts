/** One run while it runs: driven to its end, a pause, a failure or the end of the service; told of by lines. */
import { WorkbenchError } from "../errors.ts";
import { ServiceStops } from "./collect.ts";
import { closeExperiment, closeRun, type OpenParts, openRun } from "./open-run.ts";
import type { RunRecord } from "./records.ts";
import type { RunSettings } from "./run-file.ts";
import type { RunFolder } from "./run-folder.ts";
import { runLoop } from "./run-loop.ts";

export interface LiveParts extends OpenParts {
  /** Something that views show has changed. */
  readonly changed: (id: string) => void;
  /** The folder's steps may be others than before. */
  readonly reopened: (id: string) => void;
}

type Stop = "cancel" | "service";
/** Lines kept for whoever follows later. */
const keptLines = 2000;

export class LiveRun {
  readonly id: string;
  readonly #folder: RunFolder;
  readonly #settings: RunSettings;
  readonly #parts: LiveParts;
  readonly #stop = new AbortController();
  readonly #lines: string[] = [];
  readonly #listeners = new Set<(line: string) => void>();
  readonly #checkpointWaiters: (() => void)[] = [];
  #stopped: Stop | null = null;
  #pausing = false;
  #activity = "preparing";
  /** Resolves when it has ended, whatever way; never rejects. */
  readonly ended: Promise<void>;

  constructor(id: string, folder: RunFolder, settings: RunSettings, parts: LiveParts) {
    this.id = id;
    this.#folder = folder;
    this.#settings = settings;
    this.#parts = parts;
    this.ended = this.#drive();
  }

  get activity(): string {
    return this.#activity;
  }

  /** Returns the unsubscriber. What was said before is said again. */
  onLine(listener: (line: string) => void): () => void {
    for (const line of this.#lines) listener(line);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  pause(): void {
    this.#pausing = true;
    this.#update({ status: "pausing" });
  }

  async stop(why: Stop): Promise<void> {
    this.#stopped ??= why;
    this.#stop.abort(why === "cancel" ? new Error("the run was cancelled") : new ServiceStops("the service stops"));
    await this.ended;
  }

  /** Resolves when the step in hand has its checkpoint, or the run has ended. */
  checkpoint(): Promise<void> {
    return new Promise((resolve) => this.#checkpointWaiters.push(resolve));
  }

  async #drive(): Promise<void> {
    try {
      await this.#run();
    } catch (error) {
      await this.#end(error);
    }
    for (const resolve of this.#checkpointWaiters.splice(0)) resolve();
    this.#parts.changed(this.id);
  }

  async #run(): Promise<void> {
    this.#update({ status: "preparing", problem: null, endedAt: null });
    const run = await openRun(this.#folder, this.#settings, this.#parts);
    this.#parts.reopened(this.id);
    try {
      this.#stop.signal.throwIfAborted();
      this.#update({ status: "running" });
      const reached = await runLoop(run, {
        signal: this.#stop.signal,
        pauseWanted: () => this.#pausing,
        checkpointWanted: () => this.#checkpointWaiters.length > 0,
        report: (line) => this.#report(line),
        activity: (text) => {
          this.#activity = text;
        },
        changed: () => {
          for (const resolve of this.#checkpointWaiters.splice(0)) resolve();
          this.#parts.changed(this.id);
        },
      });
      if (reached === "ended") await closeExperiment(this.#folder, this.#parts);
      this.#update(reached === "ended" ? { status: "ended", endedAt: Date.now() } : { status: "paused" });
    } finally {
      await closeRun(run);
    }
  }

  /** The service that stops leaves the run as it is: the next one goes on. */
  async #end(error: unknown): Promise<void> {
    if (this.#stopped === "service") return;
    if (this.#stopped === "cancel") {
      this.#update({ status: "cancelled", endedAt: Date.now() });
      return;
    }
    const known = error instanceof WorkbenchError;
    if (!known) console.error(error);
    const message = error instanceof Error ? error.message : String(error);
    const remedy = known ? error.remedy : "This is a fault of the workbench; the run goes on from its last step when it is resumed.";
    await closeExperiment(this.#folder, this.#parts).catch((second: unknown) => console.error(second));
    this.#update({ status: "failed", endedAt: Date.now(), problem: { message, remedy } });
    this.#report(`failed: ${message}`);
  }

  #update(change: Partial<RunRecord>): void {
    this.#folder.writeRun({ ...this.#folder.readRun(), ...change });
    this.#activity = change.status ?? this.#activity;
    this.#parts.changed(this.id);
  }

  #report(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > keptLines) this.#lines.shift();
    for (const listener of this.#listeners) listener(line);
  }
}
