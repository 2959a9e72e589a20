/**
 * Many rollouts in a row through one service, and what is left of them: no process, container, socket, folder, control group or open
 * descriptor, and no memory that grows with their number.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { experimentSpecSchema } from "../../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../../main/boot.ts";
import { writeSmallTask } from "../../contract/small-task.ts";
import { leftovers, openDescriptors, type Places } from "./leftovers.ts";

const policy = `scripted:${fileURLToPath(new URL("policy.yaml", import.meta.url))}`;
const concurrency = 4;
/** Rollouts before anything is measured: caches fill, resident processes start. */
const warmUp = 8;
/** Resident and idle processes end by themselves within this time after the last rollout. */
const settleMs = 45_000;

export interface SoakOptions {
  readonly kind: "local" | "docker";
  readonly rollouts: number;
  readonly note: (line: string) => void;
}

export interface SoakResult {
  readonly solved: number;
  /** One line for each thing that is left. */
  readonly left: readonly string[];
  /** More than after the warm-up. */
  readonly descriptors: number;
  /** Growth of what the service holds in memory from the middle third to the last, bytes a rollout. */
  readonly bytesARollout: number;
  readonly msARollout: number;
}

export async function soak({ kind, rollouts, note }: SoakOptions): Promise<SoakResult> {
  const folder = mkdtempSync(join(tmpdir(), "openforge-soak-"));
  const temporaryFolder = join(folder, "tmp");
  mkdirSync(temporaryFolder);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = temporaryFolder;
  const dataFolder = join(folder, "data");
  const workbench = await bootWorkbench({ dataFolder });
  const places: Places = {
    ...{ dataFolder, temporaryFolder, runtimeFolder: workbench.folders.runtime, ownerId: workbench.ownerId },
    docker: kind === "docker",
  };
  const boxes = new Set<string>();
  const watch = setInterval(() => noteBoxes(dataFolder, boxes), 50);
  try {
    const task = writeSmallTask(join(folder, "task"), {
      name: "soak",
      test: 'if [ "$(cat /app/answer.txt)" = 42 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt',
      files: {
        "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\nCOPY files/ /app/\n",
        "environment/files/note.txt": "a note\n",
        "task.toml":
          'schema_version = "1.4"\n\n[metadata.openforge]\ninitial_state = { files = "environment/files" }\n\n[environment]\nworkdir = "/app"\nnetwork_mode = "no-network"\n',
      },
    });
    await runMany(workbench, task, kind, warmUp);
    const descriptors = openDescriptors();
    const chunk = Math.max(warmUp, Math.round(rollouts / 30));
    const memory: number[] = [];
    let solved = 0;
    const startedAt = performance.now();
    for (let done = 0; done < rollouts; done += chunk) {
      solved += await runMany(workbench, task, kind, Math.min(chunk, rollouts - done));
      memory.push(heldBytes());
      if (memory.length % 5 === 0) note(`${Math.min(done + chunk, rollouts)} of ${rollouts} rollouts, ${(memory.at(-1) ?? 0) / 1e6} MB held`);
    }
    const msARollout = (performance.now() - startedAt) / rollouts;
    const more = openDescriptors() - descriptors;
    await workbench.close();
    let left = await leftovers(places, boxes);
    for (const end = Date.now() + settleMs; left.length > 0 && Date.now() < end; left = await leftovers(places, boxes)) await delay(500);
    return { solved, left, descriptors: more, bytesARollout: growth(memory, chunk), msARollout };
  } finally {
    clearInterval(watch);
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await workbench.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Number of rollouts that were solved. */
async function runMany(workbench: Workbench, task: string, sandbox: SoakOptions["kind"], k: number): Promise<number> {
  const spec = experimentSpecSchema.parse({ tasks: [task], policies: [policy], sandbox, k, concurrency });
  const id = await workbench.rollouts.startExperiment(spec);
  await workbench.rollouts.settled(id);
  return workbench.store.rolloutsOf(id).filter((rollout) => rollout.reward === 1).length;
}

function noteBoxes(dataFolder: string, boxes: Set<string>): void {
  try {
    for (const name of readdirSync(join(dataFolder, "sandboxes/local"))) boxes.add(name);
  } catch {
    // There is none yet.
  }
}

/** What is in use after a collection, outside the heap too. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function growth(memory: readonly number[], chunk: number): number {
  const third = Math.floor(memory.length / 3);
  if (third === 0) return 0;
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  return (mean(memory.slice(-third)) - mean(memory.slice(-2 * third, -third))) / (third * chunk);
}
