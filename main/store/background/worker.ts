/** The store's worker thread: everything slow that must not stop the event loop of the service. See `messages.ts`. */
import { hash as digest } from "node:crypto";
import { getPriority, setPriority } from "node:os";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { BodyReader } from "../bodies/body-reader.ts";
import type { StoreProblem } from "../contract.ts";
import { type Database, databaseFile, loadSqlite } from "../database.ts";
import { syncFile, syncFolder } from "../durable.ts";
import type { Checkpoint, FromWorker, JournalBody, Request, ToWorker } from "./messages.ts";
import { packBodies } from "./pack-bodies.ts";
import { verifyStore } from "./verify.ts";

const { dataFolder, bodyFolder, farewell }: { readonly dataFolder: string; readonly bodyFolder: string; readonly farewell: Int32Array } = workerData;
const acknowledgements = new Map<number, (go: boolean) => void>();

const db: Database = new (loadSqlite())(join(dataFolder, databaseFile), { fileMustExist: true });
db.pragma("synchronous = NORMAL");
// Only Linux has priorities of threads: there the calls of harnesses go first. Elsewhere this would slow the whole service.
if (process.platform === "linux" && getPriority(0) < 5) setPriority(0, 5);

parentPort?.on("message", (message: ToWorker) => {
  if (message.type === "end") {
    db.close();
    Atomics.store(farewell, 0, 1);
    Atomics.notify(farewell, 0);
    parentPort?.close();
  } else if (message.type === "adopted") acknowledgements.get(message.id)?.(message.go);
  else
    answer(message.id, message.request).then(
      (problems) => say({ type: "done", id: message.id, problems }),
      (error: unknown) => say({ type: "failed", id: message.id, message: error instanceof Error ? error.message : String(error) }),
    );
});

function say(message: FromWorker): void {
  parentPort?.postMessage(message);
}

async function answer(id: number, request: Request): Promise<readonly StoreProblem[]> {
  switch (request.type) {
    case "sync":
      return sync(request.files, request.checkpoint);
    case "compact":
      return compact(id);
    case "verify":
      return withReader((reader) => [...verifyStore(db, reader)]);
  }
}

function sync(files: readonly string[], checkpoint: Checkpoint | null): readonly StoreProblem[] {
  for (const path of files) syncFile(path);
  if (files.length > 0) syncFolder(bodyFolder);
  if (checkpoint === null) return [];
  // The others lock writers out until they end; most of their work is done before, by the one that does not.
  db.pragma("wal_checkpoint(PASSIVE)");
  if (checkpoint !== "PASSIVE") db.pragma(`wal_checkpoint(${checkpoint})`);
  return [];
}

async function compact(id: number): Promise<readonly StoreProblem[]> {
  const rows = db
    .prepare<[], Omit<JournalBody, "hash"> & { hash: Buffer }>(
      "SELECT key, owner, hash, journal, offset FROM body WHERE journal IS NOT NULL ORDER BY owner, key",
    )
    .all();
  const bodies = rows.map((row) => ({ ...row, hash: row.hash.toString("hex") }));
  // Only compaction adds chunks, one at a time.
  const lastChunk = db.prepare<[], { key: number | null }>("SELECT max(key) AS key FROM chunk").get();
  const find = db.prepare<[Uint8Array], { key: number }>("SELECT key FROM chunk WHERE hash = ?");
  const location = db.prepare<[number], { size: number }>("SELECT size FROM body WHERE key = ?");
  const reader = new BodyReader(db, bodyFolder);
  try {
    const parts = packBodies(bodies, (lastChunk?.key ?? 0) + 1, {
      findChunk: (hash) => find.get(hash)?.key ?? null,
      read(body) {
        const row = location.get(body.key);
        if (row === undefined) return null;
        const bytes = reader.read({ hash: body.hash, size: row.size, journal: body.journal, offset: body.offset, recipe: null });
        if (digest("sha256", bytes, "hex") !== body.hash) throw new RangeError("its bytes are not those that were stored");
        return bytes;
      },
    });
    for (;;) {
      const step = parts.next();
      if (step.done) return step.value;
      const go = new Promise<boolean>((resolve) => acknowledgements.set(id, resolve));
      say({ type: "part", id, part: step.value });
      if (!(await go)) return [];
    }
  } finally {
    acknowledgements.delete(id);
    reader.close();
  }
}

function withReader<T>(use: (reader: BodyReader) => T): T {
  const reader = new BodyReader(db, bodyFolder);
  try {
    return use(reader);
  } finally {
    reader.close();
  }
}
