import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "./contract.ts";
import { openStore } from "./open-store.ts";
import { sampleCall, sampleExperiment, sampleRollout } from "./records/sample-records.ts";
import { canMount } from "./small-disk.test-data.ts";

const megabyte = 1024 * 1024;

describe.skipIf(!canMount())("a disk that fills up (needs root to mount a small one)", () => {
  let folder = "";
  let store: Store;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "openforge-disk-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", folder]);
  });

  afterEach(() => {
    store.close();
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  });

  function begin(reserveBytes: number): void {
    store = openStore(folder, { reserveBytes });
    store.createExperiment(sampleExperiment("e1"));
    store.createRollouts([sampleRollout("r1", "e1")]);
  }

  /** Records random calls until one is refused; gives how many were recorded, and the refusal. */
  async function recordUntilRefused(first = 0): Promise<{ readonly recorded: number; readonly error: unknown }> {
    for (let index = first; index < first + 500; index++) {
      try {
        const call = sampleCall(store, "r1", index, randomBytes(100_000), randomBytes(10));
        await store.recordCallDurably(call, null);
      } catch (error) {
        return { recorded: index, error };
      }
    }
    throw new Error("the disk never filled");
  }

  it("refuses bodies while the reserve is still free, and goes on when there is room", async () => {
    begin(6 * megabyte);
    const { recorded, error } = await recordUntilRefused();
    expect(String(error)).toMatch(/has only \d+ MB left; nothing more is recorded/);
    expect(recorded).toBeGreaterThan(40);
    store.updateRollout("r1", { phase: "ended", outcome: { status: "environment-failure", cause: "disk-full", action: "mask", detail: null } });
    store.createExperiment(sampleExperiment("e2"));
    expect(store.callsOf("r1")).toHaveLength(recorded);
    expect(await store.check()).toEqual([]);
    store.close();
    store = openStore(folder, { reserveBytes: megabyte });
    expect(store.repairs).toEqual([]);
    expect((await recordUntilRefused(1000)).recorded).toBeGreaterThan(1000);
  });

  it("loses nothing that was acknowledged when the disk is really full", async () => {
    begin(0);
    writeFileSync(join(folder, "filler"), randomBytes(6 * megabyte));
    const { recorded, error } = await recordUntilRefused();
    expect(String(error)).toMatch(/disk of the data folder .* (is full|has only)/);
    rmSync(join(folder, "filler"));
    expect(store.callsOf("r1")).toHaveLength(recorded);
    await store.recordCallDurably(sampleCall(store, "r1", 900, Buffer.from("after"), Buffer.from("room was made")), null);
    expect(await store.check()).toEqual([]);
    store.close();
    store = openStore(folder, { reserveBytes: 0 });
    expect(store.repairs.filter((problem) => !problem.repaired)).toEqual([]);
    expect(store.callsOf("r1")).toHaveLength(recorded + 1);
    expect(await store.check()).toEqual([]);
  });
});
