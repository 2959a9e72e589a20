/**
 * The service is killed (-9) at random moments of a deterministic training run and started again each time: the run ends with the
 * weights of one that nobody disturbed, to the bit, and no step or rollout is repeated or lost.
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
import { type RunFolder, runFolders } from "../../main/training/run-folder.ts";
import { type KillableChild, startKillable } from "../stand-ins/killable-child.ts";

const kills = Number(process.env.OPENFORGE_TRAINING_KILLS ?? "3");
const random = seededRandom(Number(process.env.OPENFORGE_TRAINING_SEED ?? "1"));
const { ready, detail } = await sandboxProviders({ stateFolder: join(tmpdir(), "of-probe") }).local.probe();

const steps = 4;
const groups = 2;
const size = 4;
const yaml = `
name: killed
seed: 5
base: starter
train: weights
tasks: { train: { starter: { count: 12 } }, heldOut: { starter: { count: 4 } } }
concurrency: 4
deterministic: true
limits: { contextWindow: 256, answerTokens: 64, batchTokens: 1024, lanes: 4, threads: 1 }
stages:
  - { kind: rl, algorithm: rloo, overrides: { aggregation: token-mean }, steps: ${steps}, tasks: ${groups}, group: ${size}, rate: 4e-4 }
evaluation: { before: false }
`;

let folder = "";
let running: ChildProcess | undefined;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "of-training-"));
  writeFileSync(join(folder, "run.yaml"), yaml);
});
afterAll(() => {
  running?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function start(data: string): KillableChild {
  const started = startKillable(join(import.meta.dirname, "../stand-ins/killable-training/main.ts"), [data, join(folder, "run.yaml")]);
  running = started.child;
  return started;
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

test.skipIf(!ready)(
  `a deterministic run outlives ${kills} kills of its service to the bit${ready ? "" : ` (skipped: ${detail})`}`,
  async () => {
    const [calm, killed] = [join(folder, "calm"), join(folder, "killed")];
    const began = Date.now();
    expect(await start(calm).ended).toContain("done");
    const undisturbed = Date.now() - began;

    let cut = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const service = start(killed);
      await service.ready;
      await new Promise((resolve) => setTimeout(resolve, 500 + (undisturbed / 2) * random()));
      service.child.kill("SIGKILL");
      if (!(await service.ended).includes("done")) cut += 1;
    }
    expect(cut).toBeGreaterThan(0);
    expect(await start(killed).ended).toContain("done");

    expect(outcomeOf(killed)).toEqual(outcomeOf(calm));
    const store = openStore(killed);
    try {
      const rollouts = store.experiments().flatMap(({ id }) => store.rolloutsOf(id));
      const keys = rollouts.map(({ labels }) => labels.key);
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys.length).toBe(steps * groups * size + 4);
      expect(rollouts.filter(({ phase }) => phase !== "ended")).toEqual([]);
    } finally {
      store.close();
    }
    expect(readdirSync(runOf(killed).path).filter((name) => name.includes("partial"))).toEqual([]);
  },
  300_000 + kills * 60_000,
);
