/**
 * A whole training run whose answers come from a vLLM server: it samples, the workbench trains. The server is a stand-in with real weights:
 * each step's adapter is loaded into it while it runs, and what it answers then is of that step.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { openVllmEngine } from "../stand-ins/vllm-engine.ts";
import { startVllmServer, type VllmServer } from "../stand-ins/vllm-server.ts";

const { ready, detail } = await sandboxProviders({ stateFolder: join(tmpdir(), "of-probe") }).local.probe();
const folder = mkdtempSync(join(tmpdir(), "of-training-vllm-"));
const engine = openVllmEngine({ modelFolder: resolve("resources/policies/starter"), contextWindow: 256, lanes: 8 });
const loaded: string[] = [];
let server: VllmServer;
let workbench: Workbench;

beforeAll(async () => {
  const noting = {
    ...engine,
    load: async (name: string, at: string) => {
      loaded.push(at);
      await engine.load(name, at);
    },
  };
  server = await startVllmServer({ template: "chatml-stable", seed: 1, takesAdapters: true, engine: noting, contextWindow: 256 });
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  await server.close();
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const yaml = (mode: string, sampler: string): string => `
name: by vllm, ${mode}
seed: 7
base: starter
train: { rank: 8, alpha: 16 }
sampler: { vllm: ${sampler} }
tasks: { train: { starter: { count: 20 } }, heldOut: { starter: { count: 6 } } }
concurrency: 8
limits: { contextWindow: 256, answerTokens: 48, batchTokens: 1024, threads: 1 }
stages:
  - { kind: rl, overrides: { divergence: 0 }, flatGroups: drop, steps: 3, tasks: 4, group: 4, rate: 2e-3, collection: { mode: ${mode} } }
`;

describe.skipIf(!ready)(`a run that a vLLM server samples for${ready ? "" : ` (skipped: ${detail})`}`, () => {
  beforeAll(() => workbench.policies.add({ id: "box", url: server.url, kind: "vllm", replace: true }));

  test.each(["synchronous", "one-step-asynchronous"])(
    "hands over each step's adapter and learns from what came of it, %s",
    async (mode) => {
      const { training, store } = workbench;
      const id = await training.start({ yaml: yaml(mode, "box"), folder });
      await training.follow(id, () => undefined, new AbortController().signal);
      const run = training.get(id);
      expect(run).toMatchObject({ status: "ended", step: 3, problem: null });

      // Every answer is of the step that its rollout names; the server was asked for one name a step.
      const behind = mode === "synchronous" ? 1 : 2;
      const rollouts = store.rolloutsOf(run.experiment ?? "");
      const versions = new Set<string>();
      for (const rollout of rollouts) {
        const { purpose, step } = rollout.labels;
        const of = purpose === "evaluation" ? Number(step) : Math.max(0, Number(step) - behind);
        const calls = store.callsOf(rollout.id);
        expect(calls.length).toBeGreaterThan(0);
        for (const call of calls) expect(call.policyVersion).toBe(`${id}@${of}`);
        versions.add(`${of}`);
      }
      const folders = loaded.filter((path) => path.includes(id)).map((path) => path.split("/").at(-1) ?? "");
      expect([...new Set(folders)].toSorted()).toEqual([...versions].toSorted());
      expect(new Set(server.models.filter((name) => name.startsWith(id))).size).toBe(versions.size);

      // What was sampled there is what was trained here: its numbers are the trainer's own, and each step moved the weights.
      for (const { metrics, uniqueTokens, gradientNorm, updates } of run.points) {
        expect(uniqueTokens).toBeGreaterThan(0);
        if (updates === 0) continue;
        expect(gradientNorm).toBeGreaterThan(0);
        expect(metrics.samplerGapK3).toBeLessThan(mode === "synchronous" ? 1e-4 : 1e-2);
      }
      expect(run.points.map(({ staleness }) => staleness)).toEqual(mode === "synchronous" ? [0, 0, 0] : [0, 1, 1]);
      expect(run.points.reduce((sum, { updates }) => sum + updates, 0)).toBeGreaterThan(1);
      expect(run.evaluations.map(({ success }) => success.n)).toEqual([6, 6]);
    },
    180_000,
  );

  test("a server that is not saved here begins no run, and is told with what to do", async () => {
    const { training } = workbench;
    const runs = training.list().length;
    await expect(training.start({ yaml: yaml("synchronous", "nowhere"), folder })).rejects.toMatchObject({
      message: 'There is no saved policy "nowhere".',
      remedy: expect.stringContaining("openforge policy add nowhere"),
    });
    expect(training.list()).toHaveLength(runs);
  });
});
