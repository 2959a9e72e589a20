/** ONNX operators as functions: values in, value out, shapes worked out here. Nothing in this file knows about gradients. */
import { type ElementType, elementTypes } from "./element-type.ts";
import type { Graph, Value } from "./graph.ts";
import { broadcast, type Dimension, frontAxis, knownSize, type Shape, withDimension } from "./shape.ts";

const elementwise = (operator: string) => (graph: Graph, left: Value, right: Value) =>
  graph.node(operator, [left, right], broadcast(left.shape, right.shape));
const unary = (operator: string) => (graph: Graph, value: Value) => graph.node(operator, [value], value.shape);

export const add = elementwise("Add");
export const subtract = elementwise("Sub");
export const multiply = elementwise("Mul");
export const divide = elementwise("Div");
export const negate = unary("Neg");
export const exponential = unary("Exp");
export const logarithm = unary("Log");
export const squareRoot = unary("Sqrt");
export const reciprocal = unary("Reciprocal");
export const sigmoid = unary("Sigmoid");
export const identity = unary("Identity");

/** x·sigmoid(x), one node. */
export function quickGelu(graph: Graph, value: Value): Value {
  return graph.node("QuickGelu", [value], value.shape, { domain: "com.microsoft", attributes: { alpha: { float: 1 } } });
}

/** value · factor. */
export function scale(graph: Graph, value: Value, factor: number): Value {
  return factor === 1 ? value : multiply(graph, value, graph.constant(factor, value.type));
}

export function cast(graph: Graph, value: Value, type: ElementType): Value {
  return value.type === type ? value : graph.node("Cast", [value], value.shape, { type, attributes: { to: elementTypes[type] } });
}

type Reduction = "ReduceSum" | "ReduceSumSquare" | "ReduceMax";

/** Reduces `axes`, which stay with size 1. */
export function reduce(graph: Graph, operator: Reduction, value: Value, axes: readonly number[]): Value {
  const front = axes.map((axis) => frontAxis(value.shape, axis));
  const shape = value.shape.map((size, index) => (front.includes(index) ? 1 : size));
  return graph.node(operator, [value, graph.constant(front, "int64")], shape, { attributes: { keepdims: 1 } });
}

export function softmax(graph: Graph, value: Value): Value {
  return graph.node("Softmax", [value], value.shape, { attributes: { axis: -1 } });
}

/**
 * Reshapes to `shape`. One dimension may be known only when the graph runs, when the old shape lets it be inferred; for more, give
 * the target as a tensor (`dimensions`).
 */
export function reshape(graph: Graph, value: Value, shape: Shape, target?: Value): Value {
  const inferred = shape.filter((size) => typeof size === "string").length;
  if (target === undefined && inferred > 1) throw new RangeError(`the shape [${shape.join()}] has more than one unknown dimension`);
  const sizes =
    target ??
    graph.constant(
      shape.map((size) => (typeof size === "number" ? size : -1)),
      "int64",
    );
  return graph.node("Reshape", [value, sizes], shape);
}

/** Sizes of a value's dimensions as a vector, for `reshape`: a number stands for itself. */
export function dimensions(graph: Graph, sizes: readonly (number | { readonly of: Value; readonly axis: number })[]): Value {
  const parts = sizes.map((size) =>
    typeof size === "number"
      ? graph.constant([size], "int64")
      : graph.node("Shape", [size.of], [1], { type: "int64", attributes: { start: size.axis, end: size.axis + 1 } }),
  );
  return graph.node("Concat", parts, [sizes.length], { attributes: { axis: 0 } });
}

export function transpose(graph: Graph, value: Value, order: readonly number[]): Value {
  return graph.node(
    "Transpose",
    [value],
    order.map((axis) => value.shape[axis] ?? 1),
    { attributes: { perm: order } },
  );
}

export function concatenate(graph: Graph, values: readonly Value[], axis: number): Value {
  const [first] = values;
  if (first === undefined) throw new RangeError("nothing to concatenate");
  if (values.length === 1) return first;
  const front = frontAxis(first.shape, axis);
  const total = values.reduce((sum, value) => sum + knownSize(value.shape[front]), 0);
  return graph.node("Concat", values, withDimension(first.shape, front, total), { attributes: { axis: front } });
}

/** Cuts `axis` into pieces of `sizes`. */
export function split(graph: Graph, value: Value, sizes: readonly number[], axis: number): Value[] {
  if (sizes.length === 1) return [value];
  const front = frontAxis(value.shape, axis);
  const outputs = sizes.map((size) => ({ type: value.type, shape: withDimension(value.shape, front, size) }));
  return graph.nodes("Split", [value, graph.constant(sizes, "int64")], outputs, { attributes: { axis: front } });
}

/** Elements `start` to `end` (exclusive) of `axis`. */
export function slice(graph: Graph, value: Value, axis: number, start: number, end: number): Value {
  const front = frontAxis(value.shape, axis);
  const bounds = [start, end, front].map((number) => graph.constant([number], "int64"));
  return graph.node("Slice", [value, ...bounds], withDimension(value.shape, front, end - start));
}

