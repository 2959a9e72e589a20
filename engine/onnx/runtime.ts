/**
 * What the engine needs of something that runs ONNX models. Implemented outside the engine (`main/engine-runtime`), so that the
 * engine itself loads no native code.
 */
import type { ElementType, NumericArray } from "./element-type.ts";

export interface Tensor {
  readonly type: ElementType;
  /** Outermost first, all known. */
  readonly shape: readonly number[];
  /** Row-major. */
  readonly data: NumericArray;
}

export type Tensors = Readonly<Record<string, Tensor>>;

export interface SessionOptions {
  /** `training`: weights stay mapped in their files; `decoding`: constant weights are repacked once for speed. */
  readonly purpose: "training" | "decoding";
  /** Absolute real path of the folder that external data lies in; absent = the model has none. */
  readonly weightsFolder?: string;
  /** Weights stored in 16 bits stay so in memory and are widened at each use. */
  readonly keepWeightsNarrow?: boolean;
  /** Threads inside one operator; absent = what the runtime was opened with. Small products take longer to share than to do. */
  readonly threads?: number;
  /** The runtime may not fuse operators on its own: some fusions have no float64 kernel. */
  readonly plain?: boolean;
}

export interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** One run; resolves with new tensors. Rejects with what the runtime says when a feed is missing or does not fit. */
  run(feeds: Tensors): Promise<Tensors>;
  /**
   * One run that writes into `targets`, which names every output. The same arrays may be fed: an output whose operator works in
   * place (a key/value cache) is then updated where it lies.
   */
  runInto(feeds: Tensors, targets: Tensors): Promise<void>;
  release(): Promise<void>;
}

export interface Runtime {
  /** Where it runs and why there, for people. */
  readonly provider: { readonly name: string; readonly reason: string };
  /** Kernels that graphs for this provider may use. */
  readonly kernels: Kernels;
  /** Whether `runInto` spares the copy of outputs; found by a test at start. */
  readonly writesInPlace: boolean;
  createSession(model: Uint8Array, options: SessionOptions): Promise<Session>;
}

/** Which fused operators of ONNX Runtime a provider computes correctly. Those without a float64 kernel are left out of float64 graphs. */
export interface Kernels {
  /** com.microsoft FusedMatMul: transposed and scaled batched products. */
  readonly fusedMatMul: boolean;
  /** SimplifiedLayerNormalization in one node. */
  readonly fusedNorm: boolean;
  /** … and its second output is 1/rms (on WebGPU, 1.30, it is the mean). */
  readonly normSavesInverse: boolean;
  /** com.microsoft RotaryEmbedding. */
  readonly rotaryEmbedding: boolean;
  /** com.microsoft QuickGelu. */
  readonly quickGelu: boolean;
}

/** Everything by ONNX's own operators: float64 graphs and reference checks. */
export const plainKernels: Kernels = { fusedMatMul: false, fusedNorm: false, normSavesInverse: false, rotaryEmbedding: false, quickGelu: false };
/** ONNX Runtime's CPU provider in float32. */
export const cpuKernels: Kernels = { fusedMatMul: true, fusedNorm: true, normSavesInverse: true, rotaryEmbedding: true, quickGelu: true };
