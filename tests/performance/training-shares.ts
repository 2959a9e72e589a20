/**
 * Where a training run's time goes, on the starter experiment: how long sampler, trainer and sandboxes are at work, how many rollouts an
 * hour, how often a token is trained, and whose processor time a rollout is. Synchronous collection beside one-step-asynchronous, in turns.
 *
 * Covers: the whole loop with real harness processes, sandboxes and verifiers. Does not cover: a policy of a usable size, whose sampling and
 * training would take nearly all of the time; here it is the other way round, which is what makes the overhead visible.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse, stringify } from "yaml";
import type { TrainingRunView } from "../../main/api/training-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { type BenchmarkRow, rowOf } from "./measure/compare.ts";
import { measureProcessorTime } from "./measure/processor-time.ts";

/** Each takes about half a minute on two cores. */
const repetitions = Math.max(1, Number(process.env.OPENFORGE_REPETITIONS ?? 2));
const steps = Number(process.env.OPENFORGE_TRAINING_STEPS ?? 8);
const modes = ["synchronous", "one-step-asynchronous"] as const;
type Mode = (typeof modes)[number];

interface Measured {
  readonly run: TrainingRunView;
  readonly rollouts: number;
  readonly processor: ReadonlyMap<string, number>;
}

export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "openforge-shares-"));
  const workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
  const measured: Record<Mode, Measured[]> = { synchronous: [], "one-step-asynchronous": [] };
  try {
    for (let repetition = 0; repetition < repetitions; repetition += 1) {
      for (const mode of modes) {
        const one = await train(workbench, folder, mode, 51 + repetition);
        measured[mode].push(one);
        note(`${mode}: ${describe(one)}`);
      }
    }
  } finally {
    await workbench.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return rowsOf(measured);
}

async function train({ training, store }: Workbench, folder: string, mode: Mode, seed: number): Promise<Measured> {
  const shipped = parse(readFileSync(resolve("resources/training/starter.yaml"), "utf8")) as { readonly stages: readonly object[] };
  const yaml = stringify({
    ...shipped,
    stages: shipped.stages.map((stage) => ({ ...stage, steps, collection: { mode, stale: "correct" } })),
    evaluation: { before: false, after: false },
  });
  const processor = measureProcessorTime(partOf);
  const id = await training.start({ yaml, folder, seed });
  await training.follow(id, () => undefined, new AbortController().signal);
  const used = processor.stop();
  const run = training.get(id);
  return { run, rollouts: store.rolloutsOf(run.experiment ?? "").length, processor: used };
}

/** Commands in sandboxes are started by the launcher, and count as its own once they have ended. */
function partOf(commandLine: string): string {
  if (commandLine.includes("launcher-process")) return "sandboxes";
  if (commandLine.includes("training/embedded")) return "trainer";
  if (commandLine.includes("main/sampler")) return "sampler";
  return "";
}

interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly aim: string;
  readonly of: (measured: Measured) => number;
}

const share =
  (part: "engine" | "sampling" | "sandbox" | "training" | "idle") =>
  ({ run }: Measured) =>
    run.seconds[part] / run.seconds.total;

const figures: readonly Figure[] = [
  { name: "sampler or trainer at work", unit: "of 1", aim: "≥ 0.85", of: share("engine") },
  { name: "sampler at work", unit: "of 1", aim: "–", of: share("sampling") },
  { name: "trainer at work", unit: "of 1", aim: "–", of: share("training") },
  { name: "sandboxes, harnesses or verifiers at work", unit: "of 1", aim: "–", of: share("sandbox") },
  { name: "nothing at work", unit: "of 1", aim: "≤ 0.05", of: share("idle") },
  { name: "rollouts an hour", unit: "1/h", aim: "–", of: ({ run, rollouts }) => (3600 * rollouts) / run.seconds.total },
  { name: "trained ÷ unique tokens", unit: "of 1", aim: "–", of: ({ run }) => sum(run, "trainedTokens") / sum(run, "uniqueTokens") },
  ...["service", "sandboxes", "trainer", "sampler"].map(
    (part): Figure => ({
      name: `processor time a rollout, ${part}`,
      unit: "ms",
      aim: "–",
      of: ({ processor, rollouts }) => (1000 * (processor.get(part) ?? Number.NaN)) / rollouts,
    }),
  ),
];

function sum({ points }: TrainingRunView, field: "trainedTokens" | "uniqueTokens"): number {
  return points.reduce((total, point) => total + point[field], 0);
}

function rowsOf(measured: Readonly<Record<Mode, readonly Measured[]>>): readonly BenchmarkRow[] {
  return figures.map(({ name, unit, aim, of }) => {
    const [asynchronous, synchronous] = [measured["one-step-asynchronous"].map(of), measured.synchronous.map(of)];
    return rowOf({ name: `training run, one step ahead: ${name}`, unit, aim }, asynchronous, { name: "synchronous", values: synchronous });
  });
}

function describe({ run, processor }: Measured): string {
  const seconds = Object.entries(run.seconds).map(([part, value]) => `${part} ${value.toFixed(1)}`);
  const used = [...processor].map(([part, value]) => `${part} ${value.toFixed(1)}`);
  return `seconds ${seconds.join(", ")}; processor seconds ${used.join(", ")}`;
}
