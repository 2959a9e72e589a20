/** Ctrl-C that comes while an experiment or a training run is being started is not lost. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRouterClient } from "@orpc/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRouter } from "../../main/api/index.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { followExperiment } from "../../main/cli/follow-experiment.ts";
import { followTraining } from "../../main/cli/train.ts";
import { writeSmallTask } from "./small-task.ts";

let folder = "";
let workbench: Workbench;
const signal = AbortSignal.abort();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cancel-at-start-"));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  rmSync(folder, { recursive: true, force: true });
});

test("an experiment is cancelled, not run to its end", async () => {
  const client = createRouterClient(createRouter(workbench), { context: {} });
  const task = writeSmallTask(join(folder, "task"), { name: "task" });
  const { id } = await client.experiments.start({ tasks: [task], policies: ["scripted"], k: 20, concurrency: 1 });
  const { rollouts } = await followExperiment({ client, signal }, id);
  expect(rollouts).toHaveLength(20);
  expect(rollouts.filter(({ status }) => status === "cancelled").length).toBeGreaterThanOrEqual(18);
});

test("a training run is cancelled", async () => {
  const client = createRouterClient(createRouter(workbench), { context: {} });
  const { id } = await client.training.startStarter({ quick: true, seed: 1 });
  await followTraining({ client, json: true, data: folder, remote: false, signal }, id, "starter-quick.yaml");
  expect(workbench.training.get(id).status).toBe("cancelled");
});
