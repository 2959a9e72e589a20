/**
 * Packs: append-only files `pack-NNNNNN.pack` of frames. A frame is a group of chunks compressed together, so that chunks that are
 * nearly equal cost little; it is the unit of reading. Layout, little-endian: magic · codec · stored length · plain length · crc32 of
 * the stored bytes (u32 each) · stored bytes. The database says where frames are; what stands behind the last one it knows is the
 * rest of an unfinished compaction, whose bodies are still in the journal.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writevSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants, crc32 } from "node:zlib";

const magic = 0x3146464f;
const headerLength = 20;
const codecs = { plain: 0, brotli: 1 } as const;
/** Quality 9 over groups of a megabyte measured as good as `zstd -19 --long` on rollouts, at a fiftieth of quality 11's time. */
const quality = 9;
const fullPackBytes = 256 * 1024 * 1024;

export interface FrameLocation {
  readonly pack: number;
  readonly offset: number;
  /** Bytes on disk, header included. */
  readonly stored: number;
}

export function packPath(folder: string, number: number): string {
  return join(folder, `pack-${String(number).padStart(6, "0")}.pack`);
}

/** Number of a pack file by its name, or null. */
export function packNumber(fileName: string): number | null {
  const digits = /^pack-(\d{6,})\.pack$/.exec(fileName)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Compresses a group of chunks into a whole frame, header included. In the calling thread, whose priority then counts. */
export function encodeFrame(plain: Uint8Array): Uint8Array {
  const packed = brotliCompressSync(plain, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    },
  });
  const helps = packed.length < plain.length;
  const stored = helps ? packed : plain;
  const frame = Buffer.allocUnsafe(headerLength + stored.length);
  frame.writeUInt32LE(magic, 0);
  frame.writeUInt32LE(helps ? codecs.brotli : codecs.plain, 4);
  frame.writeUInt32LE(stored.length, 8);
  frame.writeUInt32LE(plain.length, 12);
  frame.writeUInt32LE(crc32(stored), 16);
  frame.set(stored, headerLength);
  return frame;
}

/** The plain chunks of a frame; throws a RangeError when the frame is damaged. */
export function decodeFrame(frame: Buffer): Buffer {
  if (frame.length < headerLength || frame.readUInt32LE(0) !== magic) throw new RangeError("no frame stands there");
  const stored = frame.subarray(headerLength, headerLength + frame.readUInt32LE(8));
  if (stored.length < frame.readUInt32LE(8)) throw new RangeError("the frame is cut off");
  if (crc32(stored) !== frame.readUInt32LE(16)) throw new RangeError("its checksum does not match");
  const plainLength = frame.readUInt32LE(12);
  if (frame.readUInt32LE(4) === codecs.plain) return stored;
  const plain = brotliDecompressSync(stored, { maxOutputLength: Math.max(1, plainLength) });
  if (plain.length !== plainLength) throw new RangeError("it holds fewer bytes than it says");
  return plain;
}

/** Appends frames, starting a new pack when one is full. */
export class PackWriter {
  readonly #folder: string;
  #number: number;
  #size: number;
  #committed: number;
  #file: number | null = null;
  readonly #unsynced = new Set<string>();

  /** `size`: the committed length of the pack to continue; 0 starts it. */
  constructor(folder: string, number: number, size: number) {
    this.#folder = folder;
    this.#number = number;
    this.#size = size;
    this.#committed = size;
  }

  /** Packs written since the last call. */
  takeUnsynced(): readonly string[] {
    const paths = [...this.#unsynced];
    this.#unsynced.clear();
    return paths;
  }

  append(frame: Uint8Array): FrameLocation {
    if (this.#size >= fullPackBytes) {
      this.close();
      this.#number += 1;
      this.#size = 0;
      this.#committed = 0;
    }
    const path = packPath(this.#folder, this.#number);
    this.#file ??= openSync(path, this.#size === 0 ? "w+" : "r+", 0o600);
    this.#unsynced.add(path);
    const location = { pack: this.#number, offset: this.#size, stored: frame.length };
    try {
      for (let done = 0; done < frame.length; ) done += writevSync(this.#file, [frame.subarray(done)], this.#size + done);
    } catch (error) {
      ftruncateSync(this.#file, this.#size);
      throw error;
    }
    this.#size += frame.length;
    return location;
  }

  /** The rows of what was appended are committed. */
  commit(): void {
    this.#committed = this.#size;
  }

  /** Takes back what was appended since the last commit. */
  retract(): void {
    if (this.#file === null || this.#size === this.#committed) return;
    ftruncateSync(this.#file, this.#committed);
    this.#size = this.#committed;
  }

  close(): void {
    this.retract();
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}

/** Reads frames, keeping the packs open. */
export class PackReader {
  readonly #folder: string;
  readonly #files = new Map<number, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The bytes of a frame as stored; shorter when the pack was cut. */
  frame(location: FrameLocation): Buffer {
    let file = this.#files.get(location.pack);
    if (file === undefined) {
      file = openSync(packPath(this.#folder, location.pack), "r");
      this.#files.set(location.pack, file);
    }
    const bytes = Buffer.allocUnsafe(location.stored);
    return bytes.subarray(0, readSync(file, bytes, 0, location.stored, location.offset));
  }

  close(): void {
    for (const file of this.#files.values()) closeSync(file);
    this.#files.clear();
  }
}

/** Length of a pack file. */
export function packLength(path: string): number {
  const file = openSync(path, "r");
  try {
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}
