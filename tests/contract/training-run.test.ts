/**
 * Training runs over the whole way: the shipped tiny policy in `react`, a real process, with real bash in local sandboxes and real verifiers.
 * Deterministic, so that a run learns as much today as it did yesterday.
 */
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TrainingRunView } from "../../main/api/training-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { loadPolicyText } from "../../main/proxy/index.ts";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { generateStarterTasks } from "../../main/starter/index.ts";
import { sampledRows } from "../../main/training/chain-rows.ts";
import { renderedRows } from "../../main/training/rendered-rows.ts";

const { ready, detail } = await sandboxProviders({ stateFolder: join(tmpdir(), "of-probe") }).local.probe();
const folder = mkdtempSync(join(tmpdir(), "of-training-"));
let workbench: Workbench;
beforeAll(async () => {
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  rmSync(folder, { recursive: true, force: true });
});

const head = `
base: starter
train: weights
concurrency: 8
deterministic: true
limits: { contextWindow: 256, answerTokens: 48, batchTokens: 2048, lanes: 8 }
`;
const rl = "kind: rl, algorithm: grpo, overrides: { divergence: 0, aggregation: token-mean }, flatGroups: drop, rate: 1e-3";

async function train(yaml: string, top = head): Promise<TrainingRunView> {
  const id = await workbench.training.start({ yaml: `${top}${yaml}`, folder: resolve("resources") });
  await workbench.training.follow(id, (line) => console.log(line), new AbortController().signal);
  return workbench.training.get(id);
}

