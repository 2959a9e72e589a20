/**
 * What the store does by itself: every second after writes, sync the journal and move the log into the database; when idle, cut the log
 * back to nothing; when no rollout runs or the journals hold much or many, move bodies into packs. All of it in the worker thread.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Background } from "./background/background.ts";
import type { Checkpoint, PackedPart } from "./background/messages.ts";
import type { BodyStore } from "./bodies/body-store.ts";
import type { Journals } from "./bodies/journals.ts";
import type { FrameLocation, PackWriter } from "./bodies/pack.ts";
import type { StoreProblem } from "./contract.ts";
import { type Database, databaseFile } from "./database.ts";
import type { Writer } from "./writer.ts";

export interface UpkeepParts {
  readonly dataFolder: string;
  readonly db: Database;
  readonly writer: Writer;
  readonly bodies: BodyStore;
  readonly journals: Journals;
  readonly packs: PackWriter;
  readonly background: Background;
  /** The error to throw in place of a failed write's. */
  readonly explain: (error: unknown) => unknown;
}

export interface Upkeep {
  /** Something was committed. */
  noteWrite(): void;
  compact(): Promise<void>;
  /** Problems that a full reading finds; nothing is moved meanwhile. */
  verify(): Promise<readonly StoreProblem[]>;
  close(): void;
}

const tickMs = 1000;
/** Without a write for so long, the store is idle. */
const idleMs = 3000;
/** A log of this size is started over even while writes go on. */
const largeLogBytes = 128 * 1024 * 1024;
/** A log of this size is cut back when idle. */
const smallLogBytes = 4 * 1024 * 1024;
/** Journals of this size are compacted even while rollouts run. */
const largeJournalBytes = 512 * 1024 * 1024;
/**
 * Journals of so many bodies too, since memory holds an index of them, which would grow as long as rollouts run: of many when fewer than
 * `busyBodies` came in the last second, for packing takes a processor; of most at any time.
 */
const bodiesInJournals = { many: 10_000, most: 400_000 };
const busyBodies = 1_000;

export function createUpkeep(parts: UpkeepParts): Upkeep {
  const { dataFolder, db, writer, bodies, journals, packs, background, explain } = parts;
  const log = join(dataFolder, `${databaseFile}-wal`);
  const running = db.prepare("SELECT 1 FROM rollout WHERE phase <> 'ended' LIMIT 1");
  const inJournal = db.prepare<[number]>("SELECT 1 FROM body WHERE journal = ? LIMIT 1");
  const insertFrame = db.prepare("INSERT INTO frame (pack, offset, stored, length) VALUES (?, ?, ?, ?)");
  const insertChunk = db.prepare("INSERT INTO chunk (key, hash, frame, offset, length, refs) VALUES (?, ?, ?, ?, ?, 0)");

  let lastWrite = 0;
  /** Something was committed since the last sync began. */
  let unsynced = false;
  let syncing = false;
  /** Size of the journals after the last compaction: what it had to leave is not tried again and again. */
  let leftInJournals = 0;
  /** Bodies in the journals at the last tick. */
  let bodiesBefore = 0;
  let closed = false;
  let told = "";
  /** Compactions and checks come one after another. */
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const timer = setInterval(tick, tickMs);
  timer.unref();

  function alone<T>(work: () => Promise<T>): Promise<T> {
    waiting += 1;
    const result = last.then(work).finally(() => {
      waiting -= 1;
    });
    last = result.catch(() => undefined);
    return result;
  }

  function tick(): void {
    const idle = Date.now() - lastWrite >= idleMs;
    const logBytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    if (!syncing && (unsynced || (idle && logBytes > smallLogBytes)))
      report(sync(logBytes > largeLogBytes ? "RESTART" : idle ? "TRUNCATE" : "PASSIVE"));
    const count = bodies.inJournals();
    const busy = count - bodiesBefore >= busyBodies;
    bodiesBefore = count;
    if (waiting === 0 && shouldCompact(count, { idle, busy })) report(alone(compact));
  }

  function shouldCompact(count: number, { idle, busy }: { readonly idle: boolean; readonly busy: boolean }): boolean {
    const bytes = journals.bytes();
    if (bytes === leftInJournals) return false;
    if (bytes > largeJournalBytes || count > (busy ? bodiesInJournals.most : bodiesInJournals.many)) return true;
    return idle && running.get() === undefined;
  }

  /** A failure loses nothing: the work is tried again, and told of once. */
  function report(work: Promise<void>): void {
    work.catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (!closed && message !== told) process.emitWarning(message, { code: "STORE_UPKEEP" });
      told = message;
    });
  }

  async function sync(checkpoint: Checkpoint): Promise<void> {
    syncing = true;
    unsynced = false;
    try {
      writer.flush();
      journals.flush();
      await background.ask({ type: "sync", files: journals.takeUnsynced(), checkpoint });
    } finally {
      syncing = false;
    }
  }

  /** The frame is on the disk before rows say so: until then the journal is the only place that counts. */
  async function adopt(part: PackedPart): Promise<void> {
    let location: FrameLocation | null = null;
    try {
      if (part.frame !== null) {
        location = packs.append(part.frame.bytes);
        await background.ask({ type: "sync", files: packs.takeUnsynced(), checkpoint: null });
      }
      writer.write(() => insertPart(part, location));
      packs.commit();
    } catch (error) {
      packs.retract();
      throw explain(error);
    }
  }

  function insertPart(part: PackedPart, location: FrameLocation | null): void {
    if (part.frame !== null && location !== null) {
      const frame = Number(insertFrame.run(location.pack, location.offset, location.stored, part.frame.length).lastInsertRowid);
      for (const chunk of part.frame.chunks) insertChunk.run(chunk.key, chunk.hash, frame, chunk.offset, chunk.length);
    }
    bodies.adopt(part.bodies);
  }

  async function compact(): Promise<void> {
    writer.flush();
    journals.seal();
    if (journals.sealed().length > 0) {
      await background.ask({ type: "compact" }, adopt);
      await background.ask({ type: "sync", files: journals.takeUnsynced(), checkpoint: "PASSIVE" });
    }
    const awaited = bodies.journalsAwaited();
    for (const number of journals.sealed()) {
      if (awaited.has(number) || inJournal.get(number) !== undefined) continue;
      bodies.reader.forgetJournal(number);
      journals.remove(number);
    }
    leftInJournals = journals.bytes();
  }

  return {
    noteWrite() {
      lastWrite = Date.now();
      unsynced = true;
    },
    compact: () => alone(compact),
    verify: () =>
      alone(async () => {
        writer.flush();
        journals.flush();
        return background.ask({ type: "verify" });
      }),
    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}
