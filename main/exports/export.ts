/** One export from start to end: what the id names, the format's writer, and the report. */

import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { measureExperiment } from "../analysis/index.ts";
import type { ExportReport, ExportRequest } from "../api/export-views.ts";
import { correctionsOf } from "../attach/index.ts";
import { WorkbenchError } from "../errors.ts";
import type { RolloutRecord } from "../store/index.ts";
import { mediaFiles } from "./atif/media-files.ts";
import { atifTrajectory } from "./atif/trajectory.ts";
import type { ExportParts } from "./contract.ts";
import { writeCsv } from "./csv.ts";
import { writeWhole } from "./destination.ts";
import { giveWay } from "./give-way.ts";
import { writeHar } from "./har.ts";
import { writeJob } from "./harbor/job.ts";
import { readableJson } from "./json-text.ts";
import { type LeftOutList, leftOutList } from "./left-out.ts";
import { type Named, whatIsNamed } from "./named.ts";
import { rolloutPage } from "./page/rollout-page.ts";
import { algorithmOf } from "./rows/advantages.ts";
import { groupOf, rewardedRows, supervisedRows } from "./rows/experiment-rows.ts";
import { runRows } from "./rows/run-rows.ts";
import type { TrainingRow } from "./rows/training-row.ts";
import { writeSlime } from "./trainers/slime.ts";
import type { TrainerFile } from "./trainers/trainer-file.ts";
import { writeTrl } from "./trainers/trl.ts";
import { writeVerlRl, writeVerlSft } from "./trainers/verl.ts";

interface Work {
  readonly parts: ExportParts;
  readonly request: ExportRequest;
  readonly named: Named;
  readonly leftOut: LeftOutList;
  readonly notes: string[];
  report(line: string): void;
  readonly signal: AbortSignal;
}

