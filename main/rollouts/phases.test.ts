import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, type Store } from "../store/index.ts";
import { createPhaseRecorder, PhaseTimeout } from "./phases.ts";
import { storedRollout } from "./stored-rollout.test-data.ts";

let folder = "";
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "phases-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});
const never = (): Promise<never> => new Promise(() => undefined);

test("phases are in the record and in the events, in order", async () => {
  const rollout = storedRollout(store);
  const phases = createPhaseRecorder({ store, rollout, attempt: 1, signal: new AbortController().signal });
  expect(await phases.run("preparing", 1000, async () => 7)).toBe(7);
  await phases.run("starting", 1000, async () => undefined);
  phases.end();
  const record = store.rollout(rollout.id);
  expect(record?.phase).toBe("ended");
  expect(record?.phases.map((phase) => phase.name)).toEqual(["preparing", "starting", "ended"]);
  expect(record?.phases.every((phase) => phase.seconds !== null)).toBe(true);
  const events = store.eventsAfter(0, 100, { rolloutId: rollout.id }).filter((event) => event.type === "rollout.phase");
  expect(events.map((event) => JSON.parse(event.payload))).toEqual([
    { phase: "preparing", attempt: 1 },
    { phase: "starting", attempt: 1 },
    { phase: "ended", attempt: 1 },
  ]);
});

test("a phase ends by its budget, or by the signal, and its work is told to stop", async () => {
  const rollout = storedRollout(store);
  const outer = new AbortController();
  const phases = createPhaseRecorder({ store, rollout, attempt: 0, signal: outer.signal });
  let told = false;
  const hanging = phases.run("setup", 20, (signal) => {
    signal.addEventListener("abort", () => {
      told = true;
    });
    return never();
  });
  await expect(hanging).rejects.toThrow(PhaseTimeout);
  expect(told).toBe(true);
  const running = phases.run("running", 60_000, never);
  outer.abort(new Error("cancelled"));
  await expect(running).rejects.toThrow("cancelled");
  await expect(phases.run("stopping", 1000, async () => 1)).rejects.toThrow("cancelled");
});
