import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BlobHash } from "../../engine/conversation/index.ts";
import { openStore } from "./open-store.ts";

const kills = 24;
const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));
let built = "";
let folder = "";

/** Bundled, as the product ships: a child then starts in a fraction of the time, and the worker is found beside the bundle. */
beforeAll(async () => {
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  built = mkdtempSync(join(root, "node_modules/.cache/store-crash-"));
  const bundle = await rolldown({
    input: { "crash-writer": join(here, "crash-writer.ts"), "store-worker": join(here, "background/worker.ts") },
    platform: "node",
    external: [/^better-sqlite3/],
    tsconfig: false,
  });
  await bundle.write({ dir: built, format: "esm" });
  await bundle.close();
  folder = mkdtempSync(join(tmpdir(), "openforge-crash-"));
}, 60_000);

afterAll(() => {
  rmSync(built, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

interface Acknowledged {
  readonly id: string;
  readonly requestBody: BlobHash;
  readonly responseBody: BlobHash;
}

/** Runs the writer, kills it a random time after its first line, and gives what it had acknowledged. */
async function writeAndKill(generation: number): Promise<readonly Acknowledged[]> {
  const child = spawn(process.execPath, [join(built, "crash-writer.js"), folder, String(generation)], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), Math.random() * 250));
  await ended(child);
  expect(child.signalCode).toBe("SIGKILL");
  const whole = output.slice(0, output.lastIndexOf("\n")).split("\n").slice(1);
  return whole.map((line) => {
    const [id = "", requestBody = "", responseBody = ""] = line.split(" ");
    return { id, requestBody: requestBody as BlobHash, responseBody: responseBody as BlobHash };
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.on("close", () => resolve()));
}

describe("kill -9", () => {
  it(`at ${kills} random moments loses no acknowledged call, and the next start repairs what is left`, async () => {
    const acknowledged: Acknowledged[] = [];
    for (let generation = 0; generation < kills; generation++) {
      acknowledged.push(...(await writeAndKill(generation)));
      if (generation % 6 === 5) await expectWhole(acknowledged);
    }
    expect(acknowledged.length).toBeGreaterThan(kills * 10);
  }, 120_000);

  it("sets aside a torn end of the journal and reads the rest", async () => {
    const journal = readdirSync(join(folder, "blobs")).find((name) => name.startsWith("journal"));
    if (journal !== undefined) appendFileSync(join(folder, "blobs", journal), "OFJ1 half a rec");
    appendFileSync(
      join(folder, "blobs", readdirSync(join(folder, "blobs")).find((name) => name.startsWith("pack")) ?? "pack-000001.pack"),
      "half a frame",
    );
    const store = openStore(folder);
    expect(store.repairs.map((problem) => problem.repaired)).toEqual(journal === undefined ? [true] : [true, true]);
    expect(await store.check()).toEqual([]);
    store.close();
    const again = openStore(folder);
    expect(again.repairs).toEqual([]);
    again.close();
  });
});

async function expectWhole(acknowledged: readonly Acknowledged[]): Promise<void> {
  const store = openStore(folder);
  try {
    expect(store.repairs.filter((problem) => !problem.repaired)).toEqual([]);
    for (const { id, requestBody, responseBody } of acknowledged) {
      const call = store.call(id);
      expect(call).toMatchObject({ id, requestBody, responseBody });
      for (const hash of [requestBody, responseBody]) expect(sha256(store.blobs.get(hash))).toBe(hash);
    }
    const recorded = store.experiments().flatMap((experiment) => store.rolloutsOf(experiment.id));
    for (const rollout of recorded) expect(store.callsOf(rollout.id)).toHaveLength(rollout.calls);
    expect(await store.check()).toEqual([]);
  } finally {
    store.close();
  }
}

function sha256(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : createHash("sha256").update(bytes).digest("hex");
}
