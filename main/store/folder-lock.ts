/**
 * One service a data folder. The lock is the operating system's own, held through a small SQLite file that is never written while
 * locked: it ends with the process however that dies, so there is no stale lock to judge.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WorkbenchError } from "../errors.ts";
import { type Database, loadSqlite } from "./database.ts";
import { isDiskFull } from "./errors.ts";

export interface FolderLock {
  release(): void;
}

export function lockFolder(dataFolder: string): FolderLock {
  const Sqlite = loadSqlite();
  const ownerFile = join(dataFolder, "lock.pid");
  let db: Database | null = null;
  try {
    db = new Sqlite(join(dataFolder, "lock.db"), { timeout: 0 });
    db.exec("BEGIN IMMEDIATE");
    writeFileSync(ownerFile, `${process.pid}\n`);
    const held = db;
    return { release: () => held.close() };
  } catch (cause) {
    db?.close();
    if (cause instanceof Sqlite.SqliteError && cause.code.startsWith("SQLITE_BUSY"))
      throw new WorkbenchError(
        "store",
        `Another workbench service${owner(ownerFile)} is using the data folder ${dataFolder}.`,
        "Stop that one, or choose another data folder with --data.",
      );
    if (isDiskFull(cause))
      throw new WorkbenchError(
        "store",
        `The disk of the data folder ${dataFolder} is full.`,
        "Make room there, or choose another data folder with --data.",
        {
          cause,
        },
      );
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkbenchError(
      "store",
      `The data folder ${dataFolder} cannot be written to: ${reason}.`,
      "Check its permissions, or choose another with --data.",
      {
        cause,
      },
    );
  }
}

function owner(file: string): string {
  try {
    return ` (process ${readFileSync(file, "utf8").trim()})`;
  } catch {
    return "";
  }
}
