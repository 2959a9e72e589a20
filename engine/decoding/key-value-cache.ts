/**
 * Keys and values of every lane, in the arrays that attention updates in place: for each layer [lanes, key heads, capacity, head size].
 * A lane's part of an array is one stretch, so a single lane, or the first few, can be given to the graph as a view.
 */
import { cacheNames, type ModelDescription } from "../models/index.ts";
import type { Tensor, Tensors } from "../onnx/index.ts";

/** Some lanes as the graph is fed with them and gives them back: the same tensors under their names going in and coming out. */
export interface CacheView {
  readonly past: Tensors;
  readonly present: Tensors;
}

interface LayerCache {
  readonly layer: number;
  readonly arrays: readonly Float32Array[];
}

export class KeyValueCache {
  readonly lanes: number;
  /** Tokens that a lane can hold. */
  readonly capacity: number;
  readonly #heads: number;
  readonly #headSize: number;
  readonly #layers: readonly LayerCache[];
  readonly #views = new Map<string, CacheView>();

  constructor(description: ModelDescription, lanes: number, capacity: number) {
    this.lanes = lanes;
    this.capacity = capacity;
    this.#heads = description.config.keyValueHeadCount;
    this.#headSize = description.config.headSize;
    const size = lanes * this.#laneSize;
    this.#layers = description.layers.map(({ index }) => ({ layer: index, arrays: [new Float32Array(size), new Float32Array(size)] }));
  }

  /** Bytes of so many positions of one lane. */
  bytesOf(length: number): number {
    return 2 * 4 * this.#layers.length * this.#heads * this.#headSize * length;
  }

  /** Bytes of all arrays for these sizes. */
  static bytes(description: ModelDescription, lanes: number, capacity: number): number {
    const { layerCount, keyValueHeadCount, headSize } = description.config;
    return 2 * 4 * layerCount * keyValueHeadCount * headSize * lanes * capacity;
  }

  /** `count` lanes from `first` on. */
  view(first: number, count: number): CacheView {
    const key = `${first} ${count}`;
    const known = this.#views.get(key);
    if (known !== undefined) return known;
    const shape = [count, this.#heads, this.capacity, this.#headSize];
    const past: Record<string, Tensor> = {};
    const present: Record<string, Tensor> = {};
    for (const { layer, arrays } of this.#layers) {
      const names = cacheNames(layer);
      arrays.forEach((array, index) => {
        const data = array.subarray(first * this.#laneSize, (first + count) * this.#laneSize);
        const tensor: Tensor = { type: "float32", shape, data };
        past[names.past[index] ?? ""] = tensor;
        present[names.present[index] ?? ""] = tensor;
      });
    }
    const view = { past, present };
    this.#views.set(key, view);
    return view;
  }

  /** Copies the first `length` positions of a lane to another. */
  copyPrefix(from: number, to: number, length: number): void {
    this.#eachHead(length, (array, head, size) => {
      const source = from * this.#laneSize + head;
      array.copyWithin(to * this.#laneSize + head, source, source + size);
    });
  }

  /** The first `length` positions of a lane, to be put back later. */
  save(lane: number, length: number): Float32Array {
    const saved = new Float32Array(2 * this.#layers.length * this.#heads * length * this.#headSize);
    let position = 0;
    this.#eachHead(length, (array, head, size) => {
      const start = lane * this.#laneSize + head;
      saved.set(array.subarray(start, start + size), position);
      position += size;
    });
    return saved;
  }

  /** Puts the first `length` of `savedLength` saved positions into a lane. */
  restore(lane: number, saved: Float32Array, savedLength: number, length: number): void {
    let position = 0;
    this.#eachHead(length, (array, head, size) => {
      array.set(saved.subarray(position, position + size), lane * this.#laneSize + head);
      position += savedLength * this.#headSize;
    });
  }

  get #laneSize(): number {
    return this.#heads * this.capacity * this.#headSize;
  }

  #eachHead(length: number, visit: (array: Float32Array, headStart: number, size: number) => void): void {
    for (const { arrays } of this.#layers) {
      for (const array of arrays) {
        for (let head = 0; head < this.#heads; head += 1) visit(array, head * this.capacity * this.#headSize, length * this.#headSize);
      }
    }
  }
}
