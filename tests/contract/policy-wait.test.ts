/** The agent's budget counts the agent's time: what a call waits for its policy is kept apart, resident or alone. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import type { RolloutRecord } from "../../main/store/index.ts";
import { writeSmallTask } from "./small-task.ts";

let folder = "";
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "policy-wait-"));
  const place = join(folder, "data", "harnesses", "react-alone");
  mkdirSync(place, { recursive: true });
  cpSync(join(import.meta.dirname, "../../resources/harnesses/react"), place, { recursive: true });
  const manifest = readFileSync(join(place, "manifest.yaml"), "utf8");
  writeFileSync(join(place, "manifest.yaml"), manifest.replace("id: react\n", "id: react-alone\n").replace(/resident:\n.*\n/, ""));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Both ways at once, with two seconds for the agent. */
async function run(name: string, rule: object): Promise<readonly RolloutRecord[]> {
  const path = join(folder, `${name}.yaml`);
  writeFileSync(
    path,
    JSON.stringify({
      version: 1,
      name,
      rules: [
        { name, ...rule },
        { name: "end", answer: { text: "Done." } },
      ],
    }),
  );
  const tasks = [writeSmallTask(join(folder, name), { name })];
  const harnesses = ["react", "react-alone"];
  const spec = experimentSpecSchema.parse({ tasks, harnesses, policies: [`scripted:${path}`], agentTimeoutSeconds: 2 });
  const id = await workbench.rollouts.startExperiment(spec);
  await workbench.rollouts.settled(id);
  return workbench.store.rolloutsOf(id);
}
const once = { when: { turns: 0 } };

test("five seconds in the policy's queue leave two seconds for the agent", { timeout: 60_000 }, async () => {
  for (const { outcome, policyWaitSeconds } of await run("queue", { ...once, queueMs: 5000, answer: { calls: [{ shell: "echo hello" }] } })) {
    expect(outcome).toMatchObject({ status: "succeeded" });
    expect(policyWaitSeconds).toBeGreaterThan(4.9);
    expect(policyWaitSeconds).toBeLessThan(7);
  }
});

test("the pause before the proxy's next try counts as waiting", { timeout: 60_000 }, async () => {
  const fault = { kind: "status", status: 429, retryAfterSeconds: 5 };
  for (const { outcome, policyWaitSeconds } of await run("busy", { ...once, fault, answer: { calls: [{ shell: "echo hello" }] } })) {
    expect(outcome).toMatchObject({ status: "succeeded" });
    expect(policyWaitSeconds).toBeGreaterThan(4.9);
  }
});

test("a tool that sleeps five seconds, and a policy that thinks as long, use up the agent's time", { timeout: 60_000 }, async () => {
  for (const { outcome, policyWaitSeconds } of await run("tool", { ...once, answer: { calls: [{ shell: "sleep 5" }] } })) {
    expect(outcome).toMatchObject({ status: "agent-timeout" });
    expect(policyWaitSeconds).toBe(0);
  }
  for (const { outcome } of await run("thinking", { ...once, delayMs: 5000, answer: { calls: [{ shell: "echo hello" }] } }))
    expect(outcome).toMatchObject({ status: "agent-timeout" });
});
