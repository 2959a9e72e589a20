export type { ElementType, FloatType, NumericArray } from "./element-type.ts";
export { Graph, type GraphModel, type NodeOptions, type Value } from "./graph.ts";
export type { ExternalData } from "./model-proto.ts";
export * as operations from "./operations.ts";
export { cpuKernels, type Kernels, plainKernels, type Runtime, type Session, type SessionOptions, type Tensor, type Tensors } from "./runtime.ts";
export { prependSentinel, sentinelOutput } from "./sentinel.ts";
export { broadcast, type Dimension, elementCount, knownSize, type Shape } from "./shape.ts";
