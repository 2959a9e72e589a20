/** Gradients of a step: summed over micro-batches, measured, clipped by their common norm. */
import type { NamedArrays } from "./adamw.ts";

/** √Σ g² over all tensors, in float64. */
export function globalNorm(gradients: NamedArrays): number {
  let square = 0;
  for (const values of gradients.values()) square += squareSum(values);
  return Math.sqrt(square);
}

/** Four sums at a time: one alone waits for each addition before the next. */
function squareSum(values: Float32Array): number {
  let [first, second, third, fourth] = [0, 0, 0, 0];
  const whole = values.length - (values.length % 4);
  for (let index = 0; index < whole; index += 4) {
    const [a, b, c, d] = [values[index] ?? 0, values[index + 1] ?? 0, values[index + 2] ?? 0, values[index + 3] ?? 0];
    first += a * a;
    second += b * b;
    third += c * c;
    fourth += d * d;
  }
  for (let index = whole; index < values.length; index += 1) first += (values[index] ?? 0) ** 2;
  return first + second + third + fourth;
}

/** What gradients are multiplied by so that their norm stays within `limit`: min(1, limit/(norm + 1e-6)), as torch's clip_grad_norm_. */
export function clipFactor(norm: number, limit: number): number {
  return Math.min(1, limit / (norm + 1e-6));
}

/** Name of the first tensor with a value that is no finite number; null when all are. */
export function firstNonFinite(gradients: NamedArrays): string | null {
  for (const [name, values] of gradients) {
    // Squares of float32 numbers stay far within float64: the sum is finite exactly when they all are.
    if (!Number.isFinite(squareSum(values))) return name;
  }
  return null;
}

/** Sums the gradients of micro-batches; their objectives carry the divisors of the whole batch, so nothing is averaged here. */
export class GradientSum {
  readonly #sums: NamedArrays;
  #count = 0;

  constructor(sizes: ReadonlyMap<string, number>) {
    this.#sums = new Map([...sizes].map(([name, size]) => [name, new Float32Array(size)]));
  }

  /** Throws RangeError for a tensor that is missing or has another size. */
  add(gradients: NamedArrays): void {
    for (const [name, sum] of this.#sums) {
      const values = gradients.get(name);
      if (values === undefined || values.length !== sum.length) throw new RangeError(`the gradient of ${name} is missing or has another size`);
      if (this.#count === 0) sum.set(values);
      else for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) + (values[index] ?? 0);
    }
    this.#count += 1;
  }

  /** The sums so far; the next `add` begins anew. Valid until then. */
  take(): NamedArrays {
    if (this.#count === 0) for (const sum of this.#sums.values()) sum.fill(0);
    this.#count = 0;
    return this.#sums;
  }
}
