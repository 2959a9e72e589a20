export type { ByteSource } from "./byte-source.ts";
export { type ElementType, elementBits, readElements, toFloat32 } from "./element-types.ts";
export { dequantise, ggufTensorValues } from "./gguf-dequantise.ts";
export { type GgufFile, type GgufTensor, type GgufValue, readGguf } from "./gguf-read.ts";
export { readSafetensors, type SafetensorsFile, type StoredTensor, tensorBytes } from "./safetensors.ts";
export { type Checkpoint, readShardedCheckpoint, singleFileCheckpoint } from "./sharded.ts";
export { WeightsError } from "./weights-error.ts";
export { safetensorsHeader, type TensorHeader, type TensorToWrite, writeSafetensors } from "./write-safetensors.ts";
