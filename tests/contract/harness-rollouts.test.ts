/** Real harnesses, unmodified, in real sandboxes, answered by scripted policies: from the start of the process to chains and masks. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ExperimentSpecInput, experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import type { CallRecord, RolloutRecord } from "../../main/store/index.ts";
import { rebuildTrajectories, type Trajectories } from "../../main/trajectories/index.ts";
import { writeSmallTask } from "./small-task.ts";
import { starterTaskNames } from "./task-packages.ts";

const kinds = ["local", "docker"] as const;
const providers = sandboxProviders({ stateFolder: join(tmpdir(), "harness-rollouts-probe") });
const ready = new Map(await Promise.all(kinds.map(async (kind) => [kind, (await providers[kind].probe()).ready] as const)));

let folder = "";
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "harnesses-"));
  impatientReact(join(folder, "data", "harnesses", "react-impatient"));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  rmSync(folder, { recursive: true, force: true });
});

/** `react` under another id that gives up a call after two seconds and asks again half a second later. */
function impatientReact(place: string): void {
  mkdirSync(place, { recursive: true });
  cpSync(join(import.meta.dirname, "../../resources/harnesses/react"), place, { recursive: true });
  const manifest = join(place, "manifest.yaml");
  const text = readFileSync(manifest, "utf8").replace("id: react\n", "id: react-impatient\n").replace("answerSeconds: 0\n", "answerSeconds: 2\n");
  writeFileSync(manifest, text);
}

/** Graded by the text of files in /app, one check a file. */
function fileTask(name: string, files: Readonly<Record<string, string>>): string {
  const checks = Object.entries(files).map(([path, text]) => `[ "$(cat /app/${path})" = "${text}" ]`);
  return writeSmallTask(join(folder, name), { name, test: `if ${checks.join(" && ")}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt` });
}
const script = (name: string): string => `scripted:${join(import.meta.dirname, "policies", `${name}.yaml`)}`;

interface Ended {
  readonly rollout: RolloutRecord;
  readonly calls: readonly CallRecord[];
  readonly trajectories: Trajectories;
}

async function run(spec: ExperimentSpecInput): Promise<readonly Ended[]> {
  const id = await workbench.rollouts.startExperiment(experimentSpecSchema.parse(spec));
  await workbench.rollouts.settled(id);
  const { store } = workbench;
  return store.rolloutsOf(id).map((rollout) => ({ rollout, calls: store.callsOf(rollout.id), trajectories: rebuildTrajectories(store, rollout.id) }));
}

/** Every sampled token that reached its harness is trained in exactly one chain: the masks of all chains together cover them once. */
function expectEachTokenOnce({ rollout, trajectories }: Ended): void {
  const sampled = workbench.store.nodesOf(rollout.id).reduce((sum, node) => sum + node.sampledIds.length, 0);
  const masked = trajectories.chains.reduce((sum, chain) => sum + trajectories.tokensOf(chain.number).mask.reduce((ones, bit) => ones + bit, 0), 0);
  expect(masked).toBe(sampled);
  expect(trajectories.trainedTokens).toBe(sampled);
}
const paths = ({ trajectories }: Ended): unknown => trajectories.chains.map((chain) => [chain.calls, chain.breakCause]);
const told = ({ rollout }: Ended): unknown => [rollout.harness, rollout.taskName, rollout.outcome?.status, rollout.outcome?.detail, rollout.reward];

