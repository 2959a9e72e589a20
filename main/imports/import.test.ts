import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openZip } from "../archives/index.ts";
import { WorkbenchError } from "../errors.ts";
import { readCall } from "../proxy/index.ts";
import { openStore, type RolloutRecord, type Store } from "../store/index.ts";
import { rebuildTrajectories } from "../trajectories/index.ts";
import { importFrom } from "./index.ts";

const jobs = resolve("tests/fixtures/harbor/jobs");
const inspectLog = resolve("main/imports/samples/inspect-sums.eval");

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openforge-imports-"));
  store = openStore(join(folder, "data"));
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const bring = (path: string) => importFrom(store, path, () => undefined, new AbortController().signal);
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const by = (rollouts: readonly RolloutRecord[], name: string): RolloutRecord => {
  const found = rollouts.find(({ taskName }) => taskName === name);
  if (found === undefined) throw new Error(`no rollout of ${name}`);
  return found;
};

describe("a Harbor job", () => {
  test("becomes a read-only recording with outcomes, rewards and files", async () => {
    const report = await bring(`${jobs}/2026-03-01__10-00-00`);
    expect(report).toMatchObject({ kind: "Harbor job", name: "2026-03-01__10-00-00", rollouts: 6 });
    expect(store.experiment(report.experiment)?.status).toBe("recording");
    const rollouts = store.rolloutsOf(report.experiment);
    expect(by(rollouts, "examples/hello-file")).toMatchObject({ harness: "oracle", reward: 1, outcome: { status: "succeeded" }, phase: "ended" });
    expect(by(rollouts, "ok-gold-fails")).toMatchObject({ reward: 0, outcome: { status: "agent-timeout", action: "train" } });
    expect(by(rollouts, "ok-no-reward")).toMatchObject({
      reward: null,
      outcome: { status: "verifier-failure", cause: "reward-missing", action: "mask" },
    });
    expect(by(rollouts, "examples/two-steps").rewards).toEqual({ style: 0.125, correctness: 0.5, reward: 0.5 });
    expect(by(rollouts, "examples/two-steps").steps).toMatchObject([
      { name: "write", reward: 1, outcome: { status: "succeeded" } },
      { name: "extend", reward: null, rewards: { correctness: 1, style: 0.25 }, outcome: { status: "failed" } },
    ]);
    expect(by(rollouts, "examples/json-reward")).toMatchObject({ reward: null, outcome: { cause: "reward-malformed" } });
    expect(by(rollouts, "examples/hello-file").taskDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
    const files = store.artifactsOf(by(rollouts, "examples/two-steps").id).map(({ name }) => name);
    expect(files).toContain("steps/write/reward.txt");
    expect(files).toContain("steps/write/work/one.txt");
    expect(await store.check()).toEqual([]);
  });

  test("keeps tokens, log-probabilities and tool results of a trajectory", async () => {
    const { experiment } = await bring(`${jobs}/2026-03-01__11-00-00`);
    const rollout = store.rolloutsOf(experiment).find(({ harness }) => harness === "demo-agent");
    expect(rollout).toMatchObject({ calls: 2, chains: 1, promptTokens: 50, completionTokens: 5, trainable: true, policy: "demo/demo-model" });
    const tokens = rebuildTrajectories(store, rollout?.id ?? "").tokensOf(0);
    expect([...tokens.mask].filter((bit) => bit === 1)).toHaveLength(5);
    expect([...tokens.logprobs].filter(Number.isFinite).map((value) => Number(value.toFixed(3)))).toEqual([-0.1, -0.2, -0.3, -0.5, 0]);
    const [first, second] = store.callsOf(rollout?.id ?? "");
    if (first === undefined || second === undefined) throw new Error("calls are missing");
    expect(readCall(store, first).answer?.message).toMatchObject({ reasoning: "Write it.", toolCalls: [{ name: "bash" }] });
    expect(readCall(store, second).conversation?.messages.at(-1)).toMatchObject({ role: "tool", toolCallId: "c1" });
  });

  test("is brought in once", async () => {
    const first = await bring(`${jobs}/2026-03-01__11-00-00`);
    const second = await bring(`${jobs}/2026-03-01__11-00-00`);
    expect(second).toMatchObject({ experiment: first.experiment, rollouts: 4, notes: ["It was imported before."] });
    expect(store.experiments()).toHaveLength(1);
  });

  test("leaves nothing when a trial is broken", async () => {
    const job = join(folder, "job");
    const { cpSync } = await import("node:fs");
    cpSync(`${jobs}/2026-03-01__11-00-00`, job, { recursive: true });
    writeFileSync(join(job, "ok-hello-file__setREqd", "result.json"), '{"id": 3}');
    await expect(bring(job)).rejects.toThrow(/result\.json cannot be imported: it is not in the form expected at id: /);
    expect(store.experiments()).toEqual([]);
  });

  test("one trial of it is a recording too", async () => {
    expect(await bring(`${jobs}/2026-03-01__11-00-00/ok-hello-file__setREqd`)).toMatchObject({ kind: "Harbor trial", rollouts: 1, calls: 2 });
  });
});

describe("an Inspect log", () => {
  test("becomes a rollout a sample and epoch, with scores and model calls", async () => {
    const report = await bring(inspectLog);
    expect(report).toMatchObject({ kind: "Inspect log", name: "sums, mockllm/model", rollouts: 4, calls: 8, notes: [] });
    const rollouts = store.rolloutsOf(report.experiment);
    expect(rollouts.map(({ taskName, groupIndex, reward }) => [taskName, groupIndex, reward])).toEqual([
      ["sums/one", 0, 1],
      ["sums/one", 1, 1],
      ["sums/two", 0, 0],
      ["sums/two", 1, 0],
    ]);
    expect(rollouts[0]).toMatchObject({
      rewards: { includes: 1 },
      promptTokens: 92,
      completionTokens: 38,
      trainable: false,
      trainableReason: "no token ids",
    });
    const [, second] = store.callsOf(rollouts[0]?.id ?? "");
    if (second === undefined) throw new Error("the second call is missing");
    const { conversation, answer } = readCall(store, second);
    expect(conversation?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
    expect(conversation?.tools).toMatchObject([{ kind: "function", name: "add" }]);
    expect(answer?.message.content).toEqual([{ type: "text", text: "The answer is 2." }]);
  });

  test("cut anywhere, or with a byte changed, gets one sentence and leaves nothing", async () => {
    const whole = readFileSync(inspectLog);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.boolean(), fc.integer({ min: 1, max: 255 }), async (at, cut, change) => {
        const bytes = cut ? whole.subarray(0, at) : Uint8Array.from(whole, (byte, index) => (index === at ? byte ^ change : byte));
        const outcome = await bring(file("x.eval", bytes)).catch((error: unknown) => error);
        if (outcome instanceof Error) {
          expect(outcome).toBeInstanceOf(WorkbenchError);
          expect(outcome.message).toMatch(/cannot be imported: .*\.$/);
          expect(store.experiments()).toEqual([]);
        } else for (const { id } of store.experiments()) store.deleteExperiment(id);
      }),
      { numRuns: 60 },
    );
  });
});

