/**
 * Writes protocol buffer messages: varints, fixed 32-bit floats and length-delimited fields, nested without copying until the end.
 * Source: protobuf.dev/programming-guides/encoding.
 */
const encoder = new TextEncoder();

export class MessageWriter {
  readonly #parts: (Uint8Array | MessageWriter)[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Wire type 0. Negative integers become their 64-bit two's complement. */
  integer(field: number, value: number): this {
    return this.#raw(varint(field * 8)).#raw(varint(value));
  }

  /** Wire type 5. */
  float(field: number, value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    return this.#raw(varint(field * 8 + 5)).#raw(bytes);
  }

  bytes(field: number, value: Uint8Array): this {
    return this.#raw(varint(field * 8 + 2))
      .#raw(varint(value.byteLength))
      .#raw(value);
  }

  text(field: number, value: string): this {
    return this.bytes(field, encoder.encode(value));
  }

  message(field: number, value: MessageWriter): this {
    this.#raw(varint(field * 8 + 2)).#raw(varint(value.length));
    this.#parts.push(value);
    this.#length += value.length;
    return this;
  }

  finish(): Uint8Array {
    const bytes = new Uint8Array(this.#length);
    this.#copyTo(bytes, 0);
    return bytes;
  }

  #raw(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    this.#length += bytes.byteLength;
    return this;
  }

  #copyTo(target: Uint8Array, start: number): number {
    let position = start;
    for (const part of this.#parts) {
      if (part instanceof MessageWriter) {
        position = part.#copyTo(target, position);
      } else {
        target.set(part, position);
        position += part.byteLength;
      }
    }
    return position;
  }
}

const singleBytes = Array.from({ length: 128 }, (_unused, value) => Uint8Array.of(value));

function varint(value: number): Uint8Array {
  const single = singleBytes[value];
  if (single !== undefined) return single;
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
