/**
 * Bodies by hash, counted. A body is written to the journal when it is put and gets its row when a record first refers to it; rows and
 * records commit together, so counts are exact after any crash, and a body that no record refers to is only bytes in a journal.
 * `fresh` holds every body of the journals in memory; bodies in packs are found by their hash in the database, which is not asked for
 * hashes that packs never held.
 */
import { hash as digest } from "node:crypto";
import type { BlobHash } from "../../../engine/conversation/index.ts";
import { WorkbenchError } from "../../errors.ts";
import type { BlobStore, RedactionSpan, Redactor } from "../contract.ts";
import type { Database } from "../database.ts";
import type { DiskGuard } from "../disk-guard.ts";
import { BodyReader } from "./body-reader.ts";
import { createHashFilter } from "./hash-filter.ts";
import type { Journals } from "./journals.ts";
import { NearCache } from "./near-cache.ts";
import { decodeRecipe } from "./recipe.ts";

interface FreshBody {
  readonly size: number;
  readonly journal: number;
  readonly offset: number;
  readonly spans: readonly RedactionSpan[];
  /** Row key; null until a record refers to it. */
  key: number | null;
  /** Times it was put and not yet referred to. */
  awaited: number;
}

interface StoredRow {
  readonly key: number;
  readonly size: number;
  readonly spans: string | null;
  readonly recipe: Uint8Array;
}

/** A body moved into packs, as compaction found it. */
interface PackedBody {
  readonly key: number;
  readonly journal: number;
  readonly recipe: Uint8Array;
}

export interface BodyStore extends BlobStore {
  /** Inside a write: counts one more reference and returns the row's key. `owner`: the rollout, for grouping in packs. */
  refer(hash: BlobHash, owner: number): number;
  /** Inside a write: takes references away; a body without any is dropped. */
  release(key: number, times: number): void;
  /** Inside a write: notes that bodies are now made of chunks, and counts those. */
  adopt(bodies: readonly PackedBody[]): void;
  hashOf(key: number): BlobHash;
  readonly reader: BodyReader;
  committed(): void;
  rolledBack(): void;
  /** Journals that a body put but not yet referred to stands in. */
  journalsAwaited(): ReadonlySet<number>;
  /** Bodies of the journals, each held in memory by its hash: about 250 bytes, whatever its size. */
  inJournals(): number;
  close(): void;
}

/** Journal offsets are 32-bit numbers, and a body is held in memory. */
const mostBodyBytes = 1024 * 1024 * 1024;

