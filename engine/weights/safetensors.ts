/**
 * safetensors: u64 header length, a JSON header, then the data. Read strictly: every byte of the data belongs to exactly one
 * tensor, names stand once, nothing is allocated by what a header claims. Tensors stay in the file; only what is asked for is read.
 */
import { hasLoneSurrogate, isJsonArray, isJsonObject, type JsonObject, JsonSyntaxError, type JsonValue, parseJson } from "../json/index.ts";
import type { ByteSource } from "./byte-source.ts";
import { type ElementType, elementBits, isElementType } from "./element-types.ts";
import { WeightsError } from "./weights-error.ts";

export interface StoredTensor {
  readonly name: string;
  readonly type: ElementType;
  /** Row-major, outermost first. */
  readonly shape: readonly number[];
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly length: number;
}

export interface SafetensorsFile {
  readonly source: ByteSource;
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  readonly metadata: ReadonlyMap<string, string> | null;
}

const largestHeader = 100_000_000;

/** Reads the header and checks it against the file's size; throws WeightsError that names the tensor or offset. */
export function readSafetensors(source: ByteSource): SafetensorsFile {
  const fail = (problem: string): never => {
    throw new WeightsError(source.name, problem);
  };
  if (source.size < 8) fail(`has ${source.size} bytes, too few for a safetensors header`);
  const lengthBytes = source.read(0, 8);
  const claimed = new DataView(lengthBytes.buffer, lengthBytes.byteOffset, 8).getBigUint64(0, true);
  if (claimed > BigInt(largestHeader))
    fail(`claims a header of ${claimed} bytes; at most ${largestHeader} are allowed, so this is no safetensors file`);
  const headerLength = Number(claimed);
  const dataStart = 8 + headerLength;
  if (dataStart > source.size) fail(`is cut: the header needs ${headerLength} bytes, ${source.size - 8} are there`);
  const header = parseHeader(source, headerLength);
  const tensors = [...header].filter(([name]) => name !== "__metadata__").map(([name, entry]) => readEntry(source, dataStart, name, entry));
  checkLayout(source, tensors, dataStart);
  return { source, tensors: new Map(tensors.map((tensor) => [tensor.name, tensor])), metadata: readMetadata(source, header.get("__metadata__")) };
}

/** The tensor's bytes, read now. */
export function tensorBytes(file: SafetensorsFile, name: string): Uint8Array {
  const tensor = file.tensors.get(name);
  if (tensor === undefined) throw new WeightsError(file.source.name, `has no tensor ${name}`);
  return tensor.length === 0 ? new Uint8Array() : file.source.read(tensor.offset, tensor.length);
}

function parseHeader(source: ByteSource, length: number): JsonObject {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(source.read(8, length));
  } catch {
    throw new WeightsError(source.name, "has a header that is not UTF-8");
  }
  let value: JsonValue;
  try {
    value = parseJson(text, { uniqueKeys: true });
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new WeightsError(source.name, `has a header that is ${error.message}`);
    throw error;
  }
  if (!isJsonObject(value)) throw new WeightsError(source.name, "has a header that is no JSON object");
  for (const name of value.keys()) {
    if (hasLoneSurrogate(name)) throw new WeightsError(source.name, `has a tensor name that holds half a character: ${JSON.stringify(name)}`);
  }
  return value;
}

function readEntry(source: ByteSource, dataStart: number, name: string, entry: JsonValue): StoredTensor {
  const fail = (problem: string): never => {
    throw new WeightsError(source.name, `tensor ${JSON.stringify(name)} ${problem}`);
  };
  if (!isJsonObject(entry)) return fail("has an entry that is no JSON object");
  const type = entry.get("dtype");
  if (typeof type !== "string") return fail("names no dtype");
  if (!isElementType(type)) return fail(`has the unknown dtype ${JSON.stringify(type)}`);
  const shape = wholeNumbers(entry.get("shape")) ?? fail("has no shape of whole numbers");
  const offsets = wholeNumbers(entry.get("data_offsets")) ?? fail("has no data_offsets of whole numbers");
  const [begin, end] = offsets;
  if (begin === undefined || end === undefined || offsets.length !== 2) return fail(`has ${offsets.length} data_offsets instead of two`);
  if (end < begin) return fail(`ends (${end}) before it begins (${begin})`);
  if (end > BigInt(source.size - dataStart)) return fail(`reaches to byte ${end} of ${source.size - dataStart} data bytes: the file is cut`);
  const bits = shape.reduce((product, size) => product * size, BigInt(elementBits[type]));
  if (bits !== (end - begin) * 8n)
    return fail(`of shape [${shape.join(", ")}] and dtype ${type} needs ${bits / 8n} bytes, its offsets give ${end - begin}`);
  return { name, type, shape: shape.map(Number), offset: dataStart + Number(begin), length: Number(end - begin) };
}

function wholeNumbers(value: JsonValue | undefined): bigint[] | null {
  if (!isJsonArray(value)) return null;
  const numbers = value.filter((item): item is bigint => typeof item === "bigint" && item >= 0n);
  return numbers.length === value.length ? numbers : null;
}

/** Tensors must tile the data: no holes, no overlap, nothing after the last. */
function checkLayout(source: ByteSource, tensors: readonly StoredTensor[], dataStart: number): void {
  let expected = dataStart;
  for (const tensor of tensors.toSorted((left, right) => left.offset - right.offset || left.length - right.length)) {
    if (tensor.offset !== expected) {
      const relation =
        tensor.offset < expected ? "shares bytes with another tensor" : `leaves ${tensor.offset - expected} bytes before it that belong to no tensor`;
      throw new WeightsError(source.name, `tensor ${JSON.stringify(tensor.name)} ${relation}`);
    }
    expected = tensor.offset + tensor.length;
  }
  if (expected !== source.size) throw new WeightsError(source.name, `has ${source.size - expected} bytes after its last tensor`);
}

function readMetadata(source: ByteSource, value: JsonValue | undefined): ReadonlyMap<string, string> | null {
  if (value === undefined || value === null) return null;
  if (!isJsonObject(value)) throw new WeightsError(source.name, "has __metadata__ that is no JSON object");
  const metadata = new Map<string, string>();
  for (const [key, text] of value) {
    if (typeof text !== "string") throw new WeightsError(source.name, `has a __metadata__ value that is no text: ${JSON.stringify(key)}`);
    metadata.set(key, text);
  }
  return metadata;
}
