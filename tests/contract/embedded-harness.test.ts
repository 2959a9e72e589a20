/** A real pretrained model of this machine drives real harnesses: what it samples is recorded and trainable, whatever the reward. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { rebuildTrajectories } from "../../main/trajectories/index.ts";
import { smallModel } from "./small-model.ts";
import { writeSmallTask } from "./small-task.ts";

let folder = "";
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "of-small-"));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  rmSync(folder, { recursive: true, force: true });
});

// Codex's own prompt has 4,300 tokens: reading it is most of the time.
test.for(["react", "codex"])("SmolLM2 drives %s in a local sandbox", { timeout: 400_000 }, async (harness, context) => {
  const model = await smallModel();
  const { ready, detail } = await workbench.sandboxes.local.probe();
  const lacking = model === null ? "SmolLM2-135M-Instruct cannot be had here" : ready ? null : `no local sandbox: ${detail}`;
  if (lacking !== null) return context.skip(lacking);
  const name = `say-${harness}`;
  const tasks = [writeSmallTask(join(folder, name), { name, test: "echo 0 > /logs/verifier/reward.txt" })];
  const policies = [`embedded:${model}?maxTokens=24&lanes=1`];
  const spec = experimentSpecSchema.parse({ tasks, harnesses: [harness], policies, sandbox: "local", agentTimeoutSeconds: 300 });
  const id = await workbench.rollouts.startExperiment(spec);
  await workbench.rollouts.settled(id);
  const [rollout] = workbench.store.rolloutsOf(id);
  if (rollout === undefined) throw new Error("no rollout");
  const calls = workbench.store.callsOf(rollout.id);
  console.log(
    `${harness}: ${rollout.outcome?.status} ${rollout.outcome?.cause}; ${calls.length} calls, ${rollout.promptTokens} + ${rollout.completionTokens} tokens`,
  );
  expect(rollout).toMatchObject({ outcome: { status: "failed", action: "train" }, reward: 0, attempts: 1, trainable: true, trainableReason: null });
  expect(calls.length).toBeGreaterThan(0);
  expect(calls.map(({ capture, policyVersion }) => [capture, policyVersion])).toEqual(calls.map(() => ["ids+logprobs", "SmolLM2-135M-Instruct"]));
  const { chains, trainedTokens } = rebuildTrajectories(workbench.store, rollout.id);
  expect(chains.length).toBeGreaterThan(0);
  expect(trainedTokens).toBe(calls.reduce((sum, call) => sum + call.completionTokens, 0));
});
