/**
 * The journal: where a body is first written, plain, by one write call, before the record that refers to it is committed. Append-only
 * files `journal-NNNNNN.bin`; a process never appends to a file of an earlier one, so a torn tail costs itself only. Compaction moves
 * the bodies into packs and then removes the file.
 *
 * Record, little-endian: magic · crc32 of the rest of the header · SHA-256 of the body (32 bytes) · body size · number of extents ·
 * length of the spans text · length of the literal (u32 each) · extents (file offset, length: u32 each; in the body's order, the
 * record's own literal among them) · spans as JSON · literal.
 */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writevSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { RedactionSpan } from "../contract.ts";
import type { Extent, Plan } from "./similar.ts";

const magic = 0x314a464f;
const magicBytes = Buffer.from([0x4f, 0x46, 0x4a, 0x31]);
const fixedHeader = 56;
const bytesPerExtent = 8;

export interface JournalRecord {
  readonly offset: number;
  /** Offset after the record. */
  readonly end: number;
  /** Lower-case hex. */
  readonly hash: string;
  readonly size: number;
  readonly extents: readonly Extent[];
  readonly spans: readonly RedactionSpan[];
}

export function journalPath(folder: string, number: number): string {
  return join(folder, `journal-${String(number).padStart(6, "0")}.bin`);
}

