/** GGUF blocks to float32. Source: ggml's block layouts; each block is a scale (or several) and packed small integers. */
import { halfToNumber, toFloat32 } from "./element-types.ts";
import type { GgufFile } from "./gguf-read.ts";
import type { GgufType } from "./gguf-types.ts";
import { WeightsError } from "./weights-error.ts";

/** Writes one block's values at `out[at…]`; `from` is the block's first byte. */
type BlockReader = (bytes: Uint8Array, view: DataView, from: number, out: Float32Array, at: number) => void;

const byte = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0;
const half = (view: DataView, index: number): number => halfToNumber(view.getUint16(index, true));
const round = Math.fround;

const q4_0: BlockReader = (bytes, view, from, out, at) => {
  const scale = half(view, from);
  for (let index = 0; index < 16; index += 1) {
    const packed = byte(bytes, from + 2 + index);
    out[at + index] = scale * ((packed & 15) - 8);
    out[at + 16 + index] = scale * ((packed >> 4) - 8);
  }
};

const q4_1: BlockReader = (bytes, view, from, out, at) => {
  const scale = half(view, from);
  const minimum = half(view, from + 2);
  for (let index = 0; index < 16; index += 1) {
    const packed = byte(bytes, from + 4 + index);
    out[at + index] = round(scale * (packed & 15)) + minimum;
    out[at + 16 + index] = round(scale * (packed >> 4)) + minimum;
  }
};

/** The fifth bits of 32 values lie in a 32-bit word. */
function fiveBit(view: DataView, bytes: Uint8Array, high: number, low: number, index: number): readonly [number, number] {
  const bits = view.getUint32(high, true);
  const packed = byte(bytes, low + index);
  return [(packed & 15) | (((bits >>> index) & 1) << 4), (packed >> 4) | (((bits >>> (index + 16)) & 1) << 4)];
}

const q5_0: BlockReader = (bytes, view, from, out, at) => {
  const scale = half(view, from);
  for (let index = 0; index < 16; index += 1) {
    const [first, second] = fiveBit(view, bytes, from + 2, from + 6, index);
    out[at + index] = scale * (first - 16);
    out[at + 16 + index] = scale * (second - 16);
  }
};

const q5_1: BlockReader = (bytes, view, from, out, at) => {
  const scale = half(view, from);
  const minimum = half(view, from + 2);
  for (let index = 0; index < 16; index += 1) {
    const [first, second] = fiveBit(view, bytes, from + 4, from + 8, index);
    out[at + index] = round(scale * first) + minimum;
    out[at + 16 + index] = round(scale * second) + minimum;
  }
};

const q8_0: BlockReader = (_bytes, view, from, out, at) => {
  const scale = half(view, from);
  for (let index = 0; index < 32; index += 1) out[at + index] = scale * view.getInt8(from + 2 + index);
};

/** Six-bit scale and minimum of sub-block `index` out of 12 packed bytes. */
function sixBitScale(bytes: Uint8Array, from: number, index: number): readonly [number, number] {
  if (index < 4) return [byte(bytes, from + index) & 63, byte(bytes, from + index + 4) & 63];
  const low = byte(bytes, from + index + 4);
  return [(low & 15) | ((byte(bytes, from + index - 4) >> 6) << 4), (low >> 4) | ((byte(bytes, from + index) >> 6) << 4)];
}

const q4_k: BlockReader = (bytes, view, from, out, at) => {
  const scale = half(view, from);
  const minimum = half(view, from + 2);
  for (let sub = 0; sub < 8; sub += 1) {
    const [stepScale, stepMinimum] = sixBitScale(bytes, from + 4, sub);
    const factor = round(scale * stepScale);
    const offset = round(minimum * stepMinimum);
    for (let index = 0; index < 32; index += 1) {
      const packed = byte(bytes, from + 16 + (sub >> 1) * 32 + index);
      out[at + sub * 32 + index] = round(factor * (sub % 2 === 0 ? packed & 15 : packed >> 4)) - offset;
    }
  }
};

const q6_k: BlockReader = (bytes, view, from, out, at) => {
  const scale = half(view, from + 208);
  for (let halfBlock = 0; halfBlock < 2; halfBlock += 1) {
    for (let index = 0; index < 32; index += 1) {
      const high = byte(bytes, from + 128 + halfBlock * 32 + index);
      for (let quarter = 0; quarter < 4; quarter += 1) {
        const packed = byte(bytes, from + halfBlock * 64 + (quarter % 2) * 32 + index);
        const low = quarter < 2 ? packed & 15 : packed >> 4;
        const value = (low | (((high >> (2 * quarter)) & 3) << 4)) - 32;
        const group = halfBlock * 8 + quarter * 2 + (index >> 4);
        out[at + halfBlock * 128 + quarter * 32 + index] = round(scale * view.getInt8(from + 192 + group)) * value;
      }
    }
  }
};

const blockReaders: Readonly<Record<string, BlockReader>> = { Q4_0: q4_0, Q4_1: q4_1, Q5_0: q5_0, Q5_1: q5_1, Q8_0: q8_0, Q4_K: q4_k, Q6_K: q6_k };
const plainTypes = ["F32", "F16", "BF16", "F64"] as const;

/** Values of `bytes`, which hold whole blocks of `type`; null when this product does not read the type. */
export function dequantise(type: GgufType, bytes: Uint8Array): Float32Array | null {
  const plain = plainTypes.find((name) => name === type.name);
  if (plain !== undefined) return toFloat32(plain, bytes);
  const read = blockReaders[type.name];
  if (read === undefined) return null;
  const blocks = bytes.byteLength / type.blockBytes;
  const out = new Float32Array(blocks * type.blockValues);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let block = 0; block < blocks; block += 1) read(bytes, view, block * type.blockBytes, out, block * type.blockValues);
  return out;
}

/** A tensor's values, row-major; throws WeightsError naming the type when it is not read. */
export function ggufTensorValues(file: GgufFile, name: string): Float32Array {
  const tensor = file.tensors.get(name);
  if (tensor === undefined) throw new WeightsError(file.source.name, `has no tensor ${name}`);
  const bytes = tensor.length === 0 ? new Uint8Array() : file.source.read(tensor.offset, tensor.length);
  const values = dequantise(tensor.type, bytes);
  if (values === null) {
    const known = [...plainTypes, ...Object.keys(blockReaders)].join(", ");
    throw new WeightsError(file.source.name, `tensor ${name} has the type ${tensor.type.name}, which is not read (read are ${known})`);
  }
  return values;
}
