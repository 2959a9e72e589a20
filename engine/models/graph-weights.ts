/** A model's weights as values of a graph: constants in place, or fed and trained. */
import { add, gatherRows, gemm, type Tape } from "../autodiff/index.ts";
import { type Graph, operations as op, type Value } from "../onnx/index.ts";
import type { AdapterShape } from "./adapter.ts";
import type { Linear, ModelDescription } from "./description.ts";
import { weightShapes } from "./description.ts";
import type { ModelWeights } from "./model-weights.ts";

/** What is fed and gets gradients: the adapter's matrices, all weights, or nothing. */
export type Trained = "adapter" | "weights" | "nothing";

export interface GraphWeightsOptions {
  readonly description: ModelDescription;
  /** null: every weight is fed (full training, or scoring while it runs). */
  readonly weights: ModelWeights | null;
  /** null: no adapter. Its matrices are always fed. */
  readonly adapter: AdapterShape | null;
  readonly trained: Trained;
  /** Keep weights of 16 bits as they are and widen them at each use. */
  readonly narrow: boolean;
}

export const loraInput = { a: (module: string) => `${module}.lora_A`, b: (module: string) => `${module}.lora_B` };

/** Inputs of the graph that are trained, with their shapes, in forward order: their gradients are outputs named `gradient:<name>`. */
export function trainedShapes(description: ModelDescription, adapter: AdapterShape | null, trained: Trained): ReadonlyMap<string, readonly number[]> {
  if (trained === "nothing") return new Map();
  return trained === "weights" ? weightShapes(description) : adapterShapes(description, adapter ?? new Map());
}

/** Shapes of an adapter's matrices by input name, in forward order. */
export function adapterShapes(description: ModelDescription, adapter: AdapterShape): ReadonlyMap<string, readonly number[]> {
  const shapes = weightShapes(description);
  return new Map(
    [...adapter].flatMap(([module, { rank }]) => {
      const [outputs, inputs] = shapes.get(`${module}.weight`) ?? [];
      if (outputs === undefined || inputs === undefined) throw new RangeError(`the model has no module ${module}`);
      return [
        [loraInput.a(module), [rank, inputs]],
        [loraInput.b(module), [outputs, rank]],
      ] as [string, number[]][];
    }),
  );
}

export class GraphWeights {
  readonly #graph: Graph;
  readonly #options: GraphWeightsOptions;
  readonly #shapes: ReadonlyMap<string, readonly number[]>;
  readonly #stored = new Map<string, Value>();
  readonly #widened = new Map<string, Value>();

  constructor(tape: Tape, options: GraphWeightsOptions) {
    this.#graph = tape.graph;
    this.#options = options;
    this.#shapes = weightShapes(options.description);
    for (const [name, shape] of trainedShapes(options.description, options.adapter, options.trained)) {
      tape.watch(this.#graph.input(name, this.#graph.float, shape));
    }
  }

  /** A weight in the type that the graph computes in. */
  weight(name: string): Value {
    const stored = this.#storedValue(name);
    if (stored.type === this.#graph.float) return stored;
    const known = this.#widened.get(name);
    if (known !== undefined && !this.#options.narrow) return known;
    const widen = (): Value => op.cast(this.#graph, stored, this.#graph.float);
    const value = this.#options.narrow ? this.#graph.remade(widen(), widen) : widen();
    this.#widened.set(name, value);
    return value;
  }

  /** Rows of a table [vocabulary, width] at `indices`: gathered as stored, and only they are widened. */
  rows(tape: Tape, name: string, indices: Value): Value {
    const stored = this.#storedValue(name);
    if (stored.type === this.#graph.float) return gatherRows(tape, stored, indices);
    return op.cast(this.#graph, op.gatherRows(this.#graph, stored, indices), this.#graph.float);
  }

  /** x·Wᵀ + b, with the module's LoRA; the residual is added in the product itself where that is free. x [n, inputs] → [n, outputs]. */
  linear(tape: Tape, linear: Linear, input: Value, residual: Value | null = null): Value {
    const weight = this.weight(`${linear.module}.weight`);
    const bias = linear.hasBias ? this.weight(`${linear.module}.bias`) : null;
    const product = gemm(tape, input, weight, { transposeRight: true, addend: bias ?? residual });
    const adapted = this.#withAdapter(tape, linear, input, product);
    return bias !== null && residual !== null ? add(tape, adapted, residual) : adapted;
  }

  #withAdapter(tape: Tape, { module, inputs, outputs }: Linear, input: Value, product: Value): Value {
    const lora = this.#options.adapter?.get(module);
    if (lora === undefined) return product;
    const a = this.#graph.input(loraInput.a(module), this.#graph.float, [lora.rank, inputs]);
    const b = this.#graph.input(loraInput.b(module), this.#graph.float, [outputs, lora.rank]);
    const reduced = gemm(tape, input, a, { transposeRight: true });
    return gemm(tape, reduced, b, { transposeRight: true, factor: lora.factor, addend: product });
  }

  #storedValue(name: string): Value {
    const known = this.#stored.get(name);
    if (known !== undefined) return known;
    const shape = this.#shapes.get(name);
    if (shape === undefined) throw new RangeError(`the model has no weight ${name}`);
    const { weights } = this.#options;
    let value: Value;
    if (weights === null) {
      value = this.#graph.input(name, this.#graph.float, shape);
    } else {
      const place = weights.place(name);
      value = this.#graph.initializer(name, place.type, shape, place.source);
    }
    this.#stored.set(name, value);
    return value;
  }
}
