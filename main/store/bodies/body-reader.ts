/** Reads stored bodies, from journals and packs alike; used by the store and, with its own connection, by the background worker. */
import { WorkbenchError } from "../../errors.ts";
import type { Database } from "../database.ts";
import { JournalReader } from "./journal.ts";
import { decodeFrame, PackReader } from "./pack.ts";
import { decodeRecipe } from "./recipe.ts";

/** Where a body stands, as its row says. */
export interface BodyLocation {
  readonly hash: string;
  readonly size: number;
  readonly journal: number | null;
  readonly offset: number | null;
  readonly recipe: Uint8Array | null;
}

interface ChunkRow {
  readonly frame: number;
  readonly offset: number;
  readonly length: number;
}

/** Plain frames kept for the next body of the same rollout. */
const cachedFrameBytes = 32 * 1024 * 1024;

export class BodyReader {
  readonly #folder: string;
  readonly #packs: PackReader;
  readonly #journals = new Map<number, JournalReader>();
  readonly #frames = new Map<number, Buffer>();
  #frameBytes = 0;
  readonly #chunks;
  readonly #frameRow;

  constructor(db: Database, folder: string) {
    this.#folder = folder;
    this.#packs = new PackReader(folder);
    this.#chunks = db.prepare<[number, number], ChunkRow>("SELECT frame, offset, length FROM chunk WHERE key BETWEEN ? AND ? ORDER BY key");
    this.#frameRow = db.prepare<[number], { pack: number; offset: number; stored: number }>("SELECT pack, offset, stored FROM frame WHERE key = ?");
  }

  /** Throws a store error when the bytes are damaged or gone. */
  read(location: BodyLocation): Uint8Array {
    try {
      const body = location.recipe === null ? this.#fromJournal(location) : this.#fromPacks(location.recipe, location.size);
      if (body.length !== location.size) throw new RangeError(`${body.length} of ${location.size} bytes are left`);
      return body;
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause;
      throw new WorkbenchError(
        "store",
        `The stored body ${location.hash.slice(0, 12)}… cannot be read: ${cause.message}.`,
        "Run `openforge store check` to see what else is damaged; restore the data folder from a backup if you have one.",
        { cause },
      );
    }
  }

  /** Closes a journal that is about to be removed. */
  forgetJournal(number: number): void {
    this.#journals.get(number)?.close();
    this.#journals.delete(number);
  }

  close(): void {
    for (const journal of this.#journals.values()) journal.close();
    this.#journals.clear();
    this.#packs.close();
    this.#frames.clear();
    this.#frameBytes = 0;
  }

  #fromJournal(location: BodyLocation): Uint8Array {
    if (location.journal === null || location.offset === null) throw new RangeError("its row names no place");
    let journal = this.#journals.get(location.journal);
    if (journal === undefined) {
      journal = new JournalReader(this.#folder, location.journal);
      this.#journals.set(location.journal, journal);
    }
    const record = journal.record(location.offset);
    if (record === null || record.hash !== location.hash) throw new RangeError("its journal record is damaged");
    return journal.body(record);
  }

  #fromPacks(recipe: Uint8Array, size: number): Uint8Array {
    const body = Buffer.allocUnsafe(size);
    let filled = 0;
    for (const run of decodeRecipe(recipe)) {
      const rows = this.#chunks.all(run.first, run.first + run.count - 1);
      if (rows.length !== run.count) throw new RangeError("some of its chunks are gone");
      for (const row of rows) filled += this.#frame(row.frame).copy(body, filled, row.offset, row.offset + row.length);
    }
    return body.subarray(0, filled);
  }

  #frame(key: number): Buffer {
    const cached = this.#frames.get(key);
    if (cached !== undefined) {
      this.#frames.delete(key);
      this.#frames.set(key, cached);
      return cached;
    }
    const row = this.#frameRow.get(key);
    if (row === undefined) throw new RangeError("one of its frames is gone");
    const plain = decodeFrame(this.#packs.frame(row));
    this.#frames.set(key, plain);
    this.#frameBytes += plain.length;
    for (const [oldest, bytes] of this.#frames) {
      if (this.#frameBytes <= cachedFrameBytes || oldest === key) break;
      this.#frames.delete(oldest);
      this.#frameBytes -= bytes.length;
    }
    return plain;
  }
}
