/** A session of the decoding graph with its cache: reads new tokens of lanes and gives the logits that follow. */
import {
  type Adapter,
  type AdapterShape,
  buildDecodingGraph,
  loraInput,
  type ModelDescription,
  type ModelWeights,
  weightShapes,
} from "../models/index.ts";
import { elementCount, type Runtime, type Session, type Tensor, type Tensors } from "../onnx/index.ts";
import { KeyValueCache } from "./key-value-cache.ts";

export interface DecoderModelOptions {
  readonly runtime: Runtime;
  readonly description: ModelDescription;
  readonly weights: ModelWeights;
  readonly weightsFolder?: string;
  /** Modules, ranks and factors of every adapter that will be used; null = none. */
  readonly adapter: AdapterShape | null;
  readonly lanes: number;
  /** Tokens that a lane can hold. */
  readonly capacity: number;
}

/** One version of an adapter, as feeds. */
export type AdapterFeeds = Readonly<Record<string, Tensor>>;

/** A step of a model with fewer parameters is done sooner than a second thread has been woken. */
const worthSharing = 2e6;

export class DecoderModel {
  readonly cache: KeyValueCache;
  readonly vocabularySize: number;
  readonly #session: Session;
  readonly #logits = new Map<number, Tensor>();

  private constructor(session: Session, cache: KeyValueCache, vocabularySize: number) {
    this.#session = session;
    this.cache = cache;
    this.vocabularySize = vocabularySize;
  }

  /** Some 30 ms for a million parameters, most of it ONNX Runtime's. */
  static async open(options: DecoderModelOptions): Promise<DecoderModel> {
    const { runtime, description, lanes, capacity, weightsFolder } = options;
    const graph = buildDecodingGraph({ ...options, kernels: runtime.kernels });
    const parameters = [...weightShapes(description).values()].reduce((sum, shape) => sum + elementCount(shape), 0);
    const session = await runtime.createSession(graph.bytes, {
      purpose: "decoding",
      ...(parameters < worthSharing ? { threads: 1 } : {}),
      ...(weightsFolder === undefined ? {} : { weightsFolder }),
    });
    return new DecoderModel(session, new KeyValueCache(description, lanes, capacity), description.config.vocabularySize);
  }

  /** Reads `tokens` into one lane behind its first `start` tokens. Gives the logits after the last; the array holds until the next call. */
  async prefill(lane: number, start: number, tokens: Int32Array, adapter: AdapterFeeds): Promise<Float32Array> {
    const total = start + tokens.length;
    if (total > this.cache.capacity) throw new RangeError(`a lane holds ${this.cache.capacity} tokens, not ${total}`);
    return this.#run(lane, tokens, [total - 1], adapter);
  }

  /**
   * One token for each of the first `tokens.length` lanes, behind the `lengths` tokens that they hold. Gives the logits
   * [lanes, vocabulary], which hold until the next call.
   */
  async decode(tokens: Int32Array, lengths: readonly number[], adapter: AdapterFeeds): Promise<Float32Array> {
    return this.#run(0, tokens, lengths, adapter);
  }

  async close(): Promise<void> {
    await this.#session.release();
  }

  async #run(first: number, tokens: Int32Array, lastIndex: readonly number[], adapter: AdapterFeeds): Promise<Float32Array> {
    const lanes = lastIndex.length;
    const { past, present } = this.cache.view(first, lanes);
    const logits = this.#logitsOf(lanes);
    const feeds: Tensors = {
      tokens: { type: "int32", shape: [lanes, tokens.length / lanes], data: tokens },
      last_index: { type: "int32", shape: [lanes], data: Int32Array.from(lastIndex) },
      total: { type: "int32", shape: [], data: Int32Array.of(Math.max(...lastIndex) + 1) },
      ...past,
      ...adapter,
    };
    await this.#session.runInto(feeds, { logits, ...present });
    return logits.data as Float32Array;
  }

  #logitsOf(lanes: number): Tensor {
    const known = this.#logits.get(lanes);
    if (known !== undefined) return known;
    const tensor: Tensor = { type: "float32", shape: [lanes, this.vocabularySize], data: new Float32Array(lanes * this.vocabularySize) };
    this.#logits.set(lanes, tensor);
    return tensor;
  }
}

/** An adapter's matrices as the decoding graph is fed with them. */
export function adapterFeeds(adapter: Adapter): AdapterFeeds {
  const feeds: Record<string, Tensor> = {};
  for (const [module, { rank, a, b }] of adapter) {
    feeds[loraInput.a(module)] = { type: "float32", shape: [rank, a.length / rank], data: a };
    feeds[loraInput.b(module)] = { type: "float32", shape: [b.length / rank, rank], data: b };
  }
  return feeds;
}
