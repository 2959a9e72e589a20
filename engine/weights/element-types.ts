/** Element types of safetensors files and their exact widening to float32. Little-endian throughout. */

export const elementBits = {
  BOOL: 8,
  F4: 4,
  F6_E2M3: 6,
  F6_E3M2: 6,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  C64: 64,
  F64: 64,
  I64: 64,
  U64: 64,
} as const;

export type ElementType = keyof typeof elementBits;

export function isElementType(name: string): name is ElementType {
  return Object.hasOwn(elementBits, name);
}

/** IEEE half precision. */
export function halfToNumber(bits: number): number {
  return smallFloat(bits, 5, 10, true);
}

/** Brain float: the upper half of a float32. */
function brainToNumber(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}

/** A float of `exponentBits` and `mantissaBits`; without infinities (E4M3FN) the top exponent holds numbers, all ones is NaN. */
function smallFloat(bits: number, exponentBits: number, mantissaBits: number, infinities: boolean): number {
  const sign = (bits >> (exponentBits + mantissaBits)) & 1 ? -1 : 1;
  const top = (1 << exponentBits) - 1;
  const exponent = (bits >> mantissaBits) & top;
  const mantissa = bits & ((1 << mantissaBits) - 1);
  const bias = (1 << (exponentBits - 1)) - 1;
  if (exponent === 0) return sign * mantissa * 2 ** (1 - bias - mantissaBits);
  if (exponent === top && infinities) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === top && mantissa === (1 << mantissaBits) - 1) return Number.NaN;
  return sign * (1 + mantissa * 2 ** -mantissaBits) * 2 ** (exponent - bias);
}

type Reader = (view: DataView, index: number) => number | bigint | boolean;

const readers: Partial<Record<ElementType, Reader>> = {
  BOOL: (view, index) => view.getUint8(index) !== 0,
  U8: (view, index) => view.getUint8(index),
  I8: (view, index) => view.getInt8(index),
  F8_E5M2: (view, index) => smallFloat(view.getUint8(index), 5, 2, true),
  F8_E4M3: (view, index) => smallFloat(view.getUint8(index), 4, 3, false),
  I16: (view, index) => view.getInt16(index * 2, true),
  U16: (view, index) => view.getUint16(index * 2, true),
  F16: (view, index) => halfToNumber(view.getUint16(index * 2, true)),
  BF16: (view, index) => brainToNumber(view.getUint16(index * 2, true)),
  I32: (view, index) => view.getInt32(index * 4, true),
  U32: (view, index) => view.getUint32(index * 4, true),
  F32: (view, index) => view.getFloat32(index * 4, true),
  F64: (view, index) => view.getFloat64(index * 8, true),
  I64: (view, index) => view.getBigInt64(index * 8, true),
  U64: (view, index) => view.getBigUint64(index * 8, true),
};

/** Every element as a value; null when this type has no reader (packed sub-byte floats, complex numbers). */
export function readElements(type: ElementType, bytes: Uint8Array): (number | bigint | boolean)[] | null {
  const reader = readers[type];
  if (reader === undefined) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.floor((bytes.byteLength * 8) / elementBits[type]) }, (_unused, index) => reader(view, index));
}

/** As float32; null for types that are no real floating-point numbers. F64 is rounded once. */
export function toFloat32(type: ElementType, bytes: Uint8Array): Float32Array | null {
  if (!["F64", "F32", "F16", "BF16", "F8_E5M2", "F8_E4M3"].includes(type)) return null;
  // A copy: the bytes may lie unaligned in a larger buffer.
  if (type === "F32") return new Float32Array(new Uint8Array(bytes).buffer);
  if (type === "BF16") {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const bits = new Uint32Array(bytes.byteLength / 2);
    for (let index = 0; index < bits.length; index += 1) bits[index] = view.getUint16(index * 2, true) << 16;
    return new Float32Array(bits.buffer);
  }
  return Float32Array.from(readElements(type, bytes) ?? [], Number);
}
