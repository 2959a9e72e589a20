import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AgentFacts, AttemptFacts, OutcomeCause } from "../../engine/outcome/index.ts";
import { openStore, type Store } from "../store/index.ts";
import type { AttemptResult } from "./attempt.ts";
import { endCancelled, type RolloutRun, recordRestart, runRollout } from "./run-rollout.ts";
import { storedRollout } from "./stored-rollout.test-data.ts";

let folder = "";
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rollout-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const agent: AgentFacts = {
  ending: "exited",
  exitCode: 0,
  limitReached: false,
  calls: 1,
  answered: 1,
  standingFailure: null,
  contextOverflow: false,
  unparsedToolCall: false,
  answerCut: false,
  secretSeen: false,
  astray: null,
  lastWords: null,
};
const graded = (reward: number): AttemptResult => {
  const status = reward === 1 ? "succeeded" : "failed";
  const verifier = { status, cause: null, reward, rewards: { reward }, detail: null, seconds: 0.1, exitCode: 0 } as const;
  const isolation = { files: "f", network: "n", processes: "p", limits: "l" };
  const facts = { cancelled: false, stop: null, agent, verdict: verifier };
  return { facts, verifier, isolation, fingerprint: { image: "i" }, policyWaitSeconds: 0 };
};
const stopped = (cause: OutcomeCause, permanent = false): AttemptResult => {
  const facts: AttemptFacts = { cancelled: false, stop: { phase: "starting", cause, detail: "It broke.", permanent }, agent: null, verdict: null };
  return { facts, verifier: null, isolation: null, fingerprint: null, policyWaitSeconds: null };
};

/** Runs one rollout whose attempts end as given, in order; resolves with the numbers of the attempts. */
async function play(results: readonly AttemptResult[], change: Partial<RolloutRun> = {}): Promise<readonly number[]> {
  const attempts: number[] = [];
  await runRollout({
    store,
    rolloutId: "r-test",
    rules: { preset: "default", discardTimeouts: false },
    attemptLimit: 3,
    closing: new AbortController().signal,
    cancelled: new AbortController().signal,
    retryDelayMs: () => 0,
    runAttempt: async (_rollout, attempt) => {
      attempts.push(attempt);
      const result = results[attempts.length - 1];
      if (result === undefined) throw new Error("one attempt too many");
      return result;
    },
    ...change,
  });
  return attempts;
}
const events = (type: string): readonly unknown[] =>
  store
    .eventsAfter(0, 1000, { rolloutId: "r-test" })
    .filter((event) => event.type === type)
    .map((event) => JSON.parse(event.payload));

test("an outcome ends the rollout: record first, then the event", async () => {
  storedRollout(store);
  expect(await play([graded(1)])).toEqual([0]);
  const rollout = store.rollout("r-test");
  expect(rollout).toMatchObject({ phase: "ended", reward: 1, rewards: { reward: 1 }, attempts: 1, calls: 0, trainable: false });
  expect(rollout?.outcome).toEqual({ status: "succeeded", cause: null, action: "train", detail: null });
  expect(rollout?.fingerprint).toEqual({ image: "i" });
  expect(rollout?.endedAt).not.toBeNull();
  expect(events("rollout.outcome")).toHaveLength(1);
});

test("infrastructure that failed is tried again; what the policy did is not", async () => {
  storedRollout(store);
  expect(await play([stopped("sandbox-lost"), stopped("image-pull"), graded(0)])).toEqual([0, 1, 2]);
  expect(store.rollout("r-test")).toMatchObject({ attempts: 3, reward: 0, outcome: { status: "failed" } });
  expect(events("rollout.attempt")).toMatchObject([
    { attempt: 0, outcome: { cause: "sandbox-lost" }, counts: true },
    { attempt: 1, outcome: { cause: "image-pull" }, counts: true },
    { attempt: 2, outcome: { status: "failed" }, counts: true },
  ]);
});

test("the limit of attempts ends it with the last failure, and no reward is not 0", async () => {
  storedRollout(store);
  expect(await play([stopped("sandbox-lost"), stopped("sandbox-lost"), stopped("sandbox-lost")])).toEqual([0, 1, 2]);
  expect(store.rollout("r-test")).toMatchObject({
    reward: null,
    rewards: null,
    outcome: { status: "environment-failure", action: "mask" },
    trainable: false,
  });
});

test("what would end the same way is not tried again", async () => {
  storedRollout(store);
  expect(await play([stopped("image-build", true)])).toEqual([0]);
});

test("a restart of the service does not count against the limit", async () => {
  const rollout = storedRollout(store, { attempts: 2, phase: "running" });
  recordRestart(store, rollout);
  expect(await play([stopped("sandbox-lost"), stopped("sandbox-lost"), graded(1)])).toEqual([2, 3, 4]);
  expect(events("rollout.attempt")[0]).toMatchObject({ attempt: 1, outcome: { cause: "service-restart" }, counts: false });
});

test("attempts before a restart still count", async () => {
  storedRollout(store);
  const closing = new AbortController();
  await play([stopped("sandbox-lost"), stopped("sandbox-lost")], {
    closing: closing.signal,
    runAttempt: async (_rollout, attempt) => {
      if (attempt === 1) closing.abort();
      return stopped("sandbox-lost");
    },
  });
  const left = store.rollout("r-test");
  expect(left).toMatchObject({ attempts: 2, outcome: null });
  if (left !== null) recordRestart(store, left);
  expect(await play([stopped("sandbox-lost"), stopped("sandbox-lost")])).toEqual([2, 3]);
});

test("a rollout that waits is cancelled without an attempt", () => {
  const rollout = storedRollout(store, { phases: [{ name: "queued", startedAt: 1, seconds: null }] });
  endCancelled(store, rollout, { preset: "paper", discardTimeouts: false });
  const ended = store.rollout("r-test");
  expect(ended).toMatchObject({ phase: "ended", outcome: { status: "cancelled", action: "discard" }, attempts: 0, reward: null });
  expect(ended?.phases.map((phase) => phase.name)).toEqual(["queued", "ended"]);
});