/** Number of a journal file by its name, or null. */
export function journalNumber(fileName: string): number | null {
  const digits = /^journal-(\d{6,})\.bin$/.exec(fileName)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Appends records. Nothing reaches the file before `flush`; offsets are known at once. */
export class JournalWriter {
  readonly number: number;
  readonly path: string;
  #file: number;
  #queued: Uint8Array[] = [];
  #queuedBytes = 0;
  #written = 0;
  #synced = 0;

  constructor(folder: string, number: number) {
    this.number = number;
    this.path = journalPath(folder, number);
    this.#file = openSync(this.path, "wx+", 0o600);
  }

  get size(): number {
    return this.#written + this.#queuedBytes;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  append(hash: string, size: number, spans: readonly RedactionSpan[], plan: Plan): { readonly offset: number; readonly extents: readonly Extent[] } {
    const offset = this.size;
    const spansText = spans.length === 0 ? Buffer.alloc(0) : Buffer.from(JSON.stringify(spans), "utf8");
    const count = plan.before.length + plan.after.length + (plan.literal.length > 0 ? 1 : 0);
    const header = Buffer.alloc(fixedHeader + count * bytesPerExtent + spansText.length);
    const literal = { offset: offset + header.length, length: plan.literal.length };
    const extents = literal.length > 0 ? [...plan.before, literal, ...plan.after] : [...plan.before, ...plan.after];
    header.writeUInt32LE(magic, 0);
    header.write(hash, 8, "hex");
    header.writeUInt32LE(size, 40);
    header.writeUInt32LE(count, 44);
    header.writeUInt32LE(spansText.length, 48);
    header.writeUInt32LE(literal.length, 52);
    for (const [index, extent] of extents.entries()) {
      header.writeUInt32LE(extent.offset, fixedHeader + index * bytesPerExtent);
      header.writeUInt32LE(extent.length, fixedHeader + index * bytesPerExtent + 4);
    }
    spansText.copy(header, fixedHeader + count * bytesPerExtent);
    header.writeUInt32LE(crc32(header.subarray(8)), 4);
    this.#queued.push(header);
    if (literal.length > 0) this.#queued.push(plan.literal);
    this.#queuedBytes += header.length + literal.length;
    return { offset, extents };
  }

  /** Hands all queued records to the operating system. After an error (a full disk) the file ends at a record and they stay queued. */
  flush(): void {
    if (this.#queuedBytes === 0) return;
    let rest = this.#queued;
    let position = this.#written;
    try {
      while (rest.length > 0) {
        const count = writevSync(this.#file, rest, position);
        position += count;
        rest = withoutFirst(rest, count);
      }
    } catch (error) {
      ftruncateSync(this.#file, this.#written);
      throw error;
    }
    this.#written = position;
    this.#queued = [];
    this.#queuedBytes = 0;
  }

  sync(): void {
    if (this.#synced === this.#written) return;
    fsyncSync(this.#file);
    this.#synced = this.#written;
  }

  close(): void {
    closeSync(this.#file);
  }
}

function withoutFirst(buffers: readonly Uint8Array[], count: number): Uint8Array[] {
  let left = count;
  const rest: Uint8Array[] = [];
  for (const buffer of buffers) {
    if (left >= buffer.length) left -= buffer.length;
    else {
      rest.push(left === 0 ? buffer : buffer.subarray(left));
      left = 0;
    }
  }
  return rest;
}

/** Reads records of one journal file. */
export class JournalReader {
  readonly path: string;
  #file: number;

  constructor(folder: string, number: number) {
    this.path = journalPath(folder, number);
    this.#file = openSync(this.path, "r");
  }

  get size(): number {
    return fstatSync(this.#file).size;
  }

  /** The record at an offset, or null when no whole record stands there. */
  record(offset: number, fileSize = this.size): JournalRecord | null {
    const fixed = this.bytes(offset, fixedHeader);
    if (fixed.length < fixedHeader || fixed.readUInt32LE(0) !== magic) return null;
    const count = fixed.readUInt32LE(44);
    const spansLength = fixed.readUInt32LE(48);
    const literalLength = fixed.readUInt32LE(52);
    const headerLength = fixedHeader + count * bytesPerExtent + spansLength;
    const end = offset + headerLength + literalLength;
    if (end > fileSize) return null;
    const header = this.bytes(offset, headerLength);
    if (header.length < headerLength || crc32(header.subarray(8)) !== header.readUInt32LE(4)) return null;
    const extents = Array.from({ length: count }, (_, index) => ({
      offset: header.readUInt32LE(fixedHeader + index * bytesPerExtent),
      length: header.readUInt32LE(fixedHeader + index * bytesPerExtent + 4),
    }));
    const spansText = header.subarray(fixedHeader + count * bytesPerExtent).toString("utf8");
    return {
      offset,
      end,
      hash: header.toString("hex", 8, 40),
      size: header.readUInt32LE(40),
      extents,
      spans: spansText === "" ? [] : JSON.parse(spansText),
    };
  }

  /** The body of a record; shorter than its size when the file was cut. */
  body(record: JournalRecord): Uint8Array {
    const body = Buffer.allocUnsafe(record.size);
    let filled = 0;
    for (const extent of record.extents) filled += readSync(this.#file, body, filled, Math.min(extent.length, record.size - filled), extent.offset);
    return body.subarray(0, filled);
  }

  /** Walks the file: whole records in order, and the ranges between them that are none. */
  scan(): { readonly records: readonly JournalRecord[]; readonly torn: readonly Extent[] } {
    const fileSize = this.size;
    const records: JournalRecord[] = [];
    const torn: Extent[] = [];
    let offset = 0;
    while (offset < fileSize) {
      const record = this.record(offset, fileSize);
      if (record !== null) {
        records.push(record);
        offset = record.end;
        continue;
      }
      const next = this.#nextRecord(offset + 1, fileSize);
      torn.push({ offset, length: next - offset });
      offset = next;
    }
    return { records, torn };
  }

  bytes(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    return bytes.subarray(0, readSync(this.#file, bytes, 0, length, offset));
  }

  close(): void {
    closeSync(this.#file);
  }

  #nextRecord(from: number, fileSize: number): number {
    const window = 1024 * 1024;
    for (let start = from; start < fileSize; start += window) {
      const block = this.bytes(start, Math.min(window + magicBytes.length - 1, fileSize - start));
      for (let at = block.indexOf(magicBytes); at >= 0; at = block.indexOf(magicBytes, at + 1))
        if (this.record(start + at, fileSize) !== null) return start + at;
    }
    return fileSize;
  }
}
