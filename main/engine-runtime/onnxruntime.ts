/**
 * ONNX Runtime's Node binding as the engine's runtime. `run()` of the binding blocks the calling thread, and a fault in a GPU driver ends
 * the process: load this in the process that samples or trains, never in the service.
 */
import { availableParallelism } from "node:os";
import type * as Ort from "onnxruntime-node";
import {
  cpuKernels,
  prependSentinel,
  type Runtime,
  type Session,
  type SessionOptions,
  sentinelOutput,
  type Tensor,
  type Tensors,
} from "../../engine/onnx/index.ts";
import { WorkbenchError } from "../errors.ts";
import type { ProviderChoice } from "./providers.ts";
import { outputsAreWrittenInPlace } from "./self-test.ts";

type Binding = typeof Ort;

export interface RuntimeOptions {
  readonly provider: ProviderChoice;
  /** Threads inside one operator. Default: what the machine offers. */
  readonly threads?: number;
}

/** Loads the native library. Throws WorkbenchError when this machine has none. */
export async function loadBinding(): Promise<Binding> {
  try {
    return await import("onnxruntime-node");
  } catch (error) {
    throw new WorkbenchError(
      "unavailable",
      `ONNX Runtime cannot be loaded on this machine (${process.platform} ${process.arch}): ${error instanceof Error ? error.message : String(error)}`,
      "Install the package onnxruntime-node for this system, or use an upstream policy instead of an embedded one.",
      { cause: error },
    );
  }
}

export async function createRuntime(binding: Binding, options: RuntimeOptions): Promise<Runtime> {
  const threads = options.threads ?? availableParallelism();
  const open = async (model: Uint8Array, session: SessionOptions, inPlace: boolean): Promise<Session> =>
    new BindingSession(
      binding,
      await binding.InferenceSession.create(inPlace ? prependSentinel(model) : model, bindingOptions(session, threads)),
      inPlace,
    );
  const inPlace = await outputsAreWrittenInPlace((model) => open(model, { purpose: "decoding" }, true));
  return {
    provider: options.provider,
    kernels: cpuKernels,
    writesInPlace: inPlace,
    createSession: (model, session) => open(model, session, inPlace),
  };
}

/** The settings that were measured to matter. Values of `extra` must be text. */
function bindingOptions(options: SessionOptions, threads: number): Ort.InferenceSession.SessionOptions {
  const training = options.purpose === "training";
  const session: Record<string, string> = { disable_prepacking: training ? "1" : "0", force_spinning_stop: "1" };
  if (training) session.dynamic_block_base = "4";
  if (options.weightsFolder !== undefined) session.model_external_initializers_file_folder_path = options.weightsFolder;
  const narrow = options.keepWeightsNarrow === true;
  const disabled = "ConstantFolding;CommonSubexpressionElimination;FuseFp16InitializerToFp32NodeTransformer";
  return {
    executionProviders: ["cpu"],
    intraOpNumThreads: Math.min(threads, options.threads ?? threads),
    interOpNumThreads: 1,
    executionMode: "sequential",
    graphOptimizationLevel: options.plain === true ? "basic" : "all",
    enableCpuMemArena: true,
    enableMemPattern: false,
    logSeverityLevel: 4,
    extra: narrow ? { session, optimization: { disable_specified_optimizers: disabled } } : { session },
  };
}

/** What the binding says of an output that is no tensor. */
const sentinelReached = /Non tensor type/;

class BindingSession implements Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #binding: Binding;
  readonly #session: Ort.InferenceSession;
  readonly #inPlace: boolean;
  readonly #wrapped = new WeakMap<Tensor, Ort.Tensor>();

  constructor(binding: Binding, session: Ort.InferenceSession, inPlace: boolean) {
    this.#binding = binding;
    this.#session = session;
    this.#inPlace = inPlace;
    this.inputNames = session.inputNames;
    this.outputNames = session.outputNames.filter((name) => name !== sentinelOutput);
  }

  async run(feeds: Tensors): Promise<Tensors> {
    const outputs = await this.#session.run(this.#wrapAll(feeds), this.outputNames);
    return Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, unwrap(name, value)]));
  }

  async runInto(feeds: Tensors, targets: Tensors): Promise<void> {
    const fetches = this.#wrapAll(targets);
    if (!this.#inPlace) {
      const outputs = await this.#session.run(this.#wrapAll(feeds), fetches);
      for (const [name, target] of Object.entries(targets)) copyInto(target, unwrap(name, outputs[name]));
      return;
    }
    try {
      await this.#session.run(this.#wrapAll(feeds), { [sentinelOutput]: null, ...fetches });
    } catch (error) {
      if (error instanceof Error && sentinelReached.test(error.message)) return;
      throw error;
    }
    throw new Error("ONNX Runtime returned outputs that were to be written in place");
  }

  release(): Promise<void> {
    return this.#session.release();
  }

  #wrapAll(tensors: Tensors): Record<string, Ort.Tensor> {
    return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, this.#wrap(tensor)]));
  }

  #wrap(tensor: Tensor): Ort.Tensor {
    const known = this.#wrapped.get(tensor);
    if (known !== undefined) return known;
    const wrapped = new this.#binding.Tensor(tensor.type as "float32", tensor.data as Float32Array, tensor.shape);
    this.#wrapped.set(tensor, wrapped);
    return wrapped;
  }
}

function unwrap(name: string, value: Ort.OnnxValue | undefined): Tensor {
  if (value === undefined) throw new Error(`ONNX Runtime did not return the output ${name}`);
  return { type: value.type as Tensor["type"], shape: value.dims, data: value.data as Tensor["data"] };
}

function copyInto(target: Tensor, source: Tensor): void {
  if (target.data === source.data) return;
  if (target.data instanceof BigInt64Array && source.data instanceof BigInt64Array) target.data.set(source.data);
  else if (!(target.data instanceof BigInt64Array) && !(source.data instanceof BigInt64Array)) target.data.set(source.data);
  else throw new TypeError("an output has another element type than the array it is written to");
}
