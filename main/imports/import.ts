/** Finds out what a path holds and brings it in. */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, isAbsolute, join } from "node:path";
import type { ImportReport } from "../api/export-views.ts";
import { WorkbenchError } from "../errors.ts";
import { importRecording, type Store } from "../store/index.ts";
import { readAtif } from "./atif/import-atif.ts";
import type { ForeignExperiment } from "./contract.ts";
import { readJob, readTrial } from "./harbor/import-job.ts";
import { brokenFile } from "./import-fault.ts";
import { readInspectLog } from "./inspect/import-log.ts";
import { storeForeign } from "./store-foreign.ts";

/**
 * A Harbor job or trial folder, an Inspect `.eval` log, an ATIF document or a folder of them, or one of our own recordings; resolves
 * when it is in the store. Rejects with WorkbenchError, and then nothing was stored.
 */
export async function importFrom(store: Store, path: string, report: (line: string) => void, signal: AbortSignal): Promise<ImportReport> {
  if (!isAbsolute(path)) throw new WorkbenchError("usage", `The path ${path} is not absolute.`, "Give the whole path.");
  if (extname(path) === ".openforge") return importOwn(store, path);
  const foreign = await readForeign(path);
  report(`${foreign.kind}: ${foreign.name}`);
  return storeForeign(store, foreign, path, report, signal);
}

function importOwn(store: Store, path: string): ImportReport {
  const experiment = importRecording(store, path);
  const rollouts = store.rolloutsOf(experiment);
  const calls = rollouts.reduce((sum, rollout) => sum + rollout.calls, 0);
  return { experiment, name: store.experiment(experiment)?.name ?? "", kind: "recording", rollouts: rollouts.length, calls, notes: [] };
}

async function readForeign(path: string): Promise<ForeignExperiment> {
  const found = await stat(path).catch(() => null);
  if (found === null)
    throw new WorkbenchError("not-found", `There is nothing at ${path}.`, "Give a Harbor job folder, an Inspect .eval log or an ATIF file.");
  if (!found.isDirectory()) return extname(path) === ".eval" ? readInspectLog(path) : readAtif([path], basename(path, ".json"));
  const names = await readdir(path);
  if (names.includes("result.json")) {
    const result = await readFile(join(path, "result.json"), "utf8");
    return /"n_total_trials"\s*:/.test(result) ? readJob(path) : readTrial(path);
  }
  const documents = names.filter((name) => name.endsWith(".json")).toSorted();
  if (documents.length > 0)
    return readAtif(
      documents.map((name) => join(path, name)),
      basename(path),
    );
  throw brokenFile(path, "the folder holds neither a Harbor job (result.json) nor ATIF documents (*.json)");
}
