import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BlobHash } from "../../engine/conversation/index.ts";
import { WorkbenchError } from "../errors.ts";
import type { EventRecord, Store } from "./contract.ts";
import { openStore, type StoreOptions } from "./open-store.ts";
import { sampleCall, sampleExperiment, sampleNode, sampleRollout } from "./records/sample-records.ts";

let folder = "";
let store: Store;

function reopen(options: StoreOptions = {}): void {
  store.close();
  store = openStore(folder, options);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openforge-store-"));
  store = openStore(folder);
  store.createExperiment(sampleExperiment("e1"));
  store.createRollouts([sampleRollout("r1", "e1"), sampleRollout("r2", "e1", { groupIndex: 1, phase: "queued" })]);
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const bytes = (text: string) => Buffer.from(text);
const blobFiles = () => readdirSync(join(folder, "blobs")).sort();

describe("records", () => {
  it("gives experiments and rollouts back as written, also after a restart", () => {
    const full = sampleRollout("r3", "e1", {
      outcome: { status: "failed", cause: "tool-misuse", action: "train", detail: "It said no." },
      phase: "ended",
      reward: 0,
      rewards: { accuracy: 0.25, format: 1 },
      trainable: false,
      trainableReason: "no token ids",
      endedAt: 1_700_000_009_000.5,
    });
    store.createRollouts([full]);
    reopen();
    expect(store.experiment("e1")).toEqual(sampleExperiment("e1"));
    expect(store.experiments()).toEqual([sampleExperiment("e1")]);
    expect(store.rollout("r3")).toEqual(full);
    expect(store.rolloutsOf("e1").map((rollout) => rollout.id)).toEqual(["r1", "r2", "r3"]);
    expect(store.unfinishedRollouts().map((rollout) => rollout.id)).toEqual(["r1", "r2"]);
    expect(store.rollout("none")).toBeNull();
  });

  it("changes only what an update names; a missing reward stays null", () => {
    store.updateRollout("r1", { phase: "ended", outcome: { status: "succeeded", cause: null, action: "train", detail: null }, trainable: true });
    expect(store.rollout("r1")).toEqual(
      sampleRollout("r1", "e1", { phase: "ended", outcome: { status: "succeeded", cause: null, action: "train", detail: null }, trainable: true }),
    );
    store.updateExperiment("e1", { status: "ended", endedAt: 5 });
    expect(store.experiment("e1")).toEqual(sampleExperiment("e1", { status: "ended", endedAt: 5 }));
    expect(() => store.updateRollout("none", { phase: "ended" })).toThrow(WorkbenchError);
  });

  it("records a call with node, counts and event at once", () => {
    const events: EventRecord[] = [];
    store.onEvent((event) => events.push(event));
    const call = sampleCall(store, "r1", 0, bytes("request"), bytes("response"));
    const attachment = store.blobs.put(bytes("an image")).hash;
    store.recordCall(call, sampleNode(call.id), [attachment]);
    const second = sampleCall(store, "r1", 1, bytes("request 2"), bytes("response"), {
      status: "error",
      error: "no",
      finishReason: null,
      session: { thread: "a" },
    });
    store.recordCall(second, sampleNode(second.id, call.id));
    expect(store.callsOf("r1")).toEqual([call, second]);
    expect(store.call(second.id)).toEqual(second);
    expect(store.nodesOf("r1")).toEqual([sampleNode(call.id), sampleNode(second.id, call.id)]);
    expect(store.attachmentsOf(call.id)).toEqual([attachment]);
    expect(store.rollout("r1")).toMatchObject({ calls: 2, promptTokens: 10, completionTokens: 6 });
    expect(events.map((event) => [event.type, event.experimentId, event.rolloutId])).toEqual([
      ["call.recorded", "e1", "r1"],
      ["call.recorded", "e1", "r1"],
    ]);
    expect(store.eventsAfter(0, 10)).toEqual(events);
    expect(store.lastSequence()).toBe(events.at(-1)?.sequence);
  });

  it("commits calls of one turn together, in order; one that is wrong fails alone", async () => {
    const calls = [0, 1, 2, 3].map((index) => sampleCall(store, "r1", index, bytes(`request ${index}`), bytes("ok")));
    const wrong = sampleCall(store, "r1", 9, bytes("x"), bytes("y"), { rolloutId: "none" });
    const unstored = sampleCall(store, "r1", 8, bytes("x"), bytes("y"), { requestBody: "0".repeat(64) as BlobHash });
    const results = await Promise.allSettled([
      ...calls.slice(0, 2).map((call) => store.recordCallDurably(call, null)),
      store.recordCallDurably(wrong, null),
      store.recordCallDurably(unstored, null),
      ...calls.slice(2).map((call) => store.recordCallDurably(call, null)),
    ]);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected", "fulfilled", "fulfilled"]);
    reopen();
    expect(store.callsOf("r1")).toEqual(calls);
    expect(store.rollout("r1")?.calls).toBe(4);
    expect(await store.check()).toEqual([]);
  });

  it("reads what was recorded in this turn already", () => {
    const call = sampleCall(store, "r1", 0, bytes("a"), bytes("b"));
    const recorded = store.recordCallDurably(call, null);
    expect(store.callsOf("r1")).toEqual([call]);
    store.updateCall(call.id, { replays: 2, aborted: true, quarantined: "ambiguous retry" });
    expect(store.call(call.id)).toEqual({ ...call, replays: 2, aborted: true, quarantined: "ambiguous retry" });
    return recorded;
  });

  it("refuses the same call twice and keeps the first", () => {
    const call = sampleCall(store, "r1", 0, bytes("a"), bytes("b"));
    store.recordCall(call, null);
    expect(() => store.recordCall({ ...call, model: "other" }, null)).toThrow("recorded already");
    expect(store.callsOf("r1")).toEqual([call]);
  });

  it("gives the calls of the last attempt that made any", () => {
    const first = sampleCall(store, "r1", 0, bytes("a"), bytes("b"));
    const second = sampleCall(store, "r1", 0, bytes("c"), bytes("d"), { id: "again", attempt: 2 });
    store.recordCall(first, null);
    store.recordCall(second, null);
    expect(store.callsOf("r1")).toEqual([second]);
    expect(store.callsOf("r1", 1)).toEqual([first]);
    expect(store.callsOf("r1", 3)).toEqual([]);
    expect(store.callsOf("none")).toEqual([]);
  });

  it("numbers events over the whole folder and filters them", () => {
    const event = (rolloutId: string | null, payload: string) => ({ at: 1, experimentId: null, rolloutId, type: "log", payload });
    store.createExperiment(sampleExperiment("e2"));
    store.createRollouts([sampleRollout("other", "e2")]);
    const written = [event("r1", "1"), event("other", "2"), event(null, "3"), event("r2", "4")].map((one) => store.appendEvent(one));
    expect(written.map((one) => one.sequence)).toEqual([1, 2, 3, 4]);
    expect(written[0]?.experimentId).toBe("e1");
    const payloads = (events: readonly EventRecord[]) => events.map((one) => one.payload);
    expect(payloads(store.eventsAfter(1, 2))).toEqual(["2", "3"]);
    expect(payloads(store.eventsAfter(0, 10, { experimentId: "e1" }))).toEqual(["1", "4"]);
    expect(payloads(store.eventsAfter(1, 10, { rolloutId: "r2" }))).toEqual(["4"]);
    store.deleteExperiment("e2");
    store.deleteExperiment("e1");
    expect(payloads(store.eventsAfter(0, 10))).toEqual(["3"]);
    reopen();
    expect(store.appendEvent(event(null, "5")).sequence).toBe(5);
  });

  it("tells listeners after the commit, in order, also of events that a listener writes", () => {
    const seen: string[] = [];
    store.onEvent((event) => {
      seen.push(event.payload);
      if (event.payload === "1") store.appendEvent({ at: 0, experimentId: null, rolloutId: null, type: "log", payload: "3" });
    });
    expect(() =>
      store.atomically(() => {
        store.appendEvent({ at: 0, experimentId: null, rolloutId: null, type: "log", payload: "lost" });
        throw new Error("undone");
      }),
    ).toThrow("undone");
    store.atomically(() => {
      for (const payload of ["1", "2"]) store.appendEvent({ at: 0, experimentId: null, rolloutId: null, type: "log", payload });
      expect(seen).toEqual([]);
    });
    expect(seen).toEqual(["1", "2", "3"]);
  });

  it("replaces an artifact of the same name", async () => {
    const put = (text: string) => ({ blob: store.blobs.put(bytes(text)).hash, size: text.length });
    const base = { rolloutId: "r1", attempt: 1, kind: "verifier-output", name: "stdout.txt" } as const;
    store.addArtifact({ ...base, ...put("first") });
    store.addArtifact({ ...base, ...put("second") });
    store.addArtifact({ ...base, ...put("second") });
    const [artifact] = store.artifactsOf("r1");
    expect(store.artifactsOf("r1")).toHaveLength(1);
    expect(Buffer.from(store.blobs.get(artifact?.blob ?? ("" as BlobHash)) ?? []).toString()).toBe("second");
    expect(await store.check()).toEqual([]);
  });

  it("sums up experiments for a list", () => {
    store.createRollouts([
      sampleRollout("r3", "e1", {
        phase: "ended",
        reward: 1,
        outcome: { status: "succeeded", cause: null, action: "train", detail: null },
        chains: 2,
        calls: 5,
      }),
      sampleRollout("r4", "e1", {
        phase: "ended",
        harness: "codex",
        outcome: { status: "failed", cause: null, action: "train", detail: null },
        reward: 0,
      }),
    ]);
    store.createExperiment(sampleExperiment("e2", { createdAt: 1_800_000_000_000 }));
    expect(store.experimentSummary("e2")).toMatchObject({ total: 0, ended: 0, queued: 0, outcomes: {}, rewards: [] });
    expect(store.experimentSummary("e1")).toMatchObject({
      total: 4,
      ended: 2,
      outcomes: { succeeded: 1, failed: 1 },
      calls: 5,
      chains: 2,
      harnesses: ["react", "codex"],
      policies: ["scripted"],
      rewards: [{ reward: 1, outcome: { status: "succeeded" } }, { reward: 0 }],
    });
  });

  it("gives the rollouts that changed since a mark, whatever changed them", () => {
    const before = store.rolloutMark("e1");
    expect(store.rolloutsOf("e1", before)).toEqual([]);
    store.createRollouts([sampleRollout("r3", "e1")]);
    store.updateRollout("r1", { phase: "ended" });
    const mark = store.rolloutMark("e1");
    expect(
      store
        .rolloutsOf("e1", before)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(["r1", "r3"]);
    store.recordCall(sampleCall(store, "r2", 0, bytes("a"), bytes("b")), null);
    expect(store.rolloutsOf("e1", mark)).toMatchObject([{ id: "r2", calls: 1 }]);
    reopen();
    // Marks of an earlier process say nothing: everything is read.
    expect(store.rolloutsOf("e1", mark)).toHaveLength(3);
    expect(store.rolloutMark("e1")).toBeGreaterThan(mark);
    expect(store.rolloutMark("none")).toBe(0);
  });

  it("keeps settings", () => {
    store.setSetting("window", '{"width":1}');
    store.setSetting("window", '{"width":2}');
    reopen();
    expect(store.setting("window")).toBe('{"width":2}');
    expect(store.setting("none")).toBeNull();
  });
});

describe("bodies", () => {
  it("gives back random bodies byte for byte: at once, after a restart, after compaction", async () => {
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 3000 }),
      fc.string({ unit: "binary", maxLength: 2000 }).map((text) => Buffer.from(text.repeat(20))),
    );
    const samples = fc.sample(fc.tuple(body, body), 60);
    const expected = new Map<BlobHash, Uint8Array>();
    samples.forEach(([request, response], index) => {
      const call = sampleCall(store, index % 2 === 0 ? "r1" : "r2", index, request, response);
      expected.set(call.requestBody, request);
      if (call.responseBody !== null) expected.set(call.responseBody, response);
      store.recordCall(call, null);
    });
    const same = () => {
      for (const [hash, original] of expected) {
        expect(Buffer.from(store.blobs.get(hash) ?? []).equals(original)).toBe(true);
        expect(store.blobs.size(hash)).toBe(original.length);
      }
    };
    same();
    reopen();
    same();
    await store.compact();
    same();
    reopen();
    same();
    expect(blobFiles()).toEqual(["pack-000001.pack"]);
    expect(await store.check()).toEqual([]);
    expect(store.repairs).toEqual([]);
  });

  it("stores growing bodies once, in the journal and in packs", async () => {
    let messages = "";
    for (let index = 0; index < 50; index++) {
      messages += `message ${index}: ${`${index * 7919}`.repeat(200)}\n`;
      store.recordCall(
        sampleCall(store, "r1", index, bytes(`{"model":"m","messages":"${messages}","tools":"${"t".repeat(4000)}"}`), bytes("ok")),
        null,
      );
    }
    expect(store.usage().packBytes).toBeLessThan(2 * messages.length);
    await store.compact();
    expect(store.usage().packBytes).toBeLessThan(messages.length / 4);
    expect(await store.check()).toEqual([]);
  });

  it("drops bodies with their last reference, keeps shared ones", async () => {
    const shared = bytes("shared body ".repeat(1000));
    store.createExperiment(sampleExperiment("e2"));
    store.createRollouts([sampleRollout("other", "e2")]);
    const mine = sampleCall(store, "r1", 0, bytes("only mine"), shared);
    store.recordCall(mine, null);
    await store.compact();
    store.recordCall(sampleCall(store, "other", 0, bytes("only theirs"), shared), null);
    store.deleteExperiment("e1");
    expect(store.experiment("e1")).toBeNull();
    expect(store.rolloutsOf("e1")).toEqual([]);
    expect(store.blobs.get(mine.requestBody)).toBeNull();
    expect(Buffer.from(store.blobs.get(mine.responseBody ?? mine.requestBody) ?? []).equals(shared)).toBe(true);
    expect(await store.check()).toEqual([]);
    store.deleteExperiment("e2");
    expect(store.blobs.size(mine.responseBody ?? mine.requestBody)).toBeNull();
    expect(() => store.deleteExperiment("e2")).toThrow(WorkbenchError);
    expect(await store.check()).toEqual([]);
  });

  it("keeps a body that was put again while its last reference went", async () => {
    const call = sampleCall(store, "r1", 0, bytes("kept"), bytes("x"));
    store.recordCall(call, null);
    await store.compact();
    store.createExperiment(sampleExperiment("e2"));
    store.createRollouts([sampleRollout("other", "e2")]);
    const again = sampleCall(store, "other", 0, bytes("kept"), bytes("new"));
    store.deleteExperiment("e1");
    store.recordCall(again, null);
    expect(Buffer.from(store.blobs.get(again.requestBody) ?? []).toString()).toBe("kept");
    expect(await store.check()).toEqual([]);
  });

  it("are kept the same way when every commit is synchronous", async () => {
    reopen({ durability: "power" });
    const calls = [0, 1, 2].map((index) => sampleCall(store, "r1", index, bytes(`request ${index}`.repeat(500)), bytes("ok")));
    await Promise.all(calls.map((call) => store.recordCallDurably(call, null)));
    await store.compact();
    reopen({ durability: "power" });
    expect(store.callsOf("r1")).toEqual(calls);
    expect(await store.check()).toEqual([]);
  });

  it("forgets at the next start what no record refers to", () => {
    const { hash } = store.blobs.put(bytes("never referred to"));
    expect(Buffer.from(store.blobs.get(hash) ?? []).toString()).toBe("never referred to");
    reopen();
    expect(store.blobs.get(hash)).toBeNull();
    expect(blobFiles()).toEqual([]);
  });

  it("keeps a journal while a body in it waits for its record", async () => {
    const early = store.blobs.put(bytes("put before"));
    store.recordCall(sampleCall(store, "r1", 0, bytes("a"), bytes("b")), null);
    await store.compact();
    const call = sampleCall(store, "r1", 1, bytes("put before"), bytes("d"));
    store.recordCall(call, null);
    await store.compact();
    expect(Buffer.from(store.blobs.get(early.hash) ?? []).toString()).toBe("put before");
    expect(blobFiles().filter((name) => name.startsWith("journal"))).toEqual([]);
    expect(await store.check()).toEqual([]);
  });
});