export function createBodyStore(db: Database, folder: string, redactor: Redactor, guard: DiskGuard, journals: Journals): BodyStore {
  const reader = new BodyReader(db, folder);
  const near = new NearCache();
  const fresh = new Map<string, FreshBody>();
  /** Bodies in packs that were put again and are not yet referred to: they must not be dropped meanwhile. */
  const pinned = new Map<string, number>();
  /** What the open transaction did, to be undone or completed. */
  const open = { inserted: [] as FreshBody[], referred: [] as string[], dropped: [] as string[], packed: [] as string[] };

  const storedByHash = db.prepare<[Buffer], StoredRow>("SELECT key, size, spans, recipe FROM body WHERE hash = ? AND journal IS NULL");
  const insert = db.prepare("INSERT INTO body (hash, size, refs, owner, spans, journal, offset) VALUES (?, ?, 1, ?, ?, ?, ?)");
  const addReference = db.prepare<[number]>("UPDATE body SET refs = refs + 1 WHERE key = ?");
  const takeReferences = db.prepare<[number, number], { refs: number; hash: Buffer; recipe: Uint8Array | null }>(
    "UPDATE body SET refs = refs - ? WHERE key = ? RETURNING refs, hash, recipe",
  );
  const remove = db.prepare<[number]>("DELETE FROM body WHERE key = ?");
  const countChunks = db.prepare<[number, number, number]>("UPDATE chunk SET refs = refs + ? WHERE key BETWEEN ? AND ?");
  const countChunk = db.prepare<[number, number]>("UPDATE chunk SET refs = refs + ? WHERE key = ?");
  const hashByKey = db.prepare<[number], { hash: Buffer }>("SELECT hash FROM body WHERE key = ?");
  const move = db.prepare<[Uint8Array, number, number], { hash: Buffer }>(
    "UPDATE body SET journal = NULL, offset = NULL, recipe = ? WHERE key = ? AND journal = ? RETURNING hash",
  );

  for (const row of db
    .prepare<[], { key: number; hash: Buffer; size: number; spans: string | null; journal: number; offset: number }>(
      "SELECT key, hash, size, spans, journal, offset FROM body WHERE journal IS NOT NULL",
    )
    .iterate())
    fresh.set(row.hash.toString("hex"), { ...row, spans: readSpans(row.spans), awaited: 0 });

  const inPacks = createHashFilter();
  for (const hash of db.prepare<[], Buffer>("SELECT hash FROM body WHERE journal IS NULL").pluck().iterate()) inPacks.add(hash.toString("hex"));

  function stored(hash: string): StoredRow | undefined {
    if (!inPacks.mayHold(hash)) return undefined;
    return storedByHash.get(Buffer.from(hash, "hex"));
  }

  return {
    reader,

    put(original, nearKey) {
      if (original.length > mostBodyBytes)
        throw new WorkbenchError(
          "store",
          `A body of ${original.length} bytes is too large to record (1 GiB at most).`,
          "Split it, or keep it outside.",
        );
      const { bytes, spans } = redactor.bytes(original);
      const hash = digest("sha256", bytes, "hex") as BlobHash;
      const known = fresh.get(hash);
      if (known !== undefined) {
        known.awaited += 1;
        return { hash, size: known.size, redactions: spans };
      }
      if (stored(hash) !== undefined) {
        pinned.set(hash, (pinned.get(hash) ?? 0) + 1);
        return { hash, size: bytes.length, redactions: spans };
      }
      guard.allow(bytes.length);
      const journal = journals.active();
      const { offset, extents } = journal.append(hash, bytes.length, spans, near.plan(nearKey, journal.number, bytes));
      near.remember(nearKey, journal.number, { bytes, extents });
      fresh.set(hash, { size: bytes.length, journal: journal.number, offset, spans, key: null, awaited: 1 });
      journals.flushWhenLarge();
      return { hash, size: bytes.length, redactions: spans };
    },

    get(hash) {
      const body = fresh.get(hash);
      if (body !== undefined) {
        journals.flush();
        return reader.read({ hash, size: body.size, journal: body.journal, offset: body.offset, recipe: null });
      }
      const row = stored(hash);
      return row === undefined ? null : reader.read({ hash, size: row.size, journal: null, offset: null, recipe: row.recipe });
    },

    size(hash) {
      return fresh.get(hash)?.size ?? stored(hash)?.size ?? null;
    },

    redactions(hash) {
      return fresh.get(hash)?.spans ?? readSpans(stored(hash)?.spans ?? null);
    },

    refer(hash, owner) {
      const body = fresh.get(hash);
      const key = body === undefined ? stored(hash)?.key : body.key;
      if (key === undefined || (key !== null && addReference.run(key).changes === 0))
        throw new WorkbenchError(
          "store",
          `The body ${hash.slice(0, 12)}… was not stored before the record that refers to it.`,
          "Report this as a fault.",
        );
      open.referred.push(hash);
      if (key !== null || body === undefined) return key ?? 0;
      const spans = body.spans.length === 0 ? null : JSON.stringify(body.spans);
      body.key = Number(insert.run(Buffer.from(hash, "hex"), body.size, owner, spans, body.journal, body.offset).lastInsertRowid);
      open.inserted.push(body);
      return body.key;
    },

    release(key, times) {
      const row = takeReferences.get(times, key);
      if (row === undefined || row.refs > 0) return;
      const hash = row.hash.toString("hex");
      const body = fresh.get(hash);
      if ((body?.awaited ?? 0) > 0 || pinned.has(hash)) return;
      if (row.recipe !== null) for (const run of decodeRecipe(row.recipe)) countChunks.run(-1, run.first, run.first + run.count - 1);
      remove.run(key);
      open.dropped.push(hash);
    },

    adopt(bodies) {
      const counts = new Map<number, number>();
      for (const body of bodies) {
        const row = move.get(body.recipe, body.key, body.journal);
        if (row === undefined) continue;
        const hash = row.hash.toString("hex");
        open.packed.push(hash);
        inPacks.add(hash);
        for (const run of decodeRecipe(body.recipe))
          for (let key = run.first; key < run.first + run.count; key++) counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      for (const [key, count] of counts) countChunk.run(count, key);
    },

    hashOf(key) {
      const row = hashByKey.get(key);
      if (row === undefined)
        throw new WorkbenchError("store", "A record refers to a body that is gone.", "Run `openforge store check` to see what is damaged.");
      return row.hash.toString("hex") as BlobHash;
    },

    committed() {
      for (const hash of open.referred) {
        const body = fresh.get(hash);
        if (body !== undefined) body.awaited = Math.max(0, body.awaited - 1);
        else unpin(hash);
      }
      for (const hash of open.packed) {
        const awaited = fresh.get(hash)?.awaited ?? 0;
        if (awaited > 0) pinned.set(hash, awaited);
        fresh.delete(hash);
      }
      for (const hash of open.dropped) fresh.delete(hash);
      clear();
    },

    rolledBack() {
      for (const body of open.inserted) body.key = null;
      clear();
    },

    inJournals: () => fresh.size,

    journalsAwaited() {
      const numbers = new Set<number>();
      for (const body of fresh.values()) if (body.key === null) numbers.add(body.journal);
      return numbers;
    },

    close() {
      reader.close();
    },
  };

  function unpin(hash: string): void {
    const times = pinned.get(hash) ?? 0;
    if (times > 1) pinned.set(hash, times - 1);
    else pinned.delete(hash);
  }

  function clear(): void {
    open.inserted = [];
    open.referred = [];
    open.dropped = [];
    open.packed = [];
  }
}

function readSpans(text: string | null): readonly RedactionSpan[] {
  return text === null ? [] : JSON.parse(text);
}