describe("what is none of these", () => {
  test.each<[string, () => string, RegExp]>([
    ["nothing there", () => join(folder, "no"), /^There is nothing at /],
    ["no JSON", () => file("a.json", "{"), /a\.json cannot be imported: it is no JSON \(/],
    ["another JSON", () => file("a.json", '{"schema_version":"2"}'), /cannot be imported: it is not in the form expected at schema_version: /],
    ["a plain zip", () => file("a.eval", zip({ "x.txt": "x" })), /it is a zip archive but no Inspect log: header\.json is missing\.$/],
    ["no zip", () => file("a.eval", "hello"), /it is no zip archive, or its end is missing\.$/],
    ["an empty folder", () => mkdtempSync(join(folder, "empty-")), /the folder holds neither a Harbor job/],
  ])("%s", async (_name, path, sentence) => {
    await expect(bring(path())).rejects.toThrow(sentence);
    expect(store.experiments()).toEqual([]);
  });
});

describe("zip archives", () => {
  test("give back what was packed", async () => {
    const opened = await openZip(file("a.zip", zip({ "a.txt": "据 🙂", "deep/b.json": "{}".repeat(9000) })));
    try {
      expect(opened.names).toEqual(["a.txt", "deep/b.json"]);
      expect((await opened.read("a.txt")).toString("utf8")).toBe("据 🙂");
      expect((await opened.read("deep/b.json")).length).toBe(18_000);
      await expect(opened.read("c")).rejects.toThrow("c in it is missing");
    } finally {
      await opened.close();
    }
  });
});

/** A small archive of deflated entries. */
function zip(entries: Readonly<Record<string, string>>): Uint8Array {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(entries)) {
    const bytes = Buffer.from(text);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(checksum(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), fields, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00", "latin1"), fields, place, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, list, end]);
}

function checksum(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  return (value ^ 0xffffffff) >>> 0;
}
