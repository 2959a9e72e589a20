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

/** Values of all weights, ready to decode with. */
export interface LoadedWeights {
  readonly session: Session;
}

/** What a version of the policy is: weights, and an adapter over them. */
export interface PolicyVersion {
  readonly weights: LoadedWeights;
  readonly adapter: AdapterFeeds;
}

export class DecoderModel {
  readonly cache: KeyValueCache;
  readonly vocabularySize: number;
  /** The weights that the model was opened with. */
  readonly baseWeights: LoadedWeights;
  readonly #load: WeightsLoader;
  readonly #logits = new Map<number, Tensor>();

  private constructor(load: WeightsLoader, baseWeights: LoadedWeights, cache: KeyValueCache, vocabularySize: number) {
    this.#load = load;
    this.baseWeights = baseWeights;
    this.cache = cache;
    this.vocabularySize = vocabularySize;
  }

  static async open(options: DecoderModelOptions): Promise<DecoderModel> {
    const { description, lanes, capacity, weights, weightsFolder } = options;
    const load = weightsLoader(options);
    const base = await load(weights, weightsFolder);
    return new DecoderModel(load, base, new KeyValueCache(description, lanes, capacity), description.config.vocabularySize);
  }

  /**
   * Other values of all weights, for a version of full training; release them with `unloadWeights`. The graph is that of the weights
   * before, if they lie at the same places of files of the same names (as checkpoints of one model do): then this takes what ONNX Runtime
   * needs to repack them, some 20 ms for a million.
   */
  loadWeights(weights: ModelWeights, weightsFolder?: string): Promise<LoadedWeights> {
    return this.#load(weights, weightsFolder);
  }

  async unloadWeights(weights: LoadedWeights): Promise<void> {
    await weights.session.release();
  }

  /** Reads `tokens` into one lane behind its first `start` tokens. Gives the logits after the last; the array holds until the next call. */
  async prefill(lane: number, start: number, tokens: Int32Array, version: PolicyVersion): Promise<Float32Array> {
    const total = start + tokens.length;
    if (total > this.cache.capacity) throw new RangeError(`a lane holds ${this.cache.capacity} tokens, not ${total}`);
    return this.#run(lane, tokens, [total - 1], version);
  }

  /**
   * One token for each of the first `tokens.length` lanes, behind the `lengths` tokens that they hold. Gives the logits
   * [lanes, vocabulary], which hold until the next call.
   */
  async decode(tokens: Int32Array, lengths: readonly number[], version: PolicyVersion): Promise<Float32Array> {
    return this.#run(0, tokens, lengths, version);
  }

  /** Weights that were loaded besides are released by whoever loaded them. */
  async close(): Promise<void> {
    await this.unloadWeights(this.baseWeights);
  }

  async #run(
    first: number,
    tokens: Int32Array,
    lastIndex: readonly number[],
    { weights: { session }, adapter }: PolicyVersion,
  ): Promise<Float32Array> {
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
    await session.runInto(feeds, { logits, ...present });
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

type WeightsLoader = (weights: ModelWeights, weightsFolder: string | undefined) => Promise<LoadedWeights>;

/** A step of a model with fewer parameters is done sooner than a second thread has been woken. */
const worthSharing = 2e6;

function weightsLoader({ runtime, description, adapter, capacity }: DecoderModelOptions): WeightsLoader {
  let last: { readonly places: string; readonly bytes: Uint8Array } | null = null;
  return async (weights, weightsFolder) => {
    const places = placesInFiles(description, weights);
    const bytes =
      places !== null && last?.places === places
        ? last.bytes
        : buildDecodingGraph({ description, weights, adapter, capacity, kernels: runtime.kernels }).bytes;
    last = places === null ? null : { places, bytes };
    const threads = parameterCount(description) < worthSharing ? { threads: 1 } : {};
    const folder = weightsFolder === undefined ? {} : { weightsFolder };
    return { session: await runtime.createSession(bytes, { purpose: "decoding", ...threads, ...folder }) };
  };
}

function parameterCount(description: ModelDescription): number {
  return [...weightShapes(description).values()].reduce((sum, shape) => sum + elementCount(shape), 0);
}

/** Where each weight lies in its file; null when one is held in memory. */
function placesInFiles(description: ModelDescription, weights: ModelWeights): string | null {
  const places = [...weightShapes(description).keys()].map((name) => weights.place(name));
  return places.every(({ source }) => "external" in source) ? JSON.stringify(places) : null;
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
