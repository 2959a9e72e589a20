/** The journal files of this process: the one being written, those that are full, and what a commit needs flushed. */
import { readdirSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "../durable.ts";
import { JournalWriter, journalNumber, journalPath } from "./journal.ts";

export interface Journals {
  /** The file to append to; starts one when there is none or the last is full. */
  active(): JournalWriter;
  /** What was appended so far survives the process. */
  flush(): void;
  flushWhenLarge(): void;
  /** Ends the active file, so that every journal can be compacted. */
  seal(): void;
  /** Numbers of the files on disk that are no longer written. */
  sealed(): readonly number[];
  remove(number: number): void;
  /** Bytes on disk and waiting. */
  bytes(): number;
  /** Files on disk written since the last call. */
  takeUnsynced(): readonly string[];
  /** What still waits is dropped: every commit flushes what it refers to. */
  close(): void;
}

const fullJournalBytes = 64 * 1024 * 1024;
const mostQueuedBytes = 4 * 1024 * 1024;

export interface JournalOptions {
  /** Every flush is to survive a power failure. */
  readonly power: boolean;
  /** The error to throw in place of a failed write's. */
  readonly explain: (error: unknown) => unknown;
}

/** `next`: a number above every journal that exists or is named in the database. */
export function createJournals(folder: string, next: number, { power, explain }: JournalOptions): Journals {
  let number = next;
  let writer: JournalWriter | null = null;
  const unsynced = new Set<string>();

  function flush(): void {
    try {
      writer?.flush();
      if (power) writer?.sync();
    } catch (error) {
      throw explain(error);
    }
  }

  function close(): void {
    writer?.close();
    writer = null;
  }

  function seal(): void {
    flush();
    close();
  }

  function files(): readonly number[] {
    return readdirSync(folder)
      .map(journalNumber)
      .filter((found) => found !== null)
      .sort((a, b) => a - b);
  }

  return {
    active() {
      if (writer !== null && writer.size >= fullJournalBytes) seal();
      if (writer === null) {
        writer = new JournalWriter(folder, number);
        number += 1;
        if (power) syncFolder(folder);
      }
      unsynced.add(writer.path);
      return writer;
    },
    flush,
    flushWhenLarge() {
      if (writer !== null && writer.queuedBytes > mostQueuedBytes) flush();
    },
    seal,
    sealed() {
      return files().filter((found) => found !== writer?.number);
    },
    remove(found) {
      unsynced.delete(journalPath(folder, found));
      unlinkSync(journalPath(folder, found));
    },
    bytes() {
      return files().reduce((sum, found) => sum + statSync(join(folder, journalPath("", found))).size, writer?.queuedBytes ?? 0);
    },
    takeUnsynced() {
      const paths = [...unsynced];
      unsynced.clear();
      return paths;
    },
    close,
  };
}
