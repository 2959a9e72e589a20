/**
 * Where a training run's time goes, on the starter experiment: how long sampler, trainer and sandboxes are at work, how many rollouts an
 * hour, how often a token is trained, and whose processor time a rollout is. Synchronous collection beside one-step-asynchronous, in turns.
 *
 * Covers: the whole loop with real harness processes, sandboxes and verifiers, with two policies. The starter policy answers in a few
 * milliseconds, so that nearly all of the time is the sandboxes' and the service's. Behind a vLLM server that takes 0.3 s for each answer, as a
 * usable model would, the same rollouts show whether the loop leaves sampler and trainer waiting. Does not cover: a server with a limit of its own.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parse, stringify } from "yaml";
import type { TrainingRunView } from "../../main/api/training-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { openVllmEngine } from "../stand-ins/vllm-engine.ts";
import { startVllmServer, type VllmEngine } from "../stand-ins/vllm-server.ts";
import { type BenchmarkRow, rowOf } from "./measure/compare.ts";
import { measureProcessorTime } from "./measure/processor-time.ts";

/** Each is four runs of half a minute to a minute on two cores. */
const repetitions = Math.max(1, Number(process.env.OPENFORGE_REPETITIONS ?? 1));
const measuredSteps = Number(process.env.OPENFORGE_TRAINING_STEPS ?? 8);
const modes = ["synchronous", "one-step-asynchronous"] as const;
type Mode = (typeof modes)[number];
const samplers = ["embedded", "slow"] as const;
type SamplerName = (typeof samplers)[number];
const answerMs = 300;
const policies: Readonly<Record<SamplerName, { readonly named: string; readonly file: object }>> = {
  embedded: { named: "starter policy", file: {} },
  slow: { named: "answers of 0.3 s", file: { sampler: { vllm: "slow" }, train: { rank: 8, alpha: 16 } } },
};

interface Measured {
  readonly run: TrainingRunView;
  readonly rollouts: number;
  readonly processor: ReadonlyMap<string, number>;
}

export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "openforge-shares-"));
  const engine = openVllmEngine({ modelFolder: resolve("resources/policies/starter"), contextWindow: 256, lanes: 16 });
  const server = await startVllmServer({ template: "chatml-stable", seed: 1, takesAdapters: true, engine: slowed(engine), contextWindow: 256 });
  const workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
  const rows: BenchmarkRow[] = [];
  try {
    await workbench.policies.add({ id: "slow", url: server.url, kind: "vllm", replace: true });
    for (const sampler of samplers) {
      // Unmeasured: what is started once.
      await train(workbench, folder, { mode: "synchronous", sampler, seed: 50, steps: 1 });
      const measured: Record<Mode, Measured[]> = { synchronous: [], "one-step-asynchronous": [] };
      for (let repetition = 0; repetition < repetitions; repetition += 1) {
        for (const mode of modes) {
          const one = await train(workbench, folder, { mode, sampler, seed: 51 + repetition, steps: measuredSteps });
          measured[mode].push(one);
          note(`${policies[sampler].named}, ${mode}: ${describe(one)}`);
        }
      }
      rows.push(...rowsOf(policies[sampler].named, measured));
    }
    return rows;
  } finally {
    await workbench.close();
    await server.close();
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function slowed(engine: VllmEngine): VllmEngine {
  return {
    ...engine,
    async sample(ask) {
      const [answer] = await Promise.all([engine.sample(ask), delay(answerMs)]);
      return answer;
    },
  };
}

interface Variant {
  readonly mode: Mode;
  readonly sampler: SamplerName;
  readonly seed: number;
  readonly steps: number;
}

async function train({ training, store }: Workbench, folder: string, { mode, sampler, seed, steps }: Variant): Promise<Measured> {
  const shipped = parse(readFileSync(resolve("resources/training/starter.yaml"), "utf8")) as { readonly stages: readonly object[] };
  const yaml = stringify({
    ...shipped,
    ...policies[sampler].file,
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
  if (commandLine.includes("react.mjs --resident")) return "harnesses";
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
  ...["service", "sandboxes", "harnesses", "trainer", "sampler"].map(
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

function rowsOf(policy: string, measured: Readonly<Record<Mode, readonly Measured[]>>): readonly BenchmarkRow[] {
  return figures.map(({ name, unit, aim, of }) => {
    const [asynchronous, synchronous] = [measured["one-step-asynchronous"].map(of), measured.synchronous.map(of)];
    return rowOf({ name: `training run, ${policy}, one step ahead: ${name}`, unit, aim }, asynchronous, { name: "synchronous", values: synchronous });
  });
}

function describe({ run, processor }: Measured): string {
  const seconds = Object.entries(run.seconds).map(([part, value]) => `${part} ${value.toFixed(1)}`);
  const used = [...processor].map(([part, value]) => `${part} ${value.toFixed(1)}`);
  return `seconds ${seconds.join(", ")}; processor seconds ${used.join(", ")}`;
}
