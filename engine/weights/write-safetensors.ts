/** Writes safetensors: header padded with spaces so that the data begins at a multiple of 8 bytes. */
import { type ElementType, elementBits } from "./element-types.ts";

export interface TensorToWrite {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** The whole file; tensors in the order given. Throws RangeError when bytes and shape disagree. */
export function writeSafetensors(tensors: readonly TensorToWrite[], metadata: Readonly<Record<string, string>> | null): Uint8Array {
  const header: Record<string, unknown> = metadata === null ? {} : { __metadata__: metadata };
  let offset = 0;
  for (const { name, type, shape, bytes } of tensors) {
    const needed = (shape.reduce((product, size) => product * size, 1) * elementBits[type]) / 8;
    if (needed !== bytes.byteLength) throw new RangeError(`tensor ${name} needs ${needed} bytes and has ${bytes.byteLength}`);
    header[name] = { dtype: type, shape, data_offsets: [offset, offset + bytes.byteLength] };
    offset += bytes.byteLength;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(text.byteLength / 8) * 8;
  const file = new Uint8Array(8 + padded + offset).fill(0x20, 8, 8 + padded);
  new DataView(file.buffer).setBigUint64(0, BigInt(padded), true);
  file.set(text, 8);
  let at = 8 + padded;
  for (const { bytes } of tensors) {
    file.set(bytes, at);
    at += bytes.byteLength;
  }
  return file;
}
