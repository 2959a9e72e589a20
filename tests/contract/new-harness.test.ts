/** A harness added by thirty lines of YAML and no code of ours: written by `harness new`, filled in, run in a sandbox. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { createManifest } from "../../main/harnesses/index.ts";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { writeSmallTask } from "./small-task.ts";

const { ready } = await sandboxProviders({ stateFolder: join(tmpdir(), "new-harness-probe") }).local.probe();
let folder = "";
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "new-harness-"));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  rmSync(folder, { recursive: true, force: true });
});

/** An agent of one call, as an argument of Node: it prints the model's answer. */
const agent = `fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
  body: JSON.stringify({ model: process.argv[1], messages: [{ role: 'user', content: process.argv[2] }] }) })
  .then((answer) => answer.json()).then((answer) => console.log(answer.choices[0].message.content))`;

test.skipIf(!ready)("a new manifest is sound, is never overwritten, and runs once it is filled in", async () => {
  const harnesses = join(folder, "data", "harnesses");
  const path = await createManifest(harnesses, "one-call");
  await expect(createManifest(harnesses, "one-call")).rejects.toThrow("is there already");
  await expect(createManifest(harnesses, "One Call")).rejects.toThrow("is no harness id");
  expect(await workbench.harnesses.get("one-call")).toMatchObject({ id: "one-call", dialects: ["chat"] });

  const filled = readFileSync(path, "utf8")
    .replace(/^install: .*$/m, "install: { kind: bundled, path: . }")
    .replace(/^command: .*$/m, () => `command: ["\${node}", -e, ${JSON.stringify(agent)}, "\${model}", "\${instruction}"]`);
  expect(filled.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
  writeFileSync(path, filled);
  writeFileSync(join(folder, "policy.yaml"), "version: 1\nname: done\nrules:\n  - name: done\n    steps:\n      - text: Done at once.\n");

  const task = writeSmallTask(join(folder, "task"), { name: "be-done" });
  const spec = { harnesses: ["one-call"], tasks: [task], policies: [`scripted:${join(folder, "policy.yaml")}`], sandbox: "local" };
  const id = await workbench.rollouts.startExperiment(experimentSpecSchema.parse(spec));
  await workbench.rollouts.settled(id);
  const [rollout] = workbench.store.rolloutsOf(id);
  expect(rollout, rollout?.outcome?.detail ?? "").toMatchObject({ harness: "one-call", reward: 1, calls: 1, trainable: true });
});
