/**
 * Entries of a zip archive by name: stored, deflated or Zstandard. Read through its central directory (zip64 too), each entry only
 * when it is asked for. What leads outside, is encrypted or grows beyond the limit is refused.
 */
import { type FileHandle, open } from "node:fs/promises";
import { crc32, inflateRawSync } from "node:zlib";
import { decompress as zstdDecompress } from "fzstd";
import { brokenArchive } from "./archive-fault.ts";

interface Entry {
  readonly name: string;
  /** As on Unix, with the kind of file; null where the packer says none. */
  readonly mode: number | null;
  readonly method: number;
  readonly flags: number;
  readonly checksum: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

export interface ZipFile {
  readonly names: readonly string[];
  /** In the archive's order; a name may come twice. */
  readonly entries: readonly Entry[];
  /** Rejects with WorkbenchError when there is no such entry or it is damaged. */
  read(name: string): Promise<Buffer>;
  readAt(entry: Entry): Promise<Buffer>;
  close(): Promise<void>;
}

const endMark = 0x06054b50;
const end64Mark = 0x06064b50;
const entryMark = 0x02014b50;
const localMark = 0x04034b50;
const entryLimitBytes = 1024 * 1024 * 1024;

export async function openZip(path: string): Promise<ZipFile> {
  const file = await open(path, "r");
  try {
    const entries = await directoryOf(file, path);
    const byName = new Map(entries.map((entry) => [entry.name, entry]));
    return {
      names: [...byName.keys()],
      entries,
      read: (name) => readEntry(file, path, name, byName.get(name)),
      readAt: (entry) => readEntry(file, path, entry.name, entry),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error instanceof RangeError ? brokenArchive(path, "its list of files is damaged", error) : error;
  }
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, at);
  return bytes.subarray(0, bytesRead);
}

async function directoryOf(file: FileHandle, path: string): Promise<readonly Entry[]> {
  const { size } = await file.stat();
  const tailLength = Math.min(size, 65_557);
  const tail = await bytesAt(file, size - tailLength, tailLength);
  let at = tail.length - 22;
  while (at >= 0 && tail.readUInt32LE(at) !== endMark) at -= 1;
  if (at < 0) throw brokenArchive(path, "it is no zip archive, or its end is missing");
  let length = tail.readUInt32LE(at + 12);
  let offset = tail.readUInt32LE(at + 16);
  if (offset === 0xffffffff || length === 0xffffffff) {
    const locator = tail.subarray(at - 20, at);
    const end = await bytesAt(file, Number(locator.readBigUInt64LE(8)), 56);
    if (end.readUInt32LE(0) !== end64Mark) throw brokenArchive(path, "its list of files is damaged");
    length = Number(end.readBigUInt64LE(40));
    offset = Number(end.readBigUInt64LE(48));
  }
  if (offset + length > size) throw brokenArchive(path, "its list of files is cut");
  return entriesOf(await bytesAt(file, offset, length), path);
}

function entriesOf(directory: Buffer, path: string): readonly Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at + 46 <= directory.length; ) {
    if (directory.readUInt32LE(at) !== entryMark) throw brokenArchive(path, "its list of files is damaged");
    const nameLength = directory.readUInt16LE(at + 28);
    const extraLength = directory.readUInt16LE(at + 30);
    const name = directory.toString("utf8", at + 46, at + 46 + nameLength);
    const extra = directory.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength);
    const [size, packed, offset] = widened(extra, [
      directory.readUInt32LE(at + 24),
      directory.readUInt32LE(at + 20),
      directory.readUInt32LE(at + 42),
    ]);
    const madeOnUnix = directory[at + 5] === 3;
    entries.push({
      ...{ name, mode: madeOnUnix ? directory.readUInt16LE(at + 40) : null },
      ...{ flags: directory.readUInt16LE(at + 8), method: directory.readUInt16LE(at + 10), checksum: directory.readUInt32LE(at + 16) },
      ...{ size, packed, offset },
    });
    at += 46 + nameLength + extraLength + directory.readUInt16LE(at + 32);
  }
  return entries;
}

/** 32-bit fields that are full stand as 64-bit ones in the extra field of kind 1, in this order. */
function widened(extra: Buffer, fields: readonly [number, number, number]): readonly [number, number, number] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let next = at + 4;
    const wide = (field: number): number => {
      if (field !== 0xffffffff) return field;
      next += 8;
      return Number(extra.readBigUInt64LE(next - 8));
    };
    return [wide(fields[0]), wide(fields[1]), wide(fields[2])];
  }
  return fields;
}

async function readEntry(file: FileHandle, path: string, name: string, entry: Entry | undefined): Promise<Buffer> {
  const damaged = (detail: string, cause?: unknown) => brokenArchive(path, `${name} in it ${detail}`, cause);
  if (entry === undefined) throw damaged("is missing");
  if ((entry.flags & 1) === 1) throw damaged("is encrypted");
  if (entry.size > entryLimitBytes) throw damaged("is larger than 1 GiB");
  const head = await bytesAt(file, entry.offset, 30);
  if (head.length < 30 || head.readUInt32LE(0) !== localMark) throw damaged("is damaged");
  const start = entry.offset + 30 + head.readUInt16LE(26) + head.readUInt16LE(28);
  const packed = await bytesAt(file, start, entry.packed);
  const bytes = unpacked(packed, entry, damaged);
  if (bytes.length !== entry.size || crc32(bytes) !== entry.checksum) throw damaged("is damaged: its checksum does not match");
  return bytes;
}

function unpacked(packed: Buffer, { method, size }: Entry, damaged: (detail: string, cause?: unknown) => Error): Buffer {
  try {
    if (method === 0) return packed;
    if (method === 8) return inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
    if (method === 93) return Buffer.from(zstdDecompress(packed, new Uint8Array(size)));
  } catch (error) {
    throw damaged("is damaged", error);
  }
  throw damaged(`is packed by method ${method}, which is not known here`);
}
