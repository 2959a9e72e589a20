/**
 * Builds an ONNX graph node by node. Every value carries its element type and shape, so that a wrong product fails where it is
 * written and not when the session loads.
 */
import { type ElementType, type FloatType, type NumericArray, numericArray } from "./element-type.ts";
import { type Attribute, type ExternalData, type ProtoNode, type ProtoTensor, type ProtoValue, writeModel } from "./model-proto.ts";
import { arrangeNodes, type GraphOutput } from "./node-order.ts";
import type { Kernels } from "./runtime.ts";
import type { Shape } from "./shape.ts";

/** A tensor of the graph: an input, an initializer or the output of a node. */
export interface Value {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: Shape;
}

export interface NodeOptions {
  readonly attributes?: Readonly<Record<string, Attribute | undefined>>;
  readonly domain?: "com.microsoft";
}

/** A finished model and what it is fed and gives. */
export interface GraphModel {
  readonly bytes: Uint8Array;
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly nodeCount: number;
}

export class Graph {
  /** Type that activations and arithmetic have. */
  readonly float: FloatType;
  readonly kernels: Kernels;
  readonly #nodes: ProtoNode[] = [];
  readonly #initializers = new Map<string, ProtoTensor>();
  readonly #inputs = new Map<string, ProtoValue>();
  readonly #outputs: GraphOutput[] = [];
  readonly #constants = new Map<string, Value>();
  readonly #makers = new Map<string, (earlier: readonly Value[]) => Value>();
  #scope = "";
  #serial = 0;

  constructor(options: { readonly float: FloatType; readonly kernels: Kernels }) {
    this.float = options.float;
    this.kernels = options.kernels;
  }

  /** Declares a fed tensor; the same name twice is the same input. */
  input(name: string, type: ElementType, shape: Shape): Value {
    const known = this.#inputs.get(name);
    if (known !== undefined) return known;
    const value = { name, type, shape };
    this.#inputs.set(name, value);
    return value;
  }

  /** A constant tensor: numbers that go into the model, or a place in a weights file. */
  initializer(name: string, type: ElementType, shape: readonly number[], source: { data: NumericArray } | { external: ExternalData }): Value {
    if (this.#initializers.has(name)) throw new RangeError(`the graph already has an initializer ${name}`);
    this.#initializers.set(name, { name, type, shape, source });
    return { name, type, shape };
  }

  /** A scalar, or a vector when given a list. Equal constants are one initializer. */
  constant(value: number | readonly number[], type: ElementType = this.float): Value {
    const numbers = typeof value === "number" ? [value] : value;
    const shape = typeof value === "number" ? [] : [value.length];
    const key = `${type} ${typeof value} ${numbers.join()}`;
    const known = this.#constants.get(key);
    if (known !== undefined) return known;
    const constant = this.initializer(`constant_${this.#constants.size}`, type, shape, { data: numericArray(type, numbers) });
    this.#constants.set(key, constant);
    return constant;
  }

  /** Adds a node with one output of `shape` and `type` (default: the type of its first input). `null` = an optional input left out. */
  node(operator: string, inputs: readonly (Value | null)[], shape: Shape, options: NodeOptions & { readonly type?: ElementType } = {}): Value {
    const type = options.type ?? inputs[0]?.type ?? this.float;
    const [output] = this.nodes(operator, inputs, [{ type, shape }], options);
    if (output === undefined) throw new RangeError(`${operator} has no output`);
    return output;
  }

  /** Adds a node with several outputs. */
  nodes(
    operator: string,
    inputs: readonly (Value | null)[],
    outputs: readonly { readonly type: ElementType; readonly shape: Shape }[],
    options: NodeOptions = {},
  ): Value[] {
    const name = `${this.#scope}${operator}_${this.#serial++}`;
    const values = outputs.map(({ type, shape }, index) => ({ name: outputs.length === 1 ? name : `${name}.${index}`, type, shape }));
    const attributes = Object.fromEntries(
      Object.entries(options.attributes ?? {}).filter((entry): entry is [string, Attribute] => entry[1] !== undefined),
    );
    const inputNames = inputs.map((value) => value?.name ?? "");
    this.#nodes.push({
      name,
      operator,
      domain: options.domain ?? "",
      inputs: inputNames,
      outputs: values.map((value) => value.name),
      attributes,
    });
    return values;
  }

  /** Names nodes made during `work` after a part of the model, for profiles. */
  within<T>(scope: string, work: () => T): T {
    const outer = this.#scope;
    this.#scope = `${outer}${scope}/`;
    try {
      return work();
    } finally {
      this.#scope = outer;
    }
  }

  /**
   * Says how to make a value again where that is cheaper than keeping it from its first use to its last (a widened weight, a norm). What is made
   * with the same nodes as before must wait for `earlier`, or the optimiser takes both for one.
   */
  remade(value: Value, make: (earlier: readonly Value[]) => Value): Value {
    this.#makers.set(value.name, make);
    return value;
  }

  /** The value for a further use, after `earlier` have been computed: made again if it is of that kind. */
  again(value: Value, earlier: readonly Value[]): Value {
    return this.#makers.get(value.name)?.(earlier) ?? value;
  }

  /** Gives a value out under `name`. Gradients are said in the order of the forward pass: it decides when they are computed. */
  output(name: string, value: Value, role: GraphOutput["role"] = "result"): void {
    this.#outputs.push({ name, value, role });
  }

  /** The model without what no output needs. */
  build(): GraphModel {
    const { nodes, needed } = arrangeNodes(this.#nodes, this.#outputs);
    const inputs = [...this.#inputs.values()].filter(({ name }) => needed.has(name));
    const initializers = [...this.#initializers.values()].filter(({ name }) => needed.has(name));
    const outputs = this.#outputs.map(({ name, value }) => ({ name, type: value.type, shape: value.shape }));
    return { bytes: writeModel({ nodes, initializers, inputs, outputs }), inputs, outputs, nodeCount: nodes.length };
  }
}
