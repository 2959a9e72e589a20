/**
 * GGUF versions 2 and 3, little-endian: metadata, tensor list, aligned data. Nothing is allocated by what a count claims:
 * every length is checked against the bytes that are left. Tensor data stays in the file.
 */
import type { ByteSource } from "./byte-source.ts";
import { type GgufType, ggufTypes } from "./gguf-types.ts";
import { WeightsError } from "./weights-error.ts";

export type GgufValue = number | bigint | boolean | string | readonly GgufValue[];

export interface GgufTensor {
  readonly name: string;
  readonly type: GgufType;
  /** Rows first (GGUF stores dimensions reversed). */
  readonly shape: readonly number[];
  readonly offset: number;
  readonly length: number;
}

export interface GgufFile {
  readonly source: ByteSource;
  readonly version: number;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
}

const magic = 0x46554747;
const deepestArray = 8;
const largestRead = 1 << 30;
/** Bytes of each fixed-size value type, by number; 8 = string, 9 = array. */
const fixedSizes: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };

/** Reads sequentially and refuses to pass the end. */
class Cursor {
  readonly source: ByteSource;
  position = 0;
  constructor(source: ByteSource) {
    this.source = source;
  }

  fail(problem: string): never {
    throw new WeightsError(this.source.name, `${problem} (at byte ${this.position})`);
  }

  take(length: bigint | number, what: string): DataView {
    const left = this.source.size - this.position;
    if (BigInt(length) > BigInt(left)) this.fail(`${what} needs ${length} bytes and ${left} are left: the file is cut or broken`);
    if (BigInt(length) > BigInt(largestRead)) this.fail(`${what} of ${length} bytes is too long`);
    const size = Number(length);
    const bytes = this.source.read(this.position, size);
    this.position += size;
    return new DataView(bytes.buffer, bytes.byteOffset, size);
  }

  uint32(what: string): number {
    return this.take(4, what).getUint32(0, true);
  }

  uint64(what: string): bigint {
    return this.take(8, what).getBigUint64(0, true);
  }

  text(what: string): string {
    const bytes = this.take(this.uint64(`the length of ${what}`), what);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return this.fail(`${what} is not UTF-8`);
    }
  }
}

/** Reads everything but tensor data; throws WeightsError that names the tensor, key or offset. */
export function readGguf(source: ByteSource): GgufFile {
  const cursor = new Cursor(source);
  if (source.size < 4 || cursor.uint32("the magic number") !== magic) throw new WeightsError(source.name, "does not begin as a GGUF file");
  const version = cursor.uint32("the version");
  if (version === 0x02000000 || version === 0x03000000) cursor.fail("is a big-endian GGUF file, which is not supported");
  if (version !== 2 && version !== 3) cursor.fail(`has GGUF version ${version}; versions 2 and 3 are supported`);
  const tensorCount = cursor.uint64("the tensor count");
  const keyCount = cursor.uint64("the metadata count");
  const left = BigInt(source.size);
  // The smallest metadata entry has 13 bytes, the smallest tensor entry 24.
  if (keyCount * 13n > left) cursor.fail(`claims ${keyCount} metadata entries, more than the file can hold`);
  if (tensorCount * 24n > left) cursor.fail(`claims ${tensorCount} tensors, more than the file can hold`);
  const metadata = new Map<string, GgufValue>();
  for (let count = 0n; count < keyCount; count += 1n) {
    const key = cursor.text("a metadata key");
    if (metadata.has(key)) cursor.fail(`has the metadata key ${key} twice`);
    metadata.set(key, readValue(cursor, cursor.uint32(`the type of ${key}`), key, 0));
  }
  const headers = Array.from({ length: Number(tensorCount) }, () => readTensorHeader(cursor));
  return { source, version, metadata, tensors: placeTensors(cursor, headers, alignmentOf(cursor, metadata)) };
}

function readValue(cursor: Cursor, type: number, key: string, depth: number): GgufValue {
  if (type === 8) return cursor.text(`the value of ${key}`);
  if (type === 9) return readArray(cursor, key, depth);
  const size = fixedSizes[type];
  if (size === undefined) return cursor.fail(`${key} has the unknown value type ${type}`);
  return fixedValue(cursor.take(size, `the value of ${key}`), 0, type);
}

