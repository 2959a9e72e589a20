/** Writes safetensors: header padded with spaces so that the data begins at a multiple of 8 bytes. */
import { type ElementType, elementBits } from "./element-types.ts";

export interface TensorHeader {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
}

export interface TensorToWrite extends TensorHeader {
  readonly bytes: Uint8Array;
}

/** Bytes of a tensor's data. */
function tensorLength({ type, shape }: TensorHeader): number {
  return (shape.reduce((product, size) => product * size, 1) * elementBits[type]) / 8;
}

/** All before the data; the tensors' bytes follow in the order given. */
export function safetensorsHeader(tensors: readonly TensorHeader[], metadata: Readonly<Record<string, string>> | null): Uint8Array {
  const header: Record<string, unknown> = metadata === null ? {} : { __metadata__: metadata };
  let offset = 0;
  for (const tensor of tensors) {
    const end = offset + tensorLength(tensor);
    header[tensor.name] = { dtype: tensor.type, shape: tensor.shape, data_offsets: [offset, end] };
    offset = end;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(text.byteLength / 8) * 8;
  const bytes = new Uint8Array(8 + padded).fill(0x20, 8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(padded), true);
  bytes.set(text, 8);
  return bytes;
}

/** The whole file; tensors in the order given. Throws RangeError when bytes and shape disagree. */
export function writeSafetensors(tensors: readonly TensorToWrite[], metadata: Readonly<Record<string, string>> | null): Uint8Array {
  for (const tensor of tensors) {
    const needed = tensorLength(tensor);
    if (needed !== tensor.bytes.byteLength) throw new RangeError(`tensor ${tensor.name} needs ${needed} bytes and has ${tensor.bytes.byteLength}`);
  }
  const header = safetensorsHeader(tensors, metadata);
  const file = new Uint8Array(tensors.reduce((length, { bytes }) => length + bytes.byteLength, header.byteLength));
  file.set(header);
  let at = header.byteLength;
  for (const { bytes } of tensors) {
    file.set(bytes, at);
    at += bytes.byteLength;
  }
  return file;
}
