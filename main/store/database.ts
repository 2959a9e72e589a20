/**
 * Opens the database of a data folder. WAL with automatic checkpoints off: they would stop the event loop for their fsyncs; the
 * background worker makes them (`background/`). A commit is then one write to the log and survives kill -9.
 */
import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type BetterSqlite3 from "better-sqlite3";
import { WorkbenchError } from "../errors.ts";
import { migrations } from "./migrations.ts";

export type Database = BetterSqlite3.Database;

export const databaseFile = "workbench.db";

/** Loaded late, so that a build without the addon says so in a sentence where it is needed. */
export function loadSqlite(): typeof BetterSqlite3 {
  try {
    return createRequire(import.meta.url)("better-sqlite3");
  } catch (cause) {
    throw new WorkbenchError(
      "unavailable",
      `The SQLite addon cannot be loaded by Node ${process.versions.node}.`,
      "Run `npm rebuild better-sqlite3` with this Node and start again.",
      { cause },
    );
  }
}

/** Opens, brings an older schema up to date, refuses a newer one. */
export function openDatabase(dataFolder: string, synchronous: "NORMAL" | "FULL"): Database {
  const Sqlite = loadSqlite();
  const path = join(dataFolder, databaseFile);
  let db: Database;
  try {
    // Made first, so that it and its log are the owner's alone.
    closeSync(openSync(path, "a", 0o600));
    db = new Sqlite(path);
    db.pragma("journal_mode = WAL");
  } catch (cause) {
    throw unreadable(path, cause);
  }
  try {
    db.pragma(`synchronous = ${synchronous}`);
    db.pragma("foreign_keys = ON");
    db.pragma("wal_autocheckpoint = 0");
    db.pragma("cache_size = -32768");
    db.pragma("temp_store = MEMORY");
    migrate(db, path);
    return db;
  } catch (cause) {
    db.close();
    throw cause instanceof WorkbenchError ? cause : unreadable(path, cause);
  }
}

function migrate(db: Database, path: string): void {
  const version = Number(db.pragma("user_version", { simple: true }));
  if (version > migrations.length)
    throw new WorkbenchError(
      "store",
      `The database ${path} was written by a newer workbench (schema ${version}; this one knows ${migrations.length}).`,
      "Update the workbench, or choose another data folder with --data.",
    );
  for (const [index, step] of migrations.entries()) {
    if (index < version) continue;
    db.transaction(() => {
      db.exec(step);
      db.pragma(`user_version = ${index + 1}`);
    }).immediate();
  }
}

function unreadable(path: string, cause: unknown): WorkbenchError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new WorkbenchError(
    "store",
    `The database ${path} cannot be opened: ${reason}.`,
    "Check the folder's permissions and disk, restore the file from a backup, or choose another data folder with --data.",
    { cause },
  );
}