describe.each(kinds)("in the %s sandbox", (sandbox) => {
  const here = test.skipIf(ready.get(sandbox) !== true);

  here("codex and react solve the starter tasks, each as one chain that can be trained", { timeout: 600_000 }, async () => {
    const ended = await run({ harnesses: ["codex", "react"], sandbox });
    expect(ended).toHaveLength(2 * starterTaskNames.length);
    expect(ended.map(told)).toEqual(ended.map(({ rollout }) => [rollout.harness, rollout.taskName, "succeeded", null, 1]));
    for (const one of ended) {
      const { rollout, calls } = one;
      expect(rollout).toMatchObject({ attempts: 1, chains: 1, trainable: true, trainableReason: null, calls: calls.length });
      expect(new Set(calls.map((call) => call.capture))).toEqual(new Set(["ids+logprobs"]));
      expect(new Set(calls.map((call) => call.dialect))).toEqual(new Set([rollout.harness === "codex" ? "responses" : "chat"]));
      expectEachTokenOnce(one);
    }
  });

  here("a codex subagent is a chain of its own", async () => {
    const [one] = await run({ tasks: [fileTask("subagent", { "answer.txt": "7" })], harnesses: ["codex"], policies: [script("subagent")], sandbox });
    if (one === undefined) throw new Error("no rollout");
    expect(one.rollout).toMatchObject({ outcome: { status: "succeeded" }, chains: 2, trainable: true });
    const threads = one.calls.map((call) => call.session["thread-id"]);
    const [main] = threads;
    const ofMain = one.calls.filter((_, index) => threads[index] === main).map((call) => call.index);
    const ofSubagent = one.calls.filter((_, index) => threads[index] !== main).map((call) => call.index);
    expect(ofSubagent).toHaveLength(2);
    expect(paths(one)).toEqual([
      [ofMain, null],
      [ofSubagent, "subagent"],
    ]);
    expectEachTokenOnce(one);
  });

  here("a compaction begins a new chain, and the history before it stays one", async () => {
    const task = fileTask("compaction", { "one.txt": "one", "two.txt": "two" });
    const ended = await run({ tasks: [task], harnesses: ["codex", "react"], policies: [script("compaction")], sandbox });
    expect(ended.map(told)).toEqual(ended.map(({ rollout }) => [rollout.harness, rollout.taskName, "succeeded", null, 1]));
    for (const one of ended) {
      expect(one.calls).toHaveLength(4);
      const { chains } = one.trajectories;
      expect(chains.map((chain) => chain.calls.slice(chain.calls.length - chain.owned))).toEqual([[0], [1], [2, 3]]);
      expect(chains.at(-1)?.breakCause).toBe("compaction");
      expectEachTokenOnce(one);
    }
  });

  here("an answer that is cut off at its limit is the policy's doing, also where the harness gives up over it", async () => {
    const ended = await run({ tasks: [fileTask("cut", { "log.txt": "one" })], harnesses: ["codex", "react"], policies: [script("cut")], sandbox });
    for (const one of ended) {
      expect(one.rollout).toMatchObject({ outcome: { status: "failed", action: "train" }, reward: 0, chains: 1, trainable: true });
      expect(new Set(one.calls.map((call) => call.finishReason))).toEqual(new Set(["length"]));
      expectEachTokenOnce(one);
    }
    expect(ended.find(({ rollout }) => rollout.harness === "codex")?.rollout.outcome?.cause).toBe("budget-exceeded");
  });

  here("after a 500 the harness asks again; what the proxy repeats itself, it never sees", async () => {
    const task = fileTask("faults", { "log.txt": "one\ntwo" });
    const ended = await run({ tasks: [task], harnesses: ["codex", "react"], policies: [script("faults")], sandbox });
    expect(ended.map(told)).toEqual(ended.map(({ rollout }) => [rollout.harness, rollout.taskName, "succeeded", null, 1]));
    for (const one of ended) {
      expect(one.calls.map((call) => [call.status, call.httpStatus, call.upstreamRetries])).toEqual([
        ["error", 500, 0],
        ["ok", 200, 0],
        ["ok", 200, 1],
        ["ok", 200, 0],
      ]);
      expect(one.calls[0]?.requestKey).toBe(one.calls[1]?.requestKey);
      expect(paths(one)).toEqual([[[1, 2, 3], null]]);
      expectEachTokenOnce(one);
    }
  });

  here("a client that hangs up and comes back gets the answer that was sampled for it", async () => {
    const [one] = await run({ tasks: [fileTask("slow", { "log.txt": "one" })], harnesses: ["react-impatient"], policies: [script("slow")], sandbox });
    if (one === undefined) throw new Error("no rollout");
    expect(told(one)).toEqual(["react-impatient", "workbench/slow", "succeeded", null, 1]);
    expect(one.calls).toHaveLength(2);
    expect(one.calls[0]?.replays).toBeGreaterThanOrEqual(1);
    expect(paths(one)).toEqual([[[0, 1], null]]);
    expectEachTokenOnce(one);
  });

  here("a client that hangs up for good is an abort, and its call is in no chain", async () => {
    const task = fileTask("late", { "log.txt": "one" });
    const [one] = await run({ tasks: [task], harnesses: ["react"], policies: [script("never")], sandbox, agentTimeoutSeconds: 4 });
    if (one === undefined) throw new Error("no rollout");
    expect(one.rollout).toMatchObject({ outcome: { status: "agent-timeout" }, reward: 1, chains: 1, trainable: true });
    expect(one.calls.map((call) => [call.status, call.aborted])).toEqual([
      ["ok", false],
      ["aborted", true],
    ]);
    expect(paths(one)).toEqual([[[0], null]]);
    expectEachTokenOnce(one);
  });
});
