/** LoRA: y = x·Wᵀ + factor·(x·Aᵀ)·Bᵀ on chosen linear maps. Source: arXiv 2106.09685; rank-stabilised factor: arXiv 2312.03732. */
import { seededRandom } from "../statistics/index.ts";
import type { LinearKind } from "./config.ts";
import { type Linear, linearsOf, type ModelDescription } from "./description.ts";
import type { ModelWeights } from "./model-weights.ts";

/** What a graph has to know of one adapted module. */
export interface LoraShape {
  readonly rank: number;
  readonly factor: number;
}
/** Adapted modules by their path, in forward order. */
export type AdapterShape = ReadonlyMap<string, LoraShape>;

export interface LoraModule extends LoraShape {
  /** [rank, inputs], row-major. */
  readonly a: Float32Array;
  /** [outputs, rank]. */
  readonly b: Float32Array;
}
export type Adapter = ReadonlyMap<string, LoraModule>;

export interface LoraSettings {
  readonly rank: number;
  readonly alpha: number;
  readonly targets: readonly LinearKind[];
  /** Factor alpha/√rank instead of alpha/rank. */
  readonly rankStabilised: boolean;
}

export function loraFactor({ rank, alpha, rankStabilised }: Pick<LoraSettings, "rank" | "alpha" | "rankStabilised">): number {
  return alpha / (rankStabilised ? Math.sqrt(rank) : rank);
}

/** A fresh adapter, which changes nothing yet: A uniform in ±1/√inputs (as PEFT's Kaiming initialisation), B zero. */
export function createAdapter(description: ModelDescription, settings: LoraSettings, seed: number): Adapter {
  const random = seededRandom(seed);
  const modules = linearsOf(description).filter(({ kind }) => settings.targets.includes(kind));
  const factor = loraFactor(settings);
  return new Map(
    modules.map(({ module, inputs, outputs }): [string, LoraModule] => {
      const bound = 1 / Math.sqrt(inputs);
      const a = Float32Array.from({ length: settings.rank * inputs }, () => bound * (2 * random() - 1));
      return [module, { rank: settings.rank, factor, a, b: new Float32Array(outputs * settings.rank) }];
    }),
  );
}

/** The base weights with the adapter added in: W + factor·B·A, summed in float64. */
export function mergedWeights(description: ModelDescription, base: ModelWeights, adapter: Adapter): (name: string) => Float32Array {
  const linears = new Map(linearsOf(description).map((linear) => [`${linear.module}.weight`, linear]));
  return (name) => {
    const linear = linears.get(name);
    const module = linear === undefined ? undefined : adapter.get(linear.module);
    return linear === undefined || module === undefined ? base.values(name) : merge(linear, base.values(name), module);
  };
}

function merge({ inputs, outputs }: Linear, weight: Float32Array, { rank, factor, a, b }: LoraModule): Float32Array {
  const merged = new Float32Array(weight.length);
  const row = new Float64Array(inputs);
  for (let output = 0; output < outputs; output += 1) {
    row.fill(0);
    for (let component = 0; component < rank; component += 1) {
      const share = factor * (b[output * rank + component] ?? 0);
      for (let input = 0; input < inputs; input += 1) row[input] = (row[input] ?? 0) + share * (a[component * inputs + input] ?? 0);
    }
    for (let input = 0; input < inputs; input += 1) merged[output * inputs + input] = (weight[output * inputs + input] ?? 0) + (row[input] ?? 0);
  }
  return merged;
}