function readArray(cursor: Cursor, key: string, depth: number): readonly GgufValue[] {
  if (depth >= deepestArray) cursor.fail(`${key} nests arrays deeper than ${deepestArray}`);
  const type = cursor.uint32(`the element type of ${key}`);
  const count = cursor.uint64(`the length of ${key}`);
  const size = fixedSizes[type];
  if (size !== undefined) {
    const view = cursor.take(count * BigInt(size), `the array ${key}`);
    return Array.from({ length: Number(count) }, (_unused, index) => fixedValue(view, index * size, type));
  }
  if (type !== 8 && type !== 9) cursor.fail(`${key} is an array of the unknown type ${type}`);
  if (count * 8n > BigInt(cursor.source.size - cursor.position)) cursor.fail(`${key} claims ${count} elements, more than the file can hold`);
  return Array.from({ length: Number(count) }, () => readValue(cursor, type, key, depth + 1));
}

function fixedValue(view: DataView, at: number, type: number): GgufValue {
  switch (type) {
    case 0:
      return view.getUint8(at);
    case 1:
      return view.getInt8(at);
    case 2:
      return view.getUint16(at, true);
    case 3:
      return view.getInt16(at, true);
    case 4:
      return view.getUint32(at, true);
    case 5:
      return view.getInt32(at, true);
    case 6:
      return view.getFloat32(at, true);
    case 7:
      return view.getUint8(at) !== 0;
    case 10:
      return view.getBigUint64(at, true);
    case 11:
      return view.getBigInt64(at, true);
    default:
      return view.getFloat64(at, true);
  }
}

interface TensorHeader {
  readonly name: string;
  readonly type: GgufType;
  readonly shape: readonly bigint[];
  readonly offset: bigint;
}

const mostDimensions = 8;

function readTensorHeader(cursor: Cursor): TensorHeader {
  const name = cursor.text("a tensor name");
  const dimensions = cursor.uint32(`the dimensions of ${name}`);
  if (dimensions > mostDimensions) cursor.fail(`tensor ${name} claims ${dimensions} dimensions`);
  const reversed = Array.from({ length: dimensions }, () => cursor.uint64(`a dimension of ${name}`));
  const number = cursor.uint32(`the type of ${name}`);
  const type = ggufTypes.get(number);
  if (type === undefined) return cursor.fail(`tensor ${name} has the unknown type ${number}`);
  const row = reversed[0] ?? 1n;
  if (row % BigInt(type.blockValues) !== 0n) cursor.fail(`tensor ${name} has rows of ${row} values; ${type.name} packs ${type.blockValues} together`);
  return { name, type, shape: reversed.toReversed(), offset: cursor.uint64(`the offset of ${name}`) };
}

function alignmentOf(cursor: Cursor, metadata: ReadonlyMap<string, GgufValue>): number {
  const value = metadata.get("general.alignment") ?? 32;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || (value & (value - 1)) !== 0) {
    return cursor.fail(`has general.alignment ${JSON.stringify(String(value))}; it must be a power of two`);
  }
  return value;
}

function placeTensors(cursor: Cursor, headers: readonly TensorHeader[], alignment: number): ReadonlyMap<string, GgufTensor> {
  const dataStart = Math.ceil(cursor.position / alignment) * alignment;
  const available = BigInt(Math.max(cursor.source.size - dataStart, 0));
  const tensors = new Map<string, GgufTensor>();
  for (const { name, type, shape, offset } of headers) {
    if (tensors.has(name)) cursor.fail(`has the tensor ${name} twice`);
    if (offset % BigInt(alignment) !== 0n) cursor.fail(`tensor ${name} begins at ${offset}, which is no multiple of ${alignment}`);
    const values = shape.reduce((product, size) => product * size, 1n);
    const length = (values / BigInt(type.blockValues)) * BigInt(type.blockBytes);
    if (offset + length > available)
      cursor.fail(`tensor ${name} needs bytes ${offset} to ${offset + length} of ${available}: the file is cut or broken`);
    tensors.set(name, { name, type, shape: shape.map(Number), offset: dataStart + Number(offset), length: Number(length) });
  }
  return tensors;
}
