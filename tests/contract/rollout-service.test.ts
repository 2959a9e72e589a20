/** Rollouts that do not go well, in real local sandboxes with the real agent: each ends with its own outcome, and alone. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExperimentSpecInput, experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import type { RolloutRecord } from "../../main/store/index.ts";
import { type CountingPolicy, startCountingPolicy } from "./counting-policy.ts";
import { writeSmallTask } from "./small-task.ts";

let folder = "";
let workbench: Workbench;
let policy: CountingPolicy;
/** Answers every call with this status, or with one long command. */
let badServer: Server;
let badMode: "refuse" | "sleep" = "refuse";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rollouts-"));
  writeHarness("silent", "exit 0");
  writeHarness("crashing", "echo broken >&2; exit 7");
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
  policy = await startCountingPolicy(2);
  badServer = createServer((request, response) => {
    request.resume().on("end", () => {
      response.setHeader("content-type", "application/json");
      if (request.method === "GET") return response.end('{"object":"list","data":[{"id":"bad","object":"model"}]}');
      if (badMode === "refuse") {
        response.statusCode = 400;
        return response.end('{"error":{"message":"this model has no tools"}}');
      }
      const call = { id: "c1", type: "function", function: { name: "bash", arguments: '{"command":"echo here > /app/here; sleep 300"}' } };
      const message = { role: "assistant", content: null, tool_calls: [call] };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      return response.end(
        JSON.stringify({ id: "1", object: "chat.completion", model: "bad", choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage }),
      );
    });
  });
  await new Promise<void>((resolve) => badServer.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await workbench.close();
  policy.close();
  badServer.closeAllConnections();
  badServer.close();
  rmSync(folder, { recursive: true, force: true });
});

function writeHarness(id: string, script: string): void {
  const place = join(folder, "data", "harnesses", id);
  mkdirSync(place, { recursive: true });
  const manifest = {
    id,
    name: id,
    version: "1.0.0",
    licence: "none",
    summary: "A test.",
    install: { kind: "bundled", path: "." },
    runtime: { kind: "native" },
    dialects: ["chat"],
    command: ["/bin/sh", "-c", script],
    prefix: "exact",
  };
  writeFileSync(join(place, "manifest.yaml"), JSON.stringify(manifest));
}
const badUrl = (): string => `http://127.0.0.1:${(badServer.address() as AddressInfo).port}/v1`;
const task = (name: string, change: Partial<Parameters<typeof writeSmallTask>[1]> = {}): string =>
  writeSmallTask(join(folder, name), { name, ...change });

async function run(spec: ExperimentSpecInput): Promise<readonly RolloutRecord[]> {
  const id = await workbench.rollouts.startExperiment(experimentSpecSchema.parse({ policies: [policy.url], ...spec }));
  await workbench.rollouts.settled(id);
  expect(workbench.store.experiment(id)?.status).toBe("ended");
  return workbench.store.rolloutsOf(id);
}
/** Sandboxes of rollouts; those of resident harnesses stay for the next. */
const boxes = (): readonly string[] => {
  const place = join(folder, "data", "sandboxes", "local");
  const all = existsSync(place) ? readdirSync(place) : [];
  return all.filter((name) => !readFileSync(join(place, name, "box.json"), "utf8").includes('"rolloutId":"slot-'));
};

test("what a rollout leaves: outcome, phases, calls, logs, verifier output, artifacts, fingerprint", async () => {
  const artifact = "mkdir -p /logs/artifacts && echo kept > /logs/artifacts/note.txt; echo graded; echo 1 > /logs/verifier/reward.txt";
  const [rollout] = await run({ tasks: [task("whole", { test: artifact })] });
  expect(rollout).toMatchObject({ outcome: { status: "succeeded", action: "train" }, reward: 1, attempts: 1, calls: 3, chains: 1 });
  expect(rollout?.phases.map((phase) => phase.name)).toEqual([
    "preparing",
    "starting",
    "setup",
    "running",
    "stopping",
    "collecting",
    "verifying",
    "ended",
  ]);
  expect(rollout?.fingerprint).toMatchObject({ harness: "react 1.0.0", taskDigest: rollout?.taskDigest });
  expect(rollout?.isolation?.network).not.toBe("");
  expect(rollout).toMatchObject({ trainable: false, trainableReason: expect.stringContaining("token") });
  const artifacts = workbench.store.artifactsOf(rollout?.id ?? "").map(({ kind, name }) => `${kind} ${name}`);
  expect(artifacts).toEqual(expect.arrayContaining(["harness-log final.txt", "harness-log react.jsonl", "verifier-output test-stdout.txt"]));
  expect(boxes()).toEqual([]);
  expect(readdirSync(join(folder, "data", "scratch"))).toEqual([]);
});

test("a rollout that fails leaves its siblings alone", async () => {
  const rollouts = await run({
    tasks: [task("no-reward", { test: "true" }), task("fine"), task("zero", { test: "echo 0 > /logs/verifier/reward.txt" })],
    concurrency: 3,
  });
  expect(rollouts.map(({ outcome, reward }) => [outcome?.status, outcome?.cause, outcome?.action, reward])).toEqual([
    ["verifier-failure", "reward-missing", "mask", null],
    ["succeeded", null, "train", 1],
    ["failed", null, "train", 0],
  ]);
});

