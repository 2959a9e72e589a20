import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CallRecord, Store } from "./contract.ts";
import { openStore } from "./open-store.ts";
import { exportRecording, importRecording } from "./recording.ts";
import { sampleCall, sampleExperiment, sampleNode, sampleRollout } from "./records/sample-records.ts";

let folder = "";
let store: Store;
let file = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openforge-recording-"));
  store = openStore(join(folder, "from"));
  file = join(folder, "sample.openforge");
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** An experiment that a bundled recording could be: a retry's second attempt, a subagent, artifacts, other events between the calls. */
function record(): readonly CallRecord[] {
  store.createExperiment(sampleExperiment("e1", { status: "ended", endedAt: 1_700_000_100_000 }));
  store.createRollouts([sampleRollout("r1", "e1", { attempts: 2 }), sampleRollout("r2", "e1", { groupIndex: 1 })]);
  let messages = "";
  const calls: CallRecord[] = [];
  for (let index = 0; index < 6; index++) {
    messages += `message ${index} ${"words and more words ".repeat(200)}`;
    const attempt = index < 2 ? 1 : 2;
    const call = sampleCall(store, "r1", index, Buffer.from(messages), Buffer.from(`answer ${index}`), { attempt });
    const attachments = index === 3 ? [store.blobs.put(Buffer.from("an image")).hash] : [];
    store.recordCall(call, index === 4 ? null : sampleNode(call.id, index === 1 || index === 3 ? (calls.at(-1)?.id ?? null) : null), attachments);
    store.appendEvent({ at: index, experimentId: "e1", rolloutId: "r1", type: "log", payload: `{"line":${index}}` });
    calls.push(call);
  }
  const log = store.blobs.put(Buffer.from("stdout"));
  store.addArtifact({ rolloutId: "r1", attempt: 2, kind: "harness-log", name: "stdout.txt", blob: log.hash, size: log.size });
  for (const id of ["r1", "r2"]) {
    store.updateRollout(id, {
      phase: "ended",
      reward: id === "r1" ? 0 : null,
      outcome: { status: "failed", cause: null, action: "train", detail: null },
      chains: 1,
    });
  }
  return calls;
}

/** A file whose checksum is right, whatever it holds. */
function sealed(packed: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from("openforge-recording 1\n"), createHash("sha256").update(packed).digest(), packed]);
}

describe("recordings", () => {
  it("come back whole in another data folder, as a recording", async () => {
    const calls = record();
    exportRecording(store, "e1", file);
    const other = openStore(join(folder, "to"));
    try {
      expect(importRecording(other, file)).toBe("e1");
      expect(other.experiment("e1")).toEqual({ ...store.experiment("e1"), status: "recording" });
      expect(other.rolloutsOf("e1")).toEqual(store.rolloutsOf("e1"));
      for (const attempt of [1, 2]) {
        expect(other.callsOf("r1", attempt)).toEqual(store.callsOf("r1", attempt));
        expect(other.nodesOf("r1", attempt)).toEqual(store.nodesOf("r1", attempt));
      }
      for (const call of calls) {
        expect(other.blobs.get(call.requestBody)).toEqual(store.blobs.get(call.requestBody));
        expect(other.attachmentsOf(call.id)).toEqual(store.attachmentsOf(call.id));
      }
      expect(other.artifactsOf("r1")).toEqual(store.artifactsOf("r1"));
      expect(other.eventsAfter(0, 100)).toEqual(store.eventsAfter(0, 100));
      expect(other.unfinishedRollouts()).toEqual([]);
      expect(await other.check()).toEqual([]);
      expect(importRecording(other, file)).toBe("e1");
      expect(other.callsOf("r1", 2)).toHaveLength(4);
    } finally {
      other.close();
    }
  });

  it("are small: bodies that repeat each other are written once", () => {
    record();
    exportRecording(store, "e1", file);
    expect(statSync(file).size).toBeLessThan(4000);
  });

  it("are not taken from an experiment that runs", () => {
    record();
    store.createRollouts([sampleRollout("r3", "e1")]);
    expect(() => exportRecording(store, "e1", file)).toThrow("is still running");
    expect(() => exportRecording(store, "none", file)).toThrow("There is no experiment none");
  });

  it("do not replace an experiment of one's own", () => {
    record();
    exportRecording(store, "e1", file);
    expect(() => importRecording(store, file)).toThrow("is in this data folder already");
  });

  it("are refused when broken, and change nothing", () => {
    record();
    exportRecording(store, "e1", file);
    const whole = readFileSync(file);
    const other = openStore(join(folder, "to"));
    const refused = (bytes: Uint8Array): string => {
      writeFileSync(file, bytes);
      try {
        importRecording(other, file);
      } catch (error) {
        return error instanceof Error ? error.message : "";
      }
      return "";
    };
    try {
      expect(refused(Buffer.from("hello"))).toContain("is no recording");
      expect(refused(Buffer.alloc(0))).toContain("is no recording");
      expect(refused(whole.subarray(0, 30))).toContain("is damaged");
      expect(refused(whole.subarray(0, whole.length - 1))).toContain("its checksum does not match");
      expect(refused(Buffer.concat([whole.subarray(0, 60), Buffer.of((whole[60] ?? 0) ^ 1), whole.subarray(61)]))).toContain(
        "its checksum does not match",
      );
      expect(refused(Buffer.concat([Buffer.from("openforge-recording 9\n"), whole.subarray(22)]))).toContain("of version 9");
      for (const plain of [Buffer.alloc(0), Buffer.from("\x02\0\0\0{]"), Buffer.from("\x02\0\0\0{}"), Buffer.from("\xff\xff\xff\x7f{}", "latin1")])
        expect(refused(sealed(brotliCompressSync(plain)))).toContain("is damaged");
      expect(refused(sealed(Buffer.from("no brotli")))).toContain("is damaged");
      expect(other.experiments()).toEqual([]);
      expect(() => importRecording(other, join(folder, "none"))).toThrow("cannot be read");
    } finally {
      other.close();
    }
  });
});
