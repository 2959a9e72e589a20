import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "./contract.ts";
import { type Database, databaseFile, loadSqlite } from "./database.ts";
import { openStore } from "./open-store.ts";
import { sampleCall, sampleExperiment, sampleNode, sampleRollout } from "./records/sample-records.ts";

let folder = "";
let store: Store;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openforge-check-"));
  store = openStore(folder);
  store.createExperiment(sampleExperiment("e1"));
  store.createRollouts([sampleRollout("r1", "e1")]);
  for (let index = 0; index < 4; index++) {
    const call = sampleCall(store, "r1", index, Buffer.from(`request ${index} `.repeat(500)), Buffer.from(`answer ${index}`));
    store.recordCall(call, sampleNode(call.id));
  }
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function tamper(change: (db: Database) => void): void {
  store.close();
  const db = new (loadSqlite())(join(folder, databaseFile));
  change(db);
  db.close();
  store = openStore(folder);
}

function flipByte(prefix: string, at: (length: number) => number): void {
  store.close();
  const path = join(folder, "blobs", readdirSync(join(folder, "blobs")).find((name) => name.startsWith(prefix)) ?? "");
  const bytes = readFileSync(path);
  const place = at(bytes.length);
  bytes[place] = (bytes[place] ?? 0) ^ 0x10;
  writeFileSync(path, bytes);
  store = openStore(folder);
}

describe("check", () => {
  it("finds nothing in a sound store, in journals and in packs", async () => {
    expect(await store.check()).toEqual([]);
    await store.compact();
    expect(await store.check()).toEqual([]);
  });

  it("names bodies whose pack was damaged; reading one is a sentence", async () => {
    await store.compact();
    flipByte("pack", (length) => Math.floor(length / 2));
    const problems = await store.check();
    expect(problems).toHaveLength(8);
    expect(problems[0]).toMatchObject({ repaired: false, message: expect.stringContaining("its checksum does not match") });
    const call = store.callsOf("r1")[0];
    expect(() => call && store.blobs.get(call.requestBody)).toThrow(/The stored body [0-9a-f]{12}… cannot be read/);
  });

  it("names the body whose journal record was damaged, keeps the others, and compaction leaves the damaged one where it is", async () => {
    flipByte("journal", (length) => length - 3);
    const problems = await store.check();
    expect(problems).toEqual([{ where: expect.stringContaining("body"), message: "Its bytes are not those that were stored.", repaired: false }]);
    await store.compact();
    expect(await store.check()).toHaveLength(1);
    expect(readdirSync(join(folder, "blobs")).sort()).toEqual(["journal-000001.bin", "pack-000001.pack"]);
    expect(store.blobs.get(store.callsOf("r1")[0]?.requestBody ?? store.blobs.put(Buffer.alloc(0)).hash)).not.toBeNull();
  });

  it("tells of a journal that is gone", () => {
    store.close();
    for (const name of readdirSync(join(folder, "blobs"))) rmSync(join(folder, "blobs", name));
    store = openStore(folder);
    expect(store.repairs).toEqual([{ where: "journal-000001.bin", message: expect.stringContaining("is gone"), repaired: false }]);
    expect(store.callsOf("r1")).toHaveLength(4);
  });

  it("sets wrong counts right", async () => {
    await store.compact();
    tamper((db) => {
      db.exec("UPDATE body SET refs = refs + 3 WHERE key = 1; UPDATE chunk SET refs = 9 WHERE key = 1");
    });
    const problems = await store.check();
    expect(problems.map((problem) => [problem.where, problem.repaired])).toEqual([
      ["reference counts of bodies", true],
      ["reference counts of chunks", true],
    ]);
    expect(await store.check()).toEqual([]);
  });

  it("names calls whose tokens do not add up and records without a body", async () => {
    tamper((db) => {
      db.exec("UPDATE node SET prompt_length = 99 WHERE call = 1; UPDATE node SET logprobs = x'00000000' WHERE call = 2");
      db.exec("UPDATE call SET response_body = 999 WHERE key = 3");
    });
    const messages = (await store.check()).map((problem) => problem.message);
    expect(messages).toEqual([
      "1 bodies that calls or artifacts refer to have no row.",
      "Its stored tokens do not add up to its prompt.",
      "It has another number of log-probabilities than of tokens.",
      "1 did not match the records that refer; they were set right.",
    ]);
  });
});
