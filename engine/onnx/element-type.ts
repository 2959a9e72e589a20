/** Element types of ONNX tensors by their number in the format (TensorProto.DataType). */
export const elementTypes = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9, float16: 10, float64: 11, bfloat16: 16 } as const;

export type ElementType = keyof typeof elementTypes;

/** Types that arithmetic runs in here; the 16-bit types only store weights. */
export type FloatType = "float32" | "float64";

export type NumericArray = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint16Array | Uint8Array;

/** Numbers as the array that a tensor of this type is fed with. Throws RangeError for the 16-bit storage types. */
export function numericArray(type: ElementType, values: readonly number[]): NumericArray {
  switch (type) {
    case "float32":
      return Float32Array.from(values);
    case "float64":
      return Float64Array.from(values);
    case "int32":
      return Int32Array.from(values);
    case "int64":
      return BigInt64Array.from(values, BigInt);
    case "bool":
    case "uint8":
      return Uint8Array.from(values);
    case "float16":
    case "bfloat16":
      throw new RangeError(`${type} only stores weights and is not made from numbers`);
  }
}
