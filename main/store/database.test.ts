import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { databaseFile, loadSqlite } from "./database.ts";
import { openStore } from "./open-store.ts";
import { sampleCall } from "./records/sample-records.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openforge-database-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("opening a data folder", () => {
  it("refuses a second service and says whose folder it is", () => {
    const store = openStore(folder);
    expect(() => openStore(folder)).toThrow(`Another workbench service (process ${process.pid}) is using the data folder ${folder}.`);
    store.close();
    openStore(folder).close();
  });

  it("takes over from a service that was killed", async () => {
    const sqlite = JSON.stringify(new URL("../../node_modules/better-sqlite3/lib/index.js", import.meta.url).href);
    const script = `import(${sqlite}).then(({ default: D }) => { const db = new D(process.argv[1], { timeout: 0 }); db.exec("BEGIN IMMEDIATE"); console.log("held"); setInterval(() => db.open, 1000); });`;
    openStore(folder).close();
    const child = spawn(process.execPath, ["-e", script, join(folder, "lock.db")], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    expect(() => openStore(folder)).toThrow("Another workbench service");
    child.kill("SIGKILL");
    await once(child, "exit");
    openStore(folder).close();
  });

  it("refuses a database of a newer workbench", () => {
    openStore(folder).close();
    const db = new (loadSqlite())(join(folder, databaseFile));
    db.pragma("user_version = 99");
    db.close();
    expect(() => openStore(folder)).toThrow(/was written by a newer workbench \(schema 99; this one knows \d+\)/);
  });

  it("refuses to write after it was closed, at once and in groups", async () => {
    const store = openStore(folder);
    const call = sampleCall(store, "r", 0, Buffer.from("a"), Buffer.from("b"));
    store.close();
    store.close();
    expect(() => store.setSetting("a", "1")).toThrow("not open");
    await expect(store.recordCallDurably(call, null)).rejects.toThrow("not open");
  });

  it("refuses a file that is no database, and leaves it alone", () => {
    writeFileSync(join(folder, databaseFile), "this is a text file, not a database".repeat(100));
    expect(() => openStore(folder)).toThrow(/cannot be opened: file is not a database/);
  });

  it("refuses a folder that it cannot write to", () => {
    mkdirSync(join(folder, "lock.db"));
    expect(() => openStore(folder)).toThrow(/cannot be written to/);
  });

  it("refuses a folder that cannot be made", () => {
    writeFileSync(join(folder, "file"), "");
    expect(() => openStore(join(folder, "file", "data"))).toThrow(/cannot be made/);
  });
});
