/** The starter experiment's tasks and the policy that ships, through the real path: sandboxes, harness processes, verifiers, chains. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { type SandboxProvider, sandboxProviders } from "../../main/sandboxes/index.ts";
import { generateStarterTasks, type StarterPackage, starterFamilies, starterHarnesses } from "../../main/starter/index.ts";
import { checkTask } from "../../main/tasks/index.ts";
import { rebuildTrajectories } from "../../main/trajectories/index.ts";
import { rehearseTask } from "../../main/verifiers/index.ts";

let folder = "";
let local: SandboxProvider;
let isolated = false;
let packages: readonly StarterPackage[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "starter-"));
  local = sandboxProviders({ stateFolder: join(folder, "sandboxes") }).local;
  isolated = (await local.probe()).ready;
  packages = await generateStarterTasks({ split: "held-out", count: 25, seed: 11, folder: join(folder, "tasks") });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.for(starterFamilies)("%s: the gold solution earns 1, nothing earns 0", async (family, context) => {
  if (!isolated) return context.skip("this machine has no local sandbox");
  for (const { folder: path } of packages.filter((each) => each.family === family).slice(0, 2)) {
    const { task } = await checkTask(path);
    if (task === null) throw new Error("a generated package is valid");
    const options = { provider: local, ownerId: "starter", outputFolder: join(folder, "output", task.name), environment: {} };
    expect(await rehearseTask("gold", task, options)).toMatchObject([{ status: "succeeded", reward: 1 }]);
    expect(await rehearseTask("empty", task, options)).toMatchObject([{ status: "failed", reward: 0 }]);
  }
});

test("the policy that ships acts through all three harnesses: sometimes right, each rollout one chain that can be trained", async (context) => {
  if (!isolated) return context.skip("this machine has no local sandbox");
  const workbench: Workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
  try {
    const spec = experimentSpecSchema.parse({
      ...{ tasks: packages.map((each) => each.folder), harnesses: [...starterHarnesses], concurrency: 4, seed: 1 },
      policies: [`embedded:${resolve("resources/policies/starter")}?maxTokens=48`],
    });
    const id = await workbench.rollouts.startExperiment(spec);
    await workbench.rollouts.settled(id);
    for (const harness of starterHarnesses) {
      const rollouts = workbench.store.rolloutsOf(id).filter((rollout) => rollout.harness === harness);
      const solved = rollouts.filter((rollout) => rollout.outcome?.status === "succeeded").length;
      console.log(`${harness}: ${solved} of ${rollouts.length} solved`);
      expect(rollouts.length).toBe(packages.length);
      // Mediocre on purpose: between these bounds with near certainty when the rate lies between 35 and 50 %.
      expect(solved).toBeGreaterThan(2);
      expect(solved).toBeLessThan(20);
      for (const rollout of rollouts) {
        const { chains, breaks } = rebuildTrajectories(workbench.store, rollout.id);
        expect(chains.length).toBe(1);
        expect(breaks).toEqual({});
      }
    }
  } finally {
    await workbench.close();
  }
});
