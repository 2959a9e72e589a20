/**
 * The service is killed (-9) at random moments of a training run and started again each time: no step or rollout is repeated or lost. A
 * deterministic run ends with the weights of one that nobody disturbed, to the bit; one that samples ahead of its updates ends as well.
 * OPENFORGE_TRAINING_KILLS sets the number of kills (10 = the full form).
 */
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../../engine/statistics/index.ts";
import { trainingFolder } from "../../main/models/index.ts";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { openStore } from "../../main/store/index.ts";
import { readCheckpoint } from "../../main/training/embedded/checkpoint.ts";
import { type RunFolder, runFolders } from "../../main/training/run-folder.ts";
import { type KillableChild, startKillable } from "../stand-ins/killable-child.ts";

const kills = Number(process.env.OPENFORGE_TRAINING_KILLS ?? "3");
const random = seededRandom(Number(process.env.OPENFORGE_TRAINING_SEED ?? "1"));
const { ready, detail } = await sandboxProviders({ stateFolder: join(tmpdir(), "of-probe") }).local.probe();

const steps = 4;
const groups = 2;
const size = 4;
const stage = `kind: rl, algorithm: rloo, overrides: { aggregation: token-mean }, steps: ${steps}, tasks: ${groups}, group: ${size}, rate: 4e-4`;
const head = `
seed: 5
base: starter
train: weights
concurrency: 4
limits: { contextWindow: 256, answerTokens: 64, batchTokens: 1024, lanes: 4, threads: 1 }
`;
const deterministic = `${head}
name: killed
deterministic: true
tasks: { train: { starter: { count: 12 } }, heldOut: { starter: { count: 4 } } }
stages: [{ ${stage} }]
evaluation: { before: false }
`;
const asynchronous = `${head}
name: killed while it samples ahead
tasks: { train: { starter: { count: 12 } }, heldOut: { starter: { count: 16 } } }
stages: [{ ${stage}, collection: { mode: one-step-asynchronous, stale: correct } }]
`;

let folder = "";
let running: ChildProcess | undefined;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "of-training-"));
});
afterAll(() => {
  running?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function start(data: string, yaml: string): KillableChild {
  const file = join(folder, "run.yaml");
  writeFileSync(file, yaml);
  const started = startKillable(join(import.meta.dirname, "../stand-ins/killable-training/main.ts"), [data, file]);
  running = started.child;
  return started;
}

/** Once to its end, and once with kills, in the folders that are given. */
async function runTwice(yaml: string, calm: string, killed: string): Promise<void> {
  const began = Date.now();
  expect(await start(calm, yaml).ended).toContain("done");
  const undisturbed = Date.now() - began;
  let cut = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const service = start(killed, yaml);
    await service.ready;
    await new Promise((resolve) => setTimeout(resolve, 500 + (undisturbed / 2) * random()));
    service.child.kill("SIGKILL");
    if (!(await service.ended).includes("done")) cut += 1;
  }
  expect(cut).toBeGreaterThan(0);
  expect(await start(killed, yaml).ended).toContain("done");
}

/** Every rollout that was wanted is there once and has ended; nothing half-written is left. */
function expectWhole(data: string, rollouts: number): void {
  const store = openStore(data);
  try {
    const stored = store.experiments().flatMap(({ id }) => store.rolloutsOf(id));
    expect(new Set(stored.map(({ labels }) => labels.key)).size).toBe(stored.length);
    expect(stored.length).toBe(rollouts);
    expect(stored.filter(({ phase }) => phase !== "ended")).toEqual([]);
  } finally {
    store.close();
  }
  expect(readdirSync(runOf(data).path).filter((name) => name.includes("partial"))).toEqual([]);
}

function runOf(data: string): RunFolder {
  const [run] = runFolders(data);
  if (run === undefined) throw new Error(`there is no run in ${trainingFolder(data)}`);
  return run;
}

/** Everything that must be equal, whatever happened on the way. */
function outcomeOf(data: string) {
  const run = runOf(data);
  const weights = createHash("sha256")
    .update(readFileSync(join(run.published(steps), "model.safetensors")))
    .digest("hex");
  const learnt = run.steps().map((step) => {
    const { point, rollouts } = run.readStep(step);
    const { rows } = run.readTokens(step);
    return {
      step,
      loss: point.loss,
      norm: point.gradientNorm,
      rollouts: rollouts.map(({ task, group, reward, advantage, trainedTokens, leftOut }) => ({
        task,
        group,
        reward,
        advantage,
        trainedTokens,
        leftOut,
      })),
      tokens: rows.map(({ rollout: _, ...row }) => row),
    };
  });
  const evaluated = run.evaluations().map((step) => run.readEvaluation(step).rollouts.map(({ task, success }) => ({ task, success })));
  return { weights, learnt, evaluated };
}

const skipped = ready ? "" : ` (skipped: ${detail})`;
const limitMs = 300_000 + kills * 60_000;

test.skipIf(!ready)(
  `a deterministic run outlives ${kills} kills of its service to the bit${skipped}`,
  async () => {
    const [calm, killed] = [join(folder, "calm"), join(folder, "killed")];
    await runTwice(deterministic, calm, killed);
    expect(outcomeOf(killed)).toEqual(outcomeOf(calm));
    expectWhole(killed, steps * groups * size + 4);
  },
  limitMs,
);

test.skipIf(!ready)(
  `a run that samples ahead loses and repeats no step in ${kills} kills, and ends where an undisturbed one does${skipped}`,
  async () => {
    const [calm, killed] = [join(folder, "calm-ahead"), join(folder, "killed-ahead")];
    await runTwice(asynchronous, calm, killed);
    expectWhole(killed, steps * groups * size + 2 * 16);

    const run = runOf(killed);
    const records = run.steps().map((step) => run.readStep(step));
    expect(records.map(({ point }) => point.step)).toEqual([1, 2, 3, 4]);
    for (const { point, rollouts } of records) {
      expect(rollouts).toHaveLength(groups * size);
      expect(point.staleness).toBeLessThanOrEqual(1);
    }
    expect(new Set(records.flatMap(({ rollouts }) => rollouts.map(({ rollout }) => rollout))).size).toBe(steps * groups * size);
    // The optimiser has taken as many updates as the steps tell of.
    const { optimiser } = await readCheckpoint(run.checkpoint(steps));
    expect(optimiser.step).toBe(records.reduce((sum, { point }) => sum + point.updates, 0));

    for (const step of [0, steps]) {
      const [left, right] = [calm, killed].map((data) => runOf(data).readEvaluation(step).view.success);
      expect([left?.n, right?.n]).toEqual([16, 16]);
      expect(left?.low ?? 1).toBeLessThanOrEqual(right?.high ?? 0);
      expect(right?.low ?? 1).toBeLessThanOrEqual(left?.high ?? 0);
    }
  },
  limitMs,
);
