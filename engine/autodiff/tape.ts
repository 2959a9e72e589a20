/**
 * Reverse-mode differentiation of graphs. Differentiable operations emit their ONNX nodes and note on the tape how a gradient of their
 * output becomes gradients of their inputs. `gradients` walks the tape backwards and emits those nodes too: the result is one graph
 * that holds forward and backward pass. Backward nodes are written with plain operations, so there are no second derivatives.
 */
import { type Graph, operations, type Value } from "../onnx/index.ts";

/**
 * Emits the gradient that flows into one input, plus `accumulated` (what already flows there from other uses; null = nothing yet).
 * Products take `accumulated` as their addend, which spares a node and a tensor.
 */
export type Contribution = (accumulated: Value | null) => Value;

/** Gradients into the inputs of an operation, in their order; null for an input that has none. Asked for only where needed. */
export type Backward = (gradient: Value) => readonly (Contribution | null)[];

/** Where a backward pass begins: the derivative of the objective by `value`. */
export interface Seed {
  readonly value: Value;
  readonly gradient: Value;
}

interface Entry {
  readonly output: Value;
  readonly inputs: readonly (Value | null)[];
  readonly backward: Backward;
}

export class Gradients {
  readonly #byName: ReadonlyMap<string, Value>;
  constructor(byName: ReadonlyMap<string, Value>) {
    this.#byName = byName;
  }

  /** null: the objective does not depend on the value. */
  of(value: Value): Value | null {
    return this.#byName.get(value.name) ?? null;
  }
}

export class Tape {
  readonly graph: Graph;
  readonly #entries: Entry[] = [];
  readonly #tracked = new Map<string, Value>();
  readonly #watched = new Map<string, Value>();

  constructor(graph: Graph) {
    this.graph = graph;
  }

  /** Asks for gradients of `value` and of what is computed from it. */
  watch(value: Value): Value {
    this.#watched.set(value.name, value);
    this.#tracked.set(value.name, value);
    return value;
  }

  /** Watched values, in the order they were watched. */
  get watched(): readonly Value[] {
    return [...this.#watched.values()];
  }

  /** Watched values that a recorded operation reads directly. */
  watchedInUse(): readonly Value[] {
    const read = new Set(this.#entries.flatMap(({ inputs }) => inputs.map((input) => input?.name)));
    return this.watched.filter(({ name }) => read.has(name));
  }

  /** Notes an operation, unless none of its inputs needs a gradient. */
  record(output: Value, inputs: readonly (Value | null)[], backward: Backward): Value {
    if (!inputs.some((input) => input !== null && this.#tracked.has(input.name))) return output;
    this.#tracked.set(output.name, output);
    this.#entries.push({ output, inputs, backward });
    return output;
  }

  /** Emits the backward pass. */
  gradients(seeds: readonly Seed[]): Gradients {
    const gradients = new Map<string, Value>();
    for (const { value, gradient } of seeds) gradients.set(value.name, plus(this.graph, gradient, gradients.get(value.name) ?? null));
    for (const { output, inputs, backward } of this.#entries.toReversed()) {
      const gradient = gradients.get(output.name);
      if (gradient === undefined) continue;
      const contributions = backward(gradient);
      inputs.forEach((input, index) => {
        const contribution = contributions[index];
        if (input === null || contribution === null || contribution === undefined || !this.#tracked.has(input.name)) return;
        gradients.set(input.name, contribution(gradients.get(input.name) ?? null));
      });
    }
    return new Gradients(gradients);
  }
}

/** `value`, added to what has accumulated. */
export function plus(graph: Graph, value: Value, accumulated: Value | null): Value {
  return accumulated === null ? value : operations.add(graph, accumulated, value);
}

/** A contribution that is added by a node of its own. */
export function contribution(graph: Graph, make: () => Value): Contribution {
  return (accumulated) => plus(graph, make(), accumulated);
}

/** `make`, called at the first use only: what several gradients read is computed again once. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
