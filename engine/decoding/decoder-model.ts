/** A session of the decoding graph with its cache: reads new tokens of lanes and gives the logits that follow. */
import { type Adapter, type AdapterShape, buildDecodingGraph, loraInput, type ModelDescription, type ModelWeights } from "../models/index.ts";
import type { Runtime, Session, Tensor } from "../onnx/index.ts";
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

  static async open(options: DecoderModelOptions): Promise<DecoderModel> {
    const { runtime, description, lanes, capacity, weightsFolder } = options;
    const graph = buildDecodingGraph({ ...options, kernels: runtime.kernels });
    const session = await runtime.createSession(graph.bytes, {
      purpose: "decoding",
      ...(weightsFolder === undefined ? {} : { weightsFolder }),
    });
    return new DecoderModel(session, new KeyValueCache(description, lanes, capacity), description.config.vocabularySize);
  }

  /**
   * Reads `tokens` into one lane behind its first `start` tokens. Gives the logits after token `readAt` of them; the array holds until the
   * next call. Tokens may be padding behind `readAt`: what is written for them is overwritten before it is ever read.
   */
  async prefill(lane: number, start: number, tokens: Int32Array, readAt: number, adapter: AdapterFeeds): Promise<Float32Array> {
    const total = start + tokens.length;
    if (total > this.cache.capacity) throw new RangeError(`a lane holds ${this.cache.capacity} tokens, not ${total}`);
    return this.#run(lane, tokens, [total - 1], total, [readAt], adapter);
  }

  /**
   * One token for each of the first `tokens.length` lanes, behind the `lengths` tokens that they hold. Gives the logits
   * [lanes, vocabulary], which hold until the next call.
   */
  async decode(tokens: Int32Array, lengths: readonly number[], adapter: AdapterFeeds): Promise<Float32Array> {
    return this.#run(
      0,
      tokens,
      lengths,
      Math.max(...lengths) + 1,
      lengths.map(() => 0),
      adapter,
    );
  }

  async close(): Promise<void> {
    await this.#session.release();
  }

  async #run(
    first: number,
    tokens: Int32Array,
    lastIndex: readonly number[],
    total: number,
    readAt: readonly number[],
    adapter: AdapterFeeds,
  ): Promise<Float32Array> {
    const lanes = lastIndex.length;
    const view = Object.fromEntries(this.cache.view(first, lanes));
    const logits = this.#logitsOf(lanes);
    const feeds: Record<string, Tensor> = {
      tokens: { type: "int32", shape: [lanes, tokens.length / lanes], data: tokens },
      last_index: { type: "int32", shape: [lanes], data: Int32Array.from(lastIndex) },
      total: { type: "int32", shape: [], data: Int32Array.of(total) },
      read_at: { type: "int64", shape: [lanes], data: BigInt64Array.from(readAt, BigInt) },
    };
    const cached = (names: readonly string[]): Record<string, Tensor> =>
      Object.fromEntries(names.flatMap((name) => (view[name] === undefined ? [] : [[name, view[name]]])));
    const past = cached(this.#session.inputNames);
    const present = cached(this.#session.outputNames);
    await this.#session.runInto({ ...feeds, ...past, ...adapter }, { logits, ...present });
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
