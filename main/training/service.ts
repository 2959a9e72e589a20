/** Training runs of one data folder. */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TrainedTokens, TrainingCheck } from "../api/training-views.ts";
import { WorkbenchError } from "../errors.ts";
import type { HarnessRegistry } from "../harnesses/index.ts";
import type { PolicyRegistry } from "../proxy/index.ts";
import type { RolloutService } from "../rollouts/index.ts";
import type { Store } from "../store/index.ts";
import type { BasePlaces } from "./base-model.ts";
import type { RunFile, TrainingService } from "./contract.ts";
import { LiveRun } from "./live-run.ts";
import { closeExperiment } from "./open-run.ts";
import { prepareRun } from "./preparation.ts";
import type { RunRecord } from "./records.ts";
import { lineOfKey, type RunSettings, readRunFile } from "./run-file.ts";
import { RunFolder, runFolders } from "./run-folder.ts";
import { memorySentence, summaryOf } from "./run-summary.ts";
import { RunHistory, runView, trainingResult } from "./run-view.ts";

export interface TrainingServiceOptions extends Pick<BasePlaces, "modelsFolder"> {
  readonly store: Store;
  readonly rollouts: RolloutService;
  readonly harnesses: HarnessRegistry;
  readonly policies: PolicyRegistry;
  /** `resources/` of the product. */
  readonly resources: string;
}

/** Starts nothing by itself: call `resumeUnfinished` once the service is up. */
export function createTrainingService(options: TrainingServiceOptions): TrainingService {
  const { store, rollouts, harnesses, policies, resources, modelsFolder } = options;
  const { dataFolder } = store;
  const live = new Map<string, LiveRun>();
  const histories = new Map<string, RunHistory>();
  const places = { dataFolder, modelsFolder, policiesFolder: join(resources, "policies") };
  const parts = {
    ...{ store, rollouts, harnesses, policies, places, starterTasksFolder: join(resources, "tasks") },
    changed: (id: string) => {
      const { status, experiments } = folderOf(id).readRun();
      const payload = JSON.stringify({ run: id, status });
      store.appendEvent({ at: Date.now(), experimentId: experiments.at(-1) ?? null, rolloutId: null, type: "training.changed", payload });
    },
    reopened: (id: string) => histories.get(id)?.forget(),
  };

  function folderOf(id: string): RunFolder {
    const known = runFolders(dataFolder).some((folder) => folder.path.endsWith(`/${id}`));
    if (!known)
      throw new WorkbenchError("not-found", `There is no training run ${id}.`, "See the Train screen, or start one with `openforge train RUN.yaml`.");
    return new RunFolder(dataFolder, id);
  }

  function historyOf(id: string, folder: RunFolder): RunHistory {
    const history = histories.get(id) ?? new RunHistory(folder);
    histories.set(id, history);
    return history;
  }

  function viewOf(record: RunRecord, folder: RunFolder, whole: boolean) {
    const activity = live.get(record.id)?.activity ?? "";
    return runView(record, historyOf(record.id, folder), { activity, whole });
  }

  function liveRun(id: string): LiveRun {
    const run = live.get(id);
    if (run !== undefined) return run;
    const { status } = folderOf(id).readRun();
    throw new WorkbenchError("usage", `The training run ${id} does not run: it is ${status}.`, "Resume it first.");
  }

  function drive(record: RunRecord, folder: RunFolder, settings: RunSettings): void {
    const run = new LiveRun(record.id, folder, settings, parts);
    live.set(record.id, run);
    void run.ended.then(() => live.delete(record.id));
  }

  /** A file that is refused by now (another version wrote it) ends its run; the service must start all the same. */
  function goOn(record: RunRecord, folder: RunFolder): void {
    try {
      drive(record, folder, soundSettings(record.file, record.folder));
    } catch (error) {
      if (!(error instanceof WorkbenchError)) throw error;
      const { message, remedy } = error;
      folder.writeRun({ ...record, status: "failed", endedAt: Date.now(), problem: { message, remedy } });
    }
  }

  function newId(): string {
    const taken = new Set(runFolders(dataFolder).map((folder) => folder.path));
    for (;;) {
      const id = `t-${randomBytes(3).toString("hex")}`;
      if (!taken.has(new RunFolder(dataFolder, id).path)) return id;
    }
  }

  async function begin({ yaml, folder: base, seed }: RunFile): Promise<string> {
    const settings = soundSettings(yaml, base);
    const prepared = await prepareRun(settings, parts);
    if (!prepared.ok) throw prepared.error;
    const id = newId();
    const folder = new RunFolder(dataFolder, id);
    folder.create();
    const record = firstRecord(id, { yaml, folder: base }, { ...settings, seed: seed ?? settings.seed }, prepared.modelFolder);
    folder.writeRun(record);
    drive(record, folder, settings);
    return id;
  }

  return {
    list: () =>
      runFolders(dataFolder)
        .map((folder) => viewOf(folder.readRun(), folder, false))
        .toSorted((left, right) => right.createdAt - left.createdAt),
    get(id) {
      const folder = folderOf(id);
      return viewOf(folder.readRun(), folder, true);
    },
    async check({ yaml, folder }): Promise<TrainingCheck> {
      const reading = readRunFile(yaml, folder);
      if (!reading.ok) return { valid: false, faults: [...reading.faults], summary: [] };
      const { settings } = reading;
      const refused = (key: string, { message, remedy }: WorkbenchError): TrainingCheck => {
        return { valid: false, faults: [{ line: lineOfKey(yaml, key), message: `${message} ${remedy}` }], summary: [] };
      };
      const prepared = await prepareRun(settings, parts);
      if (!prepared.ok) return refused(prepared.key, prepared.error);
      try {
        const memory = await memorySentence(settings, prepared.modelFolder);
        return { valid: true, faults: [], summary: [...summaryOf(settings), memory] };
      } catch (error) {
        if (!(error instanceof WorkbenchError)) throw error;
        return refused("base", error);
      }
    },
    start: begin,
    starterRun(quick) {
      const folder = join(resources, "training");
      return { yaml: readFileSync(join(folder, quick ? "starter-quick.yaml" : "starter.yaml"), "utf8"), folder };
    },
    async follow(id, report, signal) {
      const folder = folderOf(id);
      const run = live.get(id);
      const leave = run?.onLine(report);
      try {
        await (run === undefined ? undefined : Promise.race([run.ended, aborted(signal)]));
      } finally {
        leave?.();
      }
      const record = folder.readRun();
      if (record.status === "failed" && record.problem !== null)
        throw new WorkbenchError("unavailable", record.problem.message, record.problem.remedy, { exitCode: 1 });
      return trainingResult(viewOf(record, folder, true));
    },
    async pause(id) {
      const run = liveRun(id);
      run.pause();
      await run.ended;
    },
    async resume(id) {
      const folder = folderOf(id);
      if (live.has(id)) throw new WorkbenchError("usage", `The training run ${id} runs already.`, "Pause or cancel it first.");
      const record = folder.readRun();
      if (record.status === "ended")
        throw new WorkbenchError(
          "usage",
          `The training run ${id} has ended.`,
          record.kind === "weights"
            ? `Start a new one; \`base: training:${id}@last\` goes on from its weights.`
            : "Start a new one, with more steps.",
        );
      drive(record, folder, soundSettings(record.file, record.folder));
    },
    checkpoint: async (id) => liveRun(id).checkpoint(),
    async cancel(id) {
      const folder = folderOf(id);
      const run = live.get(id);
      if (run !== undefined) await run.stop("cancel");
      else if (folder.readRun().status !== "ended") folder.writeRun({ ...folder.readRun(), status: "cancelled", endedAt: Date.now() });
      await closeExperiment(folder, parts);
    },
    step(id, step) {
      const folder = folderOf(id);
      if (!folder.steps().includes(step)) throw new WorkbenchError("not-found", `The training run ${id} has no step ${step} yet.`, "See its steps.");
      const { point, rollouts: ofStep } = historyOf(id, folder).step(step);
      return { point, rollouts: ofStep };
    },
    stepTokens(id, step, rollout, chain): TrainedTokens {
      const folder = folderOf(id);
      if (!folder.steps().includes(step)) throw new WorkbenchError("not-found", `The training run ${id} has no step ${step} yet.`, "See its steps.");
      const row = folder.readTokens(step).rows.find((one) => one.rollout === rollout && one.chain === chain);
      if (row === undefined)
        throw new WorkbenchError("not-found", `Chain ${chain} of ${rollout} took no part in step ${step}.`, "Its reason stands beside the rollout.");
      const tokens = {
        mask: Array.from({ length: row.length }, (): 0 | 1 => 0),
        advantages: Array.from({ length: row.length }, (): number | null => null),
        trainerLogprobs: Array.from({ length: row.length }, (): number | null => null),
      };
      for (const [index, position] of row.positions.entries()) {
        tokens.mask[position] = 1;
        tokens.advantages[position] = row.advantages[index] ?? null;
        tokens.trainerLogprobs[position] = row.trainerLogprobs[index] ?? null;
      }
      return { chain, ...tokens };
    },
    async resumeUnfinished() {
      for (const folder of runFolders(dataFolder)) {
        const record = folder.readRun();
        if (["preparing", "running", "pausing"].includes(record.status)) goOn(record, folder);
      }
    },
    async close() {
      await Promise.all([...live.values()].map((run) => run.stop("service")));
    },
  };
}