/** `value` repeated along its dimensions of size 1. */
export function expand(graph: Graph, value: Value, shape: readonly number[]): Value {
  return graph.node("Expand", [value, graph.constant(shape, "int64")], shape);
}

/** Rows of `table` [rows, width] at `indices` (any shape): [...indices, width]. */
export function gatherRows(graph: Graph, table: Value, indices: Value): Value {
  return graph.node("Gather", [table, indices], [...indices.shape, ...table.shape.slice(1)]);
}

/** One element of each row: value [rows, width], indices [rows, 1] → [rows, 1]. */
export function gatherElements(graph: Graph, value: Value, indices: Value): Value {
  return graph.node("GatherElements", [value, indices], indices.shape, { attributes: { axis: 1 } });
}

/** `base` [rows, width] with `updates` [rows, 1] added to one element of each row: indices [rows, 1]. */
export function addToElements(graph: Graph, base: Value, indices: Value, updates: Value): Value {
  return graph.node("ScatterElements", [base, indices, updates], base.shape, { attributes: { reduction: "add", axis: 1 } });
}

/**
 * `base` [rows, width] with `updates` [n, width] added at row numbers `indices` [n]. ScatterElements, because the CPU kernel of
 * ScatterND races on rows that occur twice.
 */
export function scatterAddRows(graph: Graph, base: Value, indices: Value, updates: Value): Value {
  const shape = updates.shape.map(knownSize);
  const index = expand(graph, reshape(graph, cast(graph, indices, "int64"), [knownSize(indices.shape[0]), 1]), shape);
  return graph.node("ScatterElements", [base, index, updates], base.shape, { attributes: { reduction: "add", axis: 0 } });
}

/** 1 where a row's index says so: indices [n] → [n, width]. */
export function oneHot(graph: Graph, indices: Value, width: number): Value {
  const classes = graph.constant(
    Array.from({ length: width }, (_unused, index) => index),
    "int32",
  );
  const column = reshape(graph, indices, [knownSize(indices.shape[0]), 1]);
  return cast(graph, graph.node("Equal", [column, classes], [knownSize(indices.shape[0]), width], { type: "bool" }), graph.float);
}

export interface ProductOptions {
  /** Use the transpose of the left (right) operand. */
  readonly transposeLeft?: boolean;
  readonly transposeRight?: boolean;
  readonly factor?: number;
}

function productShape(left: Value, right: Value, options: ProductOptions): { rows: Dimension; columns: Dimension } {
  const rank = left.shape.length;
  const [rows, inner] = [left.shape[rank - 2], left.shape[rank - 1]];
  const [rightInner, columns] = [right.shape[rank - 2], right.shape[rank - 1]];
  const innerLeft = options.transposeLeft ? rows : inner;
  const innerRight = options.transposeRight ? columns : rightInner;
  if (innerLeft !== innerRight) throw new RangeError(`a product of [${left.shape.join()}] and [${right.shape.join()}] has no common dimension`);
  return { rows: (options.transposeLeft ? inner : rows) ?? 1, columns: (options.transposeRight ? rightInner : columns) ?? 1 };
}

/** factor · op(left) · op(right) + addend; all [rows, columns], the addend broadcasts. */
export function gemm(graph: Graph, left: Value, right: Value, options: ProductOptions & { readonly addend?: Value | null } = {}): Value {
  const { rows, columns } = productShape(left, right, options);
  const inputs = options.addend === undefined || options.addend === null ? [left, right] : [left, right, options.addend];
  const factor = options.factor ?? 1;
  return graph.node("Gemm", inputs, [rows, columns], {
    attributes: {
      transA: options.transposeLeft ? 1 : undefined,
      transB: options.transposeRight ? 1 : undefined,
      alpha: factor === 1 ? undefined : { float: factor },
    },
  });
}

/** factor · op(left) · op(right) over equal leading dimensions. */
export function matrixProduct(graph: Graph, left: Value, right: Value, options: ProductOptions = {}): Value {
  const { rows, columns } = productShape(left, right, options);
  const shape = [...left.shape.slice(0, -2), rows, columns];
  const factor = options.factor ?? 1;
  const plain = !options.transposeLeft && !options.transposeRight && factor === 1;
  if (graph.kernels.fusedMatMul && !plain) {
    const attributes = { transA: options.transposeLeft ? 1 : 0, transB: options.transposeRight ? 1 : 0, alpha: { float: factor } };
    return graph.node("FusedMatMul", [left, right], shape, { domain: "com.microsoft", attributes });
  }
  const rank = left.shape.length;
  const order = [...Array.from({ length: rank - 2 }, (_unused, axis) => axis), rank - 1, rank - 2];
  const turned = (value: Value, turn: boolean | undefined): Value => (turn ? transpose(graph, value, order) : value);
  return scale(graph, graph.node("MatMul", [turned(left, options.transposeLeft), turned(right, options.transposeRight)], shape), factor);
}