describe.skipIf(!ready)(`a training run${ready ? "" : ` (skipped: ${detail})`}`, () => {
  test("learns: success on held-out tasks rises, every step is stored, every answer is stamped", async () => {
    const run = await train(`
name: learns
seed: 101
tasks: { train: { starter: { count: 60 } }, heldOut: { starter: { count: 60 } } }
stages: [{ ${rl}, steps: 5, tasks: 8, group: 8, warmUp: 1 }]
`);
    expect(run).toMatchObject({ status: "ended", step: 5, steps: 5, algorithm: "grpo", problem: null });
    const [before, after] = run.evaluations;
    console.log(`success ${before?.success.mean} → ${after?.success.mean}, paired gain ${run.gain?.mean} [${run.gain?.low}, ${run.gain?.high}]`);
    expect(run.gain?.low).toBeGreaterThan(0);
    expect(Object.keys(after?.families ?? {})).toEqual(["calc", "dir", "find", "rename", "write"]);
    expect(after?.behaviour.calls?.mean).toBeGreaterThan(1);
    expect(after?.missing).toEqual({});

    for (const point of run.points) {
      expect(point.health.map(({ measure }) => measure)).not.toContain("mask");
      expect(point.metrics.samplerGapK3).toBeLessThan(1e-4);
      expect(point.seconds.idle).toBeLessThan(point.seconds.total);
    }
    const { rollouts } = workbench.training.step(run.id, 3);
    expect(rollouts).toHaveLength(64);
    expect(new Set(rollouts.map(({ policyVersion }) => policyVersion))).toEqual(new Set([`${run.id}@2`]));
    const used = rollouts.filter(({ advantage }) => advantage !== null);
    expect(used.reduce((sum, { lossShare }) => sum + (lossShare ?? 0), 0)).toBeCloseTo(1, 6);
    const [one] = used;
    if (one === undefined) throw new Error("no rollout took part");
    const tokens = workbench.training.stepTokens(run.id, 3, one.rollout, 0);
    expect(tokens.mask.filter((trains) => trains === 1)).toHaveLength(one.trainedTokens);
    expect(tokens.advantages.find((value) => value !== null)).toBeCloseTo(one.advantage ?? Number.NaN, 6);
  }, 240_000);

  test("one step behind, stale answers are stamped and corrected; an inverted mask is told", async () => {
    const run = await train(
      `
name: behind
tasks: { train: { starter: { count: 10 } } }
controls: { invertMask: true }
stages: [{ ${rl}, steps: 3, tasks: 2, group: 4, collection: { mode: one-step-asynchronous, stale: correct } }]
`,
      head.replace("deterministic: true", "deterministic: false"),
    );
    expect(run.points.map(({ staleness }) => staleness)).toEqual([0, 1, 1]);
    expect(run.points[0]?.health.find(({ measure }) => measure === "mask")?.message).toMatch(
      /^The mask is inverted or shifted: \d+ % of the trained tokens/,
    );
  }, 120_000);

  test("learns from a teacher, pauses after the step in hand and goes on", async () => {
    const { training } = workbench;
    const yaml = `
name: imitates
tasks: { train: { starter: { count: 10 } } }
stages:
  - { kind: sft, teacher: { policy: "embedded:${resolve("resources/policies/starter")}", perTask: 2 }, keep: all, passes: 4, batch: 4, rate: 1e-3 }
`;
    const id = await training.start({ yaml: `${head}${yaml}`, folder: resolve("resources") });
    await training.checkpoint(id);
    await training.pause(id);
    const paused = training.get(id);
    expect(paused.status).toBe("paused");
    expect(paused.points.filter(({ checkpoint }) => checkpoint).length).toBeGreaterThan(0);
    await training.resume(id);
    await training.follow(id, () => undefined, new AbortController().signal);
    const run = training.get(id);
    expect(run).toMatchObject({ status: "ended", algorithm: "sft", step: 20, steps: 20 });
    expect(run.points.at(-1)?.loss).toBeLessThan(run.points[0]?.loss ?? 0);

    // A teacher of another vocabulary is learnt from by its words: of this one they must give the very tokens that it sampled.
    const { store } = workbench;
    const { builder } = await loadPolicyText(resolve("resources/policies/starter"));
    const succeeded = store.rolloutsOf(run.experiment ?? "").filter(({ outcome }) => outcome?.status === "succeeded");
    expect(succeeded.length).toBeGreaterThan(3);
    for (const rollout of succeeded) {
      const byTokens = sampledRows(store, rollout.id).map(({ ids, mask }) => ({ ids: [...ids], mask: [...mask] }));
      expect(renderedRows(store, rollout.id, builder).map(({ ids, mask }) => ({ ids: [...ids], mask: [...mask] }))).toEqual(byTokens);
    }
  }, 120_000);

  test("stops asking a teacher when its spending limit is reached, and learns from what there is", async () => {
    const teacher = `{ policy: "embedded:${resolve("resources/policies/starter")}", perTask: 3, spendingLimit: 300 }`;
    const run = await train(`
name: thrifty
tasks: { train: { starter: { count: 10 } } }
stages: [{ kind: sft, teacher: ${teacher}, keep: all, batch: 4, rate: 1e-3 }]
`);
    const outcomes = workbench.store.rolloutsOf(run.experiment ?? "").map(({ outcome }) => outcome?.status);
    expect(outcomes).toHaveLength(30);
    expect(outcomes.filter((status) => status === "cancelled").length).toBeGreaterThan(10);
    expect(run.steps).toBe(Math.ceil(outcomes.filter((status) => status !== "cancelled").length / 4));
  }, 60_000);

  test("tasks that vanish, and an experiment that is cancelled, end a run with a sentence; resumed, it goes on", async () => {
    const { training, rollouts } = workbench;
    const tasks = join(folder, "vanishing");
    await generateStarterTasks({ split: "train", count: 6, seed: 3, folder: tasks });
    const yaml = `${head}
name: robbed
tasks: { train: ${tasks} }
checkpoints: { every: 1, keep: 9 }
stages: [{ ${rl}, steps: 6, tasks: 2, group: 2 }]
`;
    const id = await training.start({ yaml, folder });
    const follow = (): Promise<unknown> => training.follow(id, () => undefined, new AbortController().signal);
    await training.checkpoint(id);
    renameSync(tasks, `${tasks}-gone`);
    await expect(follow()).rejects.toThrow(`There is no folder ${tasks}`);
    expect(training.get(id)).toMatchObject({ status: "failed" });
    await training.resume(id);
    await expect(follow()).rejects.toMatchObject({ message: `The task folder ${tasks} cannot be read.`, remedy: expect.stringContaining("Name a") });

    renameSync(`${tasks}-gone`, tasks);
    await training.resume(id);
    await training.checkpoint(id);
    await rollouts.cancel(training.get(id).experiment ?? "");
    await expect(follow()).rejects.toMatchObject({
      message: expect.stringContaining("was cancelled while the run went on"),
      remedy: expect.stringMatching(/^Resume/),
    });
    await training.resume(id);
    await follow();
    expect(training.get(id)).toMatchObject({ status: "ended", step: 6, problem: null });
  }, 120_000);

  test("a run file that is wrong is told by its line, and nothing is begun", async () => {
    const check = await workbench.training.check({ yaml: "name: x\nbase: starter\nstagez: []\n", folder });
    expect(check.valid).toBe(false);
    expect(check.faults.map(({ line }) => line)).toContain(3);
    const known = workbench.training.list().length;
    await expect(workbench.training.start({ yaml: "name: x\n", folder })).rejects.toThrow("Line 1 of the run file");
    await expect(
      workbench.training.start({
        yaml: `${head}name: x\ntasks: { train: starter }\nharnesses: [none]\nstages: [{ ${rl}, steps: 1, tasks: 1 }]`,
        folder,
      }),
    ).rejects.toThrow("none");
    expect(workbench.training.list()).toHaveLength(known);
  });
});