test("a harness that makes no call, and one that crashes", async () => {
  const rollouts = await run({ tasks: [task("quiet")], harnesses: ["silent", "crashing"] });
  expect(rollouts[0]?.outcome).toMatchObject({ status: "harness-failure", cause: "zero-calls-captured", action: "mask" });
  expect(rollouts[1]?.outcome?.detail).toBe("The harness ended without one model call. It said: broken");
});

test("an endpoint that refuses is the endpoint's fault, and is not asked for ever", async () => {
  badMode = "refuse";
  const [rollout] = await run({ tasks: [task("refused")], policies: [badUrl()] });
  expect(rollout).toMatchObject({ attempts: 1, outcome: { status: "network-failure", cause: "upstream-4xx", action: "mask" } });
  expect(rollout?.outcome?.detail).toContain("this model has no tools");
});

test("a policy that has reached its spending limit fails the rollout as infrastructure does, and is not asked again", async () => {
  const prices = { input: 1, output: 1 };
  await workbench.policies.add({ id: "paid", url: policy.url, kind: "openai-compatible", prices, spendingLimit: 1e-6 });
  const [rollout] = await run({ tasks: [task("paid")], policies: ["paid"] });
  expect(rollout).toMatchObject({ attempts: 1, outcome: { status: "network-failure", cause: "spending-limit", action: "mask" } });
  expect(rollout?.outcome?.detail).toContain("has reached its spending limit");
});

test("an agent out of time is stopped, whatever it runs, and graded all the same", async () => {
  badMode = "sleep";
  const [rollout] = await run({
    tasks: [task("slow", { test: "if [ -f /app/here ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt" })],
    policies: [badUrl()],
    agentTimeoutSeconds: 3,
  });
  expect(rollout).toMatchObject({ outcome: { status: "agent-timeout", action: "train" }, reward: 1 });
});

test("cancelling ends what runs and what waits, and leaves no sandbox", async () => {
  badMode = "sleep";
  const spec = experimentSpecSchema.parse({ tasks: [task("cancelled")], policies: [badUrl()], k: 4, concurrency: 2 });
  const id = await workbench.rollouts.startExperiment(spec);
  const rollouts = (): readonly RolloutRecord[] => workbench.store.rolloutsOf(id);
  await expect.poll(() => rollouts().filter((rollout) => rollout.phase === "running").length, { timeout: 20_000 }).toBe(2);
  expect(await workbench.rollouts.cancel(id)).toBe(4);
  expect(rollouts().map((rollout) => rollout.outcome?.status)).toEqual(["cancelled", "cancelled", "cancelled", "cancelled"]);
  expect(workbench.store.experiment(id)?.status).toBe("cancelled");
  expect(boxes()).toEqual([]);
  await workbench.rollouts.idle();
});

test("one rollout can be cancelled alone", async () => {
  const id = await workbench.rollouts.startExperiment(
    experimentSpecSchema.parse({ tasks: [task("one-of-two")], policies: [policy.url], k: 2, concurrency: 1 }),
  );
  const second = workbench.store.rolloutsOf(id)[1]?.id ?? "";
  await workbench.rollouts.cancelRollout(second);
  await workbench.rollouts.settled(id);
  expect(workbench.store.rolloutsOf(id).map((rollout) => rollout.outcome?.status)).toEqual(["succeeded", "cancelled"]);
  expect(workbench.store.experiment(id)?.status).toBe("ended");
});

test("a task that is changed under way is not run as what it was", async () => {
  const path = task("changing");
  const id = await workbench.rollouts.startExperiment(experimentSpecSchema.parse({ tasks: [path], policies: [policy.url], k: 2, concurrency: 1 }));
  await expect.poll(() => workbench.store.rolloutsOf(id)[0]?.phase, { timeout: 20_000 }).toBe("running");
  writeFileSync(join(path, "instruction.md"), "Something else.\n");
  await workbench.rollouts.settled(id);
  expect(workbench.store.rolloutsOf(id)[1]).toMatchObject({ attempts: 1, outcome: { status: "environment-failure", cause: "setup-failed" } });
});

test("what cannot be run is refused with a sentence before anything is stored", async () => {
  const before = workbench.store.experiments().length;
  const start = (spec: ExperimentSpecInput): Promise<string> =>
    workbench.rollouts.startExperiment(experimentSpecSchema.parse({ policies: [policy.url], ...spec }));
  await expect(start({ tasks: [join(folder, "nowhere")] })).rejects.toMatchObject({ exitCode: 2 });
  await expect(start({ tasks: [task("sound")], harnesses: ["nobody"] })).rejects.toMatchObject({ exitCode: 2 });
  await expect(start({ tasks: [task("open", { network: "public" })] })).rejects.toMatchObject({ exitCode: 3 });
  await expect(start({ tasks: [task("sound")], sandbox: "kubernetes" })).rejects.toMatchObject({ exitCode: 3 });
  await expect(start({ tasks: [task("sound")], policies: ["nobody"] })).rejects.toThrow();
  await expect(start({ tasks: [task("sound")], tokenMode: "as-sampled" })).rejects.toMatchObject({ exitCode: 2 });
  expect(workbench.store.experiments()).toHaveLength(before);
});

test("among several tasks, one that needs more than the sandbox has ends alone", async () => {
  const rollouts = await run({ tasks: [task("open-too", { network: "public" }), task("closed")] });
  expect(rollouts.map(({ outcome, attempts }) => [outcome?.status, outcome?.cause, attempts])).toEqual([
    ["environment-failure", "egress-denied", 1],
    ["succeeded", null, 1],
  ]);
});
