/**
 * AdamW: Adam with bias correction and weight decay apart from the gradient. Source: arXiv 1711.05101, the update of torch.optim.AdamW.
 * State is float32 as the parameters are; each element's update is computed in float64.
 */

export interface AdamWSettings {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Each step multiplies a parameter by 1 − rate · decay. */
  readonly weightDecay: number;
}

/** Named tensors, flat. */
export type NamedArrays = ReadonlyMap<string, Float32Array>;

export interface AdamWState {
  /** Updates made so far. */
  readonly step: number;
  /** Running means of the gradient and of its square. */
  readonly first: NamedArrays;
  readonly second: NamedArrays;
}

export class AdamW {
  readonly #parameters: NamedArrays;
  readonly #settings: AdamWSettings;
  readonly #first: NamedArrays;
  readonly #second: NamedArrays;
  #step = 0;

  /** Updates `parameters` in place. */
  constructor(parameters: NamedArrays, settings: AdamWSettings) {
    this.#parameters = parameters;
    this.#settings = settings;
    const zeros = (): NamedArrays => new Map([...parameters].map(([name, values]) => [name, new Float32Array(values.length)]));
    this.#first = zeros();
    this.#second = zeros();
  }

  /** One update of every parameter; `scale` multiplies the gradients (clipping). Throws RangeError when one has no gradient. */
  update(gradients: NamedArrays, rate: number, scale = 1): void {
    this.#step += 1;
    for (const [name, values] of this.#parameters) {
      const gradient = gradients.get(name);
      const first = this.#first.get(name);
      const second = this.#second.get(name);
      if (gradient === undefined || first === undefined || second === undefined || gradient.length !== values.length) {
        throw new RangeError(`the gradient of ${name} is missing or has another size`);
      }
      this.#updateTensor(values, gradient, first, second, rate, scale);
    }
  }

  /** A live view; copy it before the next update. */
  get state(): AdamWState {
    return { step: this.#step, first: this.#first, second: this.#second };
  }

  /** Continues from a stored state. Throws RangeError when it belongs to other parameters. */
  restore(state: AdamWState): void {
    this.#step = state.step;
    for (const [target, source] of [
      [this.#first, state.first],
      [this.#second, state.second],
    ] as const) {
      for (const [name, values] of target) {
        const stored = source.get(name);
        if (stored === undefined || stored.length !== values.length)
          throw new RangeError(`the optimiser state of ${name} is missing or has another size`);
        values.set(stored);
      }
    }
  }

  #updateTensor(values: Float32Array, gradient: Float32Array, first: Float32Array, second: Float32Array, rate: number, scale: number): void {
    const { beta1, beta2, epsilon, weightDecay } = this.#settings;
    const correction = rate / (1 - beta1 ** this.#step);
    const perRoot = 1 / Math.sqrt(1 - beta2 ** this.#step);
    const kept = 1 - rate * weightDecay;
    for (let index = 0; index < values.length; index += 1) {
      const slope = (gradient[index] ?? 0) * scale;
      const mean = beta1 * (first[index] ?? 0) + (1 - beta1) * slope;
      const square = beta2 * (second[index] ?? 0) + (1 - beta2) * slope * slope;
      first[index] = mean;
      second[index] = square;
      values[index] = (values[index] ?? 0) * kept - (correction * mean) / (Math.sqrt(square) * perRoot + epsilon);
    }
  }
}
