/** A final state that is too large to keep for a later verifier: said when the rollout ends, and again when it is to be regraded. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { writeScriptedSteps } from "./scripted-steps.ts";
import { writeSmallTask } from "./small-task.ts";
import { readyProviders } from "./task-packages.ts";

const kinds = ["local", "docker"] as const;
const probing = mkdtempSync(join(tmpdir(), "large-workspace-probe-"));
const ready = (await readyProviders(probing, kinds)).map(({ kind }) => kind);
let folder = "";
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "large-workspace-"));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  for (const path of [folder, probing]) rmSync(path, { recursive: true, force: true });
});

const cases = [
  ["bytes", "head -c 68000000 /dev/zero > large.bin", "more than 64 MiB"],
  ["files", "mkdir many; cd many; seq 20001 | xargs touch", "more than 20000 files"],
] as const;

describe.each(kinds)("in the %s sandbox", (sandbox) => {
  test.skipIf(!ready.includes(sandbox)).each(cases)("too many %s are told in one sentence", { timeout: 120_000 }, async (name, shell, what) => {
    const task = writeSmallTask(join(folder, `${name}-${sandbox}`), { name });
    const policies = [writeScriptedSteps(folder, `${name}-${sandbox}`, [shell])];
    const id = await workbench.rollouts.startExperiment(
      experimentSpecSchema.parse({ tasks: [task], policies, sandbox, keepWorkspace: true, attempts: 1 }),
    );
    await workbench.rollouts.settled(id);
    const [rollout] = workbench.store.rolloutsOf(id);
    expect(rollout).toMatchObject({ reward: 1, outcome: { status: "succeeded" } });
    const sentence = `The workspace could not be kept: it holds ${what}.`;
    const said = workbench.store
      .eventsAfter(0, 1000, { experimentId: id })
      .filter(({ type }) => type === "log")
      .map(({ payload }) => JSON.parse(payload));
    expect(said).toContainEqual({ line: sentence, loss: true, workspace: { attempt: 0, step: null } });
    const regraded = await workbench.rollouts.regrade({ rolloutIds: [rollout?.id ?? ""], onProgress: () => undefined });
    expect(regraded).toMatchObject([{ grade: null, skipped: expect.stringContaining(`${sentence} Give the verifier a sandbox of its own`) }]);
  });
});
