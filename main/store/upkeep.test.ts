import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Store } from "./contract.ts";
import { openStore } from "./open-store.ts";
import { sampleCall, sampleExperiment, sampleRollout } from "./records/sample-records.ts";

let folder = "";
let store: Store;

/** The clock of upkeep is moved by hand; its worker runs in real time. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  folder = mkdtempSync(join(tmpdir(), "openforge-upkeep-"));
  store = openStore(folder);
  store.createExperiment(sampleExperiment("e1"));
  store.createRollouts([sampleRollout("r1", "e1")]);
});

afterEach(() => {
  store.close();
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const log = () => statSync(join(folder, "workbench.db-wal")).size;
const journals = () => readdirSync(join(folder, "blobs")).filter((name) => name.startsWith("journal"));

async function passSeconds(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    vi.advanceTimersByTime(1000);
    await wait(20);
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !condition(); tries++) await passSeconds(1);
  expect(condition()).toBe(true);
}

describe("upkeep", () => {
  it("moves bodies into packs when no rollout runs and the store is idle", async () => {
    store.recordCall(sampleCall(store, "r1", 0, Buffer.from("request ".repeat(1000)), Buffer.from("answer")), null);
    await passSeconds(20);
    expect(journals()).toHaveLength(1);
    store.updateRollout("r1", { phase: "ended" });
    await until(() => journals().length === 0);
    expect(await store.check()).toEqual([]);
  });

  it("moves bodies into packs while rollouts run when they have become many: memory holds an index of the journals", async () => {
    for (let index = 0; index < 5_500; index++) {
      store.recordCall(sampleCall(store, "r1", index, Buffer.from(`request ${index}`), Buffer.from(`answer ${index}`)), null);
    }
    const first = journals();
    await until(() => !journals().some((name) => first.includes(name)));
    expect(await store.check()).toEqual([]);
  }, 60_000);

  it("is stopped by closing at any moment, and leaves nothing to repair", async () => {
    for (let round = 0; round < 6; round++) {
      for (let index = 0; index < 20; index++) {
        const request = Buffer.from(randomBytes(20_000).toString("base64"));
        store.recordCall(sampleCall(store, "r1", round * 100 + index, request, Buffer.from("answer")), null);
      }
      const outcome = store.compact().then(
        () => "done",
        (error: unknown) => String(error),
      );
      await wait(round * 60);
      store.close();
      expect(await outcome).toMatch(/done|the store is closed/);
      store = openStore(folder);
      expect(store.repairs).toEqual([]);
    }
    expect(await store.check()).toEqual([]);
  });

  it("cuts the write-ahead log back to nothing when idle", async () => {
    for (let index = 0; index < 300; index++) store.setSetting(`key ${index}`, JSON.stringify("x".repeat(20_000)));
    expect(log()).toBeGreaterThan(4_000_000);
    await until(() => log() === 0);
    expect(store.setting("key 299")).toHaveLength(20_002);
  });
});
