/** A machine where no local sandbox can be had: `react` alone runs, with its allow-list, on tasks made for that; everything else is refused. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExperimentSpecInput, experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { harnessRegistry } from "../../main/harnesses/index.ts";
import { examineMachine } from "../../main/machine/index.ts";
import { createPolicyRegistry, type Proxy as RecordingProxy, startProxy } from "../../main/proxy/index.ts";
import { createRolloutService, type RolloutService, type RolloutServiceOptions } from "../../main/rollouts/index.ts";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { openStore, type RolloutRecord, type Store } from "../../main/store/index.ts";
import { writeScriptedSteps } from "./scripted-steps.ts";
import { writeSmallTask } from "./small-task.ts";

const resources = join(import.meta.dirname, "../../resources");
let folder = "";
let store: Store;
let proxy: RecordingProxy;
let parts: RolloutServiceOptions;
let rollouts: RolloutService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "bare-"));
  store = openStore(join(folder, "data"));
  proxy = await startProxy({ store });
  const providers = sandboxProviders({ stateFolder: join(folder, "data", "sandboxes") });
  const refusal = { ready: false, detail: "user namespaces are forbidden", remedy: "Allow user namespaces." };
  const local = { ...providers.local, probe: async () => refusal, create: () => Promise.reject(new Error("a sandbox was asked for")) };
  parts = {
    store,
    proxy,
    policies: createPolicyRegistry({ store, policiesFolder: join(resources, "policies"), env: {} }),
    harnesses: harnessRegistry({
      shippedFolder: join(resources, "harnesses"),
      userFolder: join(folder, "harnesses"),
      cacheFolder: join(folder, "cache"),
    }),
    sandboxes: { ...providers, local },
    ownerId: "test",
    starterTasksFolder: join(resources, "tasks"),
    socketFolder: join(folder, "s"),
    env: {},
  };
  rollouts = createRolloutService(parts);
});
afterAll(async () => {
  await rollouts.close();
  await proxy.close();
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const fit = {
  "task.toml": `schema_version = "1.4"\n[task]\nname = "workbench/bare"\n[metadata.openforge]\nruns_unisolated = true\ninitial_state = { files = "environment/files" }\n[environment]\nnetwork_mode = "no-network"\n`,
  "environment/files/a.txt": "one\n",
};
const verdict =
  'root="$OPENFORGE_ROOT"; if [ "$(cat "$root/app/b.txt")" = one ] && grep -q "^Done" "$root/logs/agent/final.txt"; then echo 1; else echo 0; fi > "$root/logs/verifier/reward.txt"';
const task = (name: string, files: Readonly<Record<string, string>> = fit, test = verdict): string =>
  writeSmallTask(join(folder, name), { name, files, test });
const policy = (name: string, commands: readonly string[]): string => writeScriptedSteps(folder, name, commands);
async function run(spec: ExperimentSpecInput): Promise<readonly RolloutRecord[]> {
  const id = await rollouts.startExperiment(experimentSpecSchema.parse(spec));
  await rollouts.settled(id);
  return store.rolloutsOf(id);
}
/** What the policy was told of its commands. */
function told({ id }: RolloutRecord): readonly string[] {
  const last = store.callsOf(id).at(-1);
  const body = last === undefined ? "{}" : Buffer.from(store.blobs.get(last.requestBody) ?? []).toString();
  const { messages = [] } = JSON.parse(body) as { messages?: readonly { role: string; content: string }[] };
  return messages.filter((message) => message.role === "tool").map((message) => message.content);
}

test("react works with plain commands, is graded, and says that nothing is isolated", { timeout: 60_000 }, async () => {
  const [rollout] = await run({ tasks: [task("plain")], policies: [policy("plain", ["ls", "cat a.txt", "cp a.txt b.txt", "cat nothing"])] });
  if (rollout === undefined) throw new Error("no rollout");
  expect([rollout.outcome?.status, rollout.outcome?.detail, rollout.reward]).toEqual(["succeeded", null, 1]);
  expect(rollout.isolation?.files).toMatch(/^none: /);
  expect(told(rollout)).toEqual(["a.txt", "one", "(no output)", "cat: nothing: No such file or directory\n[exit 1]"]);
  const events = store.eventsAfter(0, 1000, { experimentId: rollout.experimentId });
  expect(events.some((event) => event.type === "log" && event.payload.includes("Nothing is isolated"))).toBe(true);
});

