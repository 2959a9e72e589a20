/**
 * One service a data folder. The lock is the operating system's own, held through a small SQLite file that is never written while
 * locked: it ends with the process however that dies, so there is no stale lock to judge.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WorkbenchError } from "../errors.ts";
import { loadSqlite } from "./database.ts";

export interface FolderLock {
  release(): void;
}

export function lockFolder(dataFolder: string): FolderLock {
  const Sqlite = loadSqlite();
  const ownerFile = join(dataFolder, "lock.pid");
  const db = new Sqlite(join(dataFolder, "lock.db"), { timeout: 0 });
  try {
    db.exec("BEGIN IMMEDIATE");
  } catch (cause) {
    db.close();
    if (!(cause instanceof Sqlite.SqliteError && cause.code.startsWith("SQLITE_BUSY"))) throw cause;
    throw new WorkbenchError(
      "store",
      `Another workbench service${owner(ownerFile)} is using the data folder ${dataFolder}.`,
      "Stop that one, or choose another data folder with --data.",
    );
  }
  writeFileSync(ownerFile, `${process.pid}\n`);
  return { release: () => db.close() };
}

function owner(file: string): string {
  try {
    return ` (process ${readFileSync(file, "utf8").trim()})`;
  } catch {
    return "";
  }
}
