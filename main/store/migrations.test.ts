import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { databaseFile, loadSqlite } from "./database.ts";
import { migrations } from "./migrations.ts";
import { openStore } from "./open-store.ts";
import { sampleExperiment } from "./records/sample-records.ts";

/** One data folder a released version, written by that version: the database as SQL, packs and a journal as they were. */
const samples = fileURLToPath(new URL("./samples", import.meta.url));

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openforge-migrations-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function restore(version: string): void {
  cpSync(join(samples, version, "blobs"), join(folder, "blobs"), { recursive: true });
  const db = new (loadSqlite())(join(folder, databaseFile));
  db.pragma("foreign_keys = OFF");
  db.exec(readFileSync(join(samples, version, "workbench.sql"), "utf8"));
  db.close();
}

describe("migrations", () => {
  it("have a sample of every version", () => {
    expect(readdirSync(samples).sort()).toEqual(migrations.map((_, index) => `version-${index + 1}`));
  });

  it.each(readdirSync(samples))("bring %s up to date with all it holds", async (version) => {
    restore(version);
    const store = openStore(folder);
    try {
      expect(store.repairs).toEqual([]);
      expect(store.experiments()).toEqual([sampleExperiment("sample", { status: "ended", endedAt: 1_700_000_060_000 })]);
      expect(store.rolloutsOf("sample")).toMatchObject([
        { id: "first", calls: 2, chains: 1, reward: 1, trainable: true, outcome: { status: "succeeded" } },
        { id: "second", calls: 0, reward: null, harness: "codex", outcome: { status: "environment-failure", cause: "sandbox-lost" } },
      ]);
      const calls = store.callsOf("first");
      expect(calls).toMatchObject([{ index: 0 }, { index: 1, replays: 1, session: { thread: "t1" }, finishReason: "tool-calls" }]);
      expect(calls.map(({ side }) => side)).toEqual([version >= "version-4" ? "title" : null, null]);
      const bodies = calls.map((call) => Buffer.from(store.blobs.get(call.requestBody) ?? []).toString());
      expect(bodies[0]).toContain("the key is [redacted:upstream-key]");
      expect(bodies[1]).toContain("still in the journal");
      expect(store.blobs.redactions(calls[0]?.requestBody ?? store.blobs.put(Buffer.alloc(0)).hash)).toHaveLength(1);
      expect(store.attachmentsOf(calls[0]?.id ?? "")).toHaveLength(1);
      expect(store.nodesOf("first").map((node) => [node.parentCallId, [...node.sampledIds]])).toEqual([
        [null, [10, 11, 12]],
        [calls[0]?.id, [10, 11, 12]],
      ]);
      expect(store.artifactsOf("first")).toMatchObject([{ kind: "verifier-output", name: "stdout.txt" }]);
      expect(store.eventsAfter(0, 10).map((event) => event.type)).toEqual(["call.recorded", "call.recorded", "experiment.ended"]);
      expect(store.rollout("first")?.steps.map(({ name }) => name)).toEqual(version >= "version-3" ? ["one"] : []);
      expect(store.gradesOf("first").map(({ reward }) => reward)).toEqual(version >= "version-3" ? [0] : []);
      expect(store.setting("window")).toBe('{"width":1200}');
      expect(await store.check()).toEqual([]);
    } finally {
      store.close();
    }
  });

  it("give an old database the schema of a new one", () => {
    restore("version-1");
    openStore(folder).close();
    const fresh = join(folder, "fresh");
    openStore(fresh).close();
    const schema = (path: string) => {
      const db = new (loadSqlite())(join(path, databaseFile), { readonly: true });
      const rows = db.prepare("SELECT type, name, tbl_name FROM sqlite_schema ORDER BY type, name").all();
      db.close();
      return rows;
    };
    expect(schema(folder)).toEqual(schema(fresh));
  });
});