function soundSettings(yaml: string, folder: string): RunSettings {
  const reading = readRunFile(yaml, folder);
  if (reading.ok) return reading.settings;
  const [first] = reading.faults;
  const more = reading.faults.length > 1 ? ` (and ${reading.faults.length - 1} more)` : "";
  throw new WorkbenchError(
    "usage",
    `Line ${first?.line ?? 1} of the run file: ${first?.message ?? "unreadable."}${more}`,
    "See docs/training.md for every key.",
  );
}

function firstRecord(id: string, file: Pick<RunFile, "yaml" | "folder">, settings: RunSettings, baseModelFolder: string): RunRecord {
  const { name, base, seed, sampler, limits, deterministic, train, ...rest } = settings;
  const configuration = createHash("sha256")
    .update(JSON.stringify({ ...rest, base, sampler, limits, deterministic, train }))
    .digest("hex")
    .slice(0, 12);
  return {
    ...{ format: 1, id, name, base, seed, configuration, createdAt: Date.now(), endedAt: null, status: "preparing", problem: null },
    ...{ file: file.yaml, folder: file.folder, experiments: [], backend: "embedded", memory: null, steps: 0, kept: [], best: null },
    ...{ baseModel: baseModelFolder, kind: train === "weights" ? "weights" : "adapter", sampler, deterministic },
    contextWindow: limits.contextWindow,
    temperature: settings.temperature,
    ...(limits.answerTokens === undefined ? {} : { maxTokens: limits.answerTokens }),
    ...(limits.lanes === undefined ? {} : { lanes: limits.lanes }),
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