/** Writes one export. Rejects with WorkbenchError for what a person can change; a failed export leaves nothing behind. */
export async function exportTo(
  parts: ExportParts,
  request: ExportRequest,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<ExportReport> {
  if (!isAbsolute(request.path)) throw new WorkbenchError("usage", `The path ${request.path} is not absolute.`, "Give the whole path.");
  const named = whatIsNamed(parts, request.id);
  const work: Work = { parts, request, named, leftOut: leftOutList(), notes: [], report: twiceASecond(report), signal };
  const { result, bytes } = await writeWhole(request.path, request.force, (path) => writeFormat(work, path));
  const { count, unit, leftOut = [] } = result;
  return {
    ...{ path: request.path, format: request.format, count, unit, bytes },
    leftOut: [...leftOut, ...work.leftOut.list()],
    notes: work.notes,
  };
}

/** Progress for a person: more lines than these say nothing more. */
function twiceASecond(report: (line: string) => void): (line: string) => void {
  let last = 0;
  return (line) => {
    if (Date.now() - last < 500) return;
    last = Date.now();
    report(line);
  };
}

type Written = Pick<ExportReport, "count" | "unit"> & { readonly leftOut?: ExportReport["leftOut"] };

async function writeFormat(work: Work, path: string): Promise<Written> {
  const { parts, request, named, report, signal } = work;
  const { store, version } = parts;
  const { rollouts, experiment } = named;
  switch (request.format) {
    case "trl-sft":
      return writeRows(work, path, writeTrl);
    case "verl-sft":
      return writeRows(work, path, writeVerlSft);
    case "verl-rl":
      return writeRows(work, path, writeVerlRl);
    case "slime":
      return writeRows(work, path, writeSlime);
    case "har":
      return counted(await writeHar({ store, rollouts, version, report, signal }, path), "call", "calls");
    case "csv":
      return counted(await writeCsv(await measuredOf(work), path), "rollout", "rollouts");
    case "harbor":
      return counted(await writeJob({ store, experiment, rollouts, name: basename(request.path), report, signal }, path), "trial", "trials");
    case "atif":
      return writeTrajectories(work, path);
    case "html":
      return writePages(work, path);
  }
}

function counted(count: number, one: string, many: string): Pick<Written, "count" | "unit"> {
  return { count, unit: count === 1 ? one : many };
}

type RowWriter = (file: TrainerFile) => Promise<number>;

/** Rows are made anew each time they are asked for; what is left out is counted in the last pass. */
async function writeRows(work: Work, path: string, write: RowWriter): Promise<Written> {
  let leftOut = leftOutList();
  const rows = (): AsyncIterable<TrainingRow> => {
    leftOut = leftOutList(onlyRollout(work.named));
    return rowsOf(work, leftOut);
  };
  const leaveOut = ({ rollout, chain, step }: TrainingRow, reason: string): void => work.leftOut.add(`${step} ${rollout.id} ${chain}`, reason);
  const count = await write({ path, rows, leaveOut, note: (sentence) => work.notes.push(sentence) });
  if (count === 0) throw nothingToTrain([...leftOut.list(), ...work.leftOut.list()]);
  noteCorrections(work);
  return { ...counted(count, "row", "rows"), leftOut: leftOut.list() };
}

/** Rows are what the policy said; nobody shall take a file for what a person made of it. */
function noteCorrections({ parts, named, notes }: Work): void {
  const corrected = named.rollouts.reduce((sum, { id }) => sum + correctionsOf(parts.store, id).size, 0);
  if (corrected === 0) return;
  const subject = corrected === 1 ? "One answer was" : `${corrected} answers were`;
  notes.push(`${subject} corrected by hand: the rows hold what was said. A training run learns the corrections (docs/attach.md).`);
}

/** Set when the id names one rollout: its rewards are compared with its whole group's, and its rows alone are written. */
function onlyRollout({ rollouts, one }: Named): string | null {
  return one ? (rollouts[0]?.id ?? null) : null;
}

async function* rowsOf({ parts, request, named, report, signal }: Work, leftOut: LeftOutList): AsyncGenerator<TrainingRow> {
  if (named.run !== null) {
    yield* runRows({ parts, run: named.run, leftOut, report, signal });
    return;
  }
  const algorithm = algorithmOf(request.algorithm);
  const only = onlyRollout(named);
  const source = { store: parts.store, rollouts: only === null ? named.rollouts : groupAround(parts, named.rollouts), leftOut, report, signal };
  const supervised = request.format === "trl-sft" || request.format === "verl-sft";
  for await (const row of supervised ? supervisedRows(source, algorithm, request.all) : rewardedRows(source, algorithm)) {
    if (only === null || row.rollout.id === only) yield row;
  }
}

function groupAround({ store }: ExportParts, [one]: readonly RolloutRecord[]): readonly RolloutRecord[] {
  return one === undefined ? [] : store.rolloutsOf(one.experimentId).filter((other) => groupOf(other) === groupOf(one));
}

function nothingToTrain(leftOut: ExportReport["leftOut"]): WorkbenchError {
  const reasons = leftOut.map(({ reason, count }) => `${count} × ${reason}`).join("; ");
  return new WorkbenchError(
    "usage",
    `There is nothing to train in it${reasons === "" ? "" : `: ${reasons}`}.`,
    "Export it as atif, harbor, har, csv or html, or choose rollouts of a policy that gives token ids.",
    { exitCode: 1 },
  );
}

async function measuredOf({ parts, named }: Work) {
  const wanted = new Set(named.rollouts.map(({ id }) => id));
  const experiments = new Set(named.rollouts.map(({ experimentId }) => experimentId));
  const measured = await Promise.all([...experiments].map((id) => measureExperiment(parts.store, id)));
  return measured.flat().filter(({ rollout }) => wanted.has(rollout.id));
}

/** One rollout is a file; several are a folder with one file each. */
async function writeTrajectories(work: Work, path: string): Promise<Written> {
  const { store } = work.parts;
  const { rollouts, experiment } = work.named;
  const alone = rollouts.length === 1;
  // Images stand beside the document; one file alone has its own folder for them.
  const images = alone ? `${basename(work.request.path).replace(/\.json$/, "")}-images` : "images";
  let count = 0;
  if (!alone) await mkdir(path);
  for (const rollout of rollouts) {
    const media = mediaFiles(store, images);
    const trajectory = atifTrajectory({ store, experiment, rollout, media });
    if (trajectory === null) work.leftOut.add(rollout.id, "no model call was answered");
    else {
      await writeFile(alone ? path : join(path, `${rollout.id}.json`), readableJson(trajectory, 2));
      await media.write(alone ? dirname(work.request.path) : path);
      count += 1;
    }
    await nextTurn(work, count, "trajectories");
  }
  if (count === 0)
    throw new WorkbenchError("usage", "No model call was answered in it, so there is no trajectory.", "Export it as har or csv.", { exitCode: 1 });
  return counted(count, "trajectory", "trajectories");
}

async function writePages(work: Work, path: string): Promise<Written> {
  const { store, version } = work.parts;
  const { experiment, rollouts } = work.named;
  const measured = new Map((await measuredOf(work)).map(({ rollout, measures }) => [rollout.id, measures]));
  const alone = rollouts.length === 1;
  let count = 0;
  if (!alone) await mkdir(path);
  for (const rollout of rollouts) {
    const measures = measured.get(rollout.id);
    if (measures === undefined) {
      work.leftOut.add(rollout.id, "has not ended");
      continue;
    }
    await writeFile(alone ? path : join(path, `${rollout.id}.html`), rolloutPage({ store, experiment, rollout, measures, version }));
    count += 1;
    await nextTurn(work, count, "pages");
  }
  if (count === 0) throw new WorkbenchError("usage", "No rollout of it has ended.", "Wait for it, or cancel it.", { exitCode: 1 });
  return counted(count, "page", "pages");
}

async function nextTurn({ named, report, signal }: Work, count: number, unit: string): Promise<void> {
  report(`${count} of ${named.rollouts.length} ${unit}`);
  await giveWay(signal);
}
