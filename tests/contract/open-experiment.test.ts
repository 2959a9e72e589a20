/** Experiments that stay open: rollouts are added step by step, stragglers cancelled, and what a stopped service left is its owner's. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { harnessRegistry } from "../../main/harnesses/index.ts";
import { createPolicyRegistry, type Proxy as RecordingProxy, startProxy } from "../../main/proxy/index.ts";
import {
  type AddedRollout,
  createRolloutService,
  type OpenExperiment,
  type PlannedRollout,
  type RolloutService,
  type RolloutServiceOptions,
} from "../../main/rollouts/index.ts";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { openStore, type Store } from "../../main/store/index.ts";
import { writeScriptedSteps } from "./scripted-steps.ts";
import { writeSmallTask } from "./small-task.ts";

const resources = join(import.meta.dirname, "../../resources");
let folder = "";
let store: Store;
let proxy: RecordingProxy;
let parts: RolloutServiceOptions;
let service: RolloutService;
let quick: string;
let endless: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "open-"));
  store = openStore(join(folder, "data"));
  proxy = await startProxy({ store });
  quick = policy("quick", ["echo one > one.txt"]);
  endless = policy("endless", ["sleep 300"]);
  parts = {
    store,
    proxy,
    policies: createPolicyRegistry({ store, policiesFolder: join(resources, "policies"), env: {} }),
    harnesses: harnessRegistry({
      shippedFolder: join(resources, "harnesses"),
      userFolder: join(folder, "harnesses"),
      cacheFolder: join(folder, "cache"),
    }),
    sandboxes: sandboxProviders({ stateFolder: join(folder, "data", "sandboxes") }),
    ownerId: "test",
    starterTasksFolder: join(resources, "tasks"),
    socketFolder: join(folder, "s"),
    env: {},
  };
  service = createRolloutService(parts);
});
afterAll(async () => {
  await service.close();
  await proxy.close();
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const policy = (name: string, commands: readonly string[]): string => writeScriptedSteps(folder, name, commands);
const open: OpenExperiment = {
  name: "a run",
  sandbox: "local",
  concurrency: 4,
  rules: { preset: "default", discardTimeouts: false },
  attempts: 2,
};
const planned = (step: number, groupIndex: number, change: Partial<PlannedRollout> = {}): PlannedRollout => ({
  taskPath: writeSmallTask(join(folder, "task"), { name: "task" }),
  harness: "react",
  policy: quick,
  groupIndex,
  seed: step * 100 + groupIndex,
  labels: { step, split: "train" },
  ...change,
});
const endings = async (added: readonly AddedRollout[]): Promise<unknown> =>
  (await Promise.all(added.map(({ ended }) => ended))).map((record) => record?.outcome?.status ?? null);

test("rollouts are added step by step, each with its labels, and the experiment ends when it is closed", { timeout: 60_000 }, async () => {
  const id = await service.openExperiment(open);
  const first = await service.addRollouts(id, [planned(0, 0), planned(0, 1)]);
  expect(await endings(first)).toEqual(["succeeded", "succeeded"]);
  expect(store.experiment(id)).toMatchObject({ kind: "training", status: "running", endedAt: null });
  const second = await service.addRollouts(id, [planned(1, 0)]);
  const record = await second[0]?.ended;
  expect(record).toMatchObject({ labels: { step: 1, split: "train" }, seed: 100, reward: 1, policyWaitSeconds: 0, phase: "ended" });
  expect(store.rolloutsOf(id).map(({ labels }) => labels.step)).toEqual([0, 0, 1]);
  await service.closeExperiment(id);
  expect(store.experiment(id)).toMatchObject({ status: "ended" });
  await expect(service.addRollouts(id, [planned(2, 0)])).rejects.toThrow(`There is no open experiment ${id}.`);
});

test("stragglers are cancelled by id, and their siblings go on", { timeout: 60_000 }, async () => {
  const id = await service.openExperiment({ ...open, concurrency: 2 });
  const added = await service.addRollouts(id, [planned(0, 0, { policy: endless }), planned(0, 1), planned(0, 2), planned(0, 3)]);
  const [slow, ...others] = added;
  expect(await endings(others)).toEqual(["succeeded", "succeeded", "succeeded"]);
  expect(await service.cancelRollouts(slow === undefined ? [] : [slow.id])).toBe(1);
  expect(await slow?.ended).toMatchObject({ outcome: { status: "cancelled" } });
  await service.closeExperiment(id);
});

test("what cannot be run is refused before anything is stored", async () => {
  const id = await service.openExperiment(open);
  await expect(service.addRollouts(id, [planned(0, 0), planned(0, 1, { harness: "nobody" })])).rejects.toMatchObject({ exitCode: 2 });
  await expect(service.addRollouts(id, [planned(0, 0, { taskPath: join(folder, "nowhere") })])).rejects.toMatchObject({ exitCode: 2 });
  await expect(service.addRollouts(id, [planned(0, 0, { policy: `scripted:${join(folder, "nothing.yaml")}` })])).rejects.toThrow();
  expect(store.rolloutsOf(id)).toEqual([]);
  await service.closeExperiment(id);
});

test("a service that stops leaves its rollouts to their owner, who goes on with them or not", { timeout: 60_000 }, async () => {
  const id = await service.openExperiment({ ...open, concurrency: 2 });
  const added = await service.addRollouts(id, [planned(0, 0, { policy: endless }), planned(0, 1, { policy: endless }), planned(0, 2), planned(0, 3)]);
  const phases = (): readonly string[] => store.rolloutsOf(id).map(({ phase }) => phase);
  await expect.poll(() => phases().filter((phase) => phase === "running").length, { timeout: 20_000 }).toBe(2);
  await service.close();
  expect(await endings(added)).toEqual([null, null, null, null]);

  service = createRolloutService(parts);
  await service.resumeUnfinished();
  await service.idle();
  expect(phases()).toEqual(["running", "running", "queued", "queued"]);
  const ids = added.map((rollout) => rollout.id);
  expect(await service.cancelRollouts(ids.slice(0, 2))).toBe(2);
  const resumed = await service.resumeRollouts(id, ids);
  expect(await endings(resumed)).toEqual(["cancelled", "cancelled", "succeeded", "succeeded"]);
  await expect(service.resumeRollouts(id, ["r-nobody"])).rejects.toMatchObject({ exitCode: 2 });
  await service.closeExperiment(id);
});