test("a starter task that is made for it is solved there, and each part of its answer is graded", { timeout: 60_000 }, async () => {
  const [rollout] = await run({ tasks: [join(resources, "tasks/investigate-log")], policies: ["scripted"] });
  if (rollout === undefined) throw new Error("no rollout");
  expect([rollout.outcome?.status, rollout.outcome?.detail, rollout.reward]).toEqual(["succeeded", null, 1]);
  expect(rollout.rewards).toMatchObject({ reward: 1, first_error: 1, restarts: 1, lost_order: 1, slowest_request: 1, fullest_volume: 1 });
});

test("no command gets out of its folder, whatever it looks like", { timeout: 60_000 }, async () => {
  const mark = join(folder, "escaped");
  const tries = [
    `echo out > ${mark}`,
    `echo out > ../../../../../../..${mark}`,
    `echo "$(touch ${mark})"`,
    `echo \`touch ${mark}\``,
    `cat a.txt; touch ${mark}`,
    `cat a.txt | tee ${mark}`,
    `BASH_ENV=x touch ${mark}`,
    `ln -s ${folder} link`,
    `cp -s ${folder} link`,
    `cp --target-directory=${folder} a.txt`,
    `cp -t${folder} a.txt`,
    `touch "${mark}"`,
    `touch ''${mark}`,
    `touch ~/escaped`,
    `cat $OPENFORGE_ROOT/box.json`,
    `bash -c "touch ${mark}"`,
    `node -e 0`,
    `echo x > b.txt\ntouch ${mark}`,
  ];
  const [rollout] = await run({ tasks: [task("tries")], policies: [policy("tries", tries)] });
  if (rollout === undefined) throw new Error("no rollout");
  expect(existsSync(mark)).toBe(false);
  expect(rollout.outcome).toMatchObject({ status: "failed" });
  for (const answer of told(rollout)) expect(answer).toMatch(/allowed.*\[exit 126\]$/s);
  expect(told(rollout)).toHaveLength(tries.length);
});

test("another harness, another task and another way in are refused, before anything is stored", async () => {
  const before = store.experiments().length;
  const start = (spec: ExperimentSpecInput): Promise<string> => rollouts.startExperiment(experimentSpecSchema.parse(spec));
  await expect(start({ tasks: [task("fit")], harnesses: ["codex"] })).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringContaining("not codex"),
  });
  await expect(start({ tasks: [task("unfit", {})] })).rejects.toMatchObject({ exitCode: 3, message: expect.stringContaining("workbench/unfit") });
  expect(store.experiments()).toHaveLength(before);
});

test("doctor says what is left", async () => {
  const rows = await examineMachine(parts);
  expect(rows.find(({ name }) => name === "Local sandbox")).toMatchObject({ status: "degraded", detail: expect.stringContaining("only react") });
});

test("what was isolated once is not run without isolation", async () => {
  let ready = true;
  const { local } = parts.sandboxes;
  const changing = { ...local, probe: async () => ({ ready, detail: "it went away", remedy: null }) };
  const service = createRolloutService({ ...parts, sandboxes: { ...parts.sandboxes, local: changing } });
  const open = (): Promise<string> =>
    service.openExperiment({ name: "open", sandbox: "local", concurrency: 1, rules: { preset: "default", discardTimeouts: false }, attempts: 1 });
  const id = await open();
  ready = false;
  await expect(open()).rejects.toMatchObject({ exitCode: 3 });
  await service.closeExperiment(id);
  await service.close();
});

test("nothing is left of ended rollouts", () => {
  const left = readdirSync(join(folder, "data", "sandboxes", "unisolated"));
  // The process of react waits for the next.
  expect(left.length).toBeLessThanOrEqual(1);
});
