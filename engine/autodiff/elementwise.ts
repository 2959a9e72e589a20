/** Differentiable arithmetic. Operands broadcast; a gradient is summed back to its operand's shape. */
import { type Graph, operations as op, type Shape, type Value } from "../onnx/index.ts";
import { contribution, once, type Tape } from "./tape.ts";

/** Sums a gradient over the dimensions along which an operand of `shape` was repeated. */
export function sumToShape(graph: Graph, gradient: Value, shape: Shape): Value {
  const lead = gradient.shape.length - shape.length;
  const repeated = gradient.shape.flatMap((size, axis) => (axis < lead || (shape[axis - lead] === 1 && size !== 1) ? [axis] : []));
  if (repeated.length === 0) return gradient;
  const sum = op.reduce(graph, "ReduceSum", gradient, repeated);
  return lead === 0 ? sum : op.reshape(graph, sum, shape);
}

export function add(tape: Tape, left: Value, right: Value): Value {
  const { graph } = tape;
  return tape.record(op.add(graph, left, right), [left, right], (gradient) => [
    contribution(graph, () => sumToShape(graph, gradient, left.shape)),
    contribution(graph, () => sumToShape(graph, gradient, right.shape)),
  ]);
}

export function subtract(tape: Tape, left: Value, right: Value): Value {
  const { graph } = tape;
  return tape.record(op.subtract(graph, left, right), [left, right], (gradient) => [
    contribution(graph, () => sumToShape(graph, gradient, left.shape)),
    contribution(graph, () => sumToShape(graph, op.negate(graph, gradient), right.shape)),
  ]);
}

export function multiply(tape: Tape, left: Value, right: Value): Value {
  const { graph } = tape;
  return tape.record(op.multiply(graph, left, right), [left, right], (gradient) => [
    contribution(graph, () => sumToShape(graph, op.multiply(graph, gradient, right), left.shape)),
    contribution(graph, () => sumToShape(graph, op.multiply(graph, gradient, left), right.shape)),
  ]);
}

export function divide(tape: Tape, left: Value, right: Value): Value {
  const { graph } = tape;
  const quotient = op.divide(graph, left, right);
  return tape.record(quotient, [left, right], (gradient) => [
    contribution(graph, () => sumToShape(graph, op.divide(graph, gradient, right), left.shape)),
    contribution(graph, () => sumToShape(graph, op.negate(graph, op.divide(graph, op.multiply(graph, gradient, quotient), right)), right.shape)),
  ]);
}

export function exponential(tape: Tape, value: Value): Value {
  const { graph } = tape;
  const result = op.exponential(graph, value);
  return tape.record(result, [value], (gradient) => [contribution(graph, () => op.multiply(graph, gradient, result))]);
}

export function logarithm(tape: Tape, value: Value): Value {
  const { graph } = tape;
  return tape.record(op.logarithm(graph, value), [value], (gradient) => [contribution(graph, () => op.divide(graph, gradient, value))]);
}

/** Sum over `axes`, which stay with size 1. */
export function sum(tape: Tape, value: Value, axes: readonly number[]): Value {
  const { graph } = tape;
  const shape = value.shape.map((size) => (typeof size === "number" ? size : 1));
  return tape.record(op.reduce(graph, "ReduceSum", value, axes), [value], (gradient) => [
    contribution(graph, () => op.expand(graph, gradient, shape)),
  ]);
}

/**
 * silu(gate) · up, silu(x) = x·sigmoid(x). Source: arXiv 2002.05202 (SwiGLU). Only gate and up are kept for the backward pass: sigmoid,
 * silu and the product are computed again there, which costs next to nothing.
 */
export function gatedUnit(tape: Tape, gate: Value, up: Value): Value {
  const { graph } = tape;
  const activated = graph.kernels.quickGelu ? op.quickGelu(graph, gate) : op.multiply(graph, gate, op.sigmoid(graph, gate));
  const again = once(() => {
    const share = op.sigmoid(graph, gate);
    return { share, silu: op.multiply(graph, gate, share) };
  });
  const result = graph.remade(
    op.multiply(graph, activated, up),
    once(() => op.multiply(graph, again().silu, up)),
  );
  return tape.record(result, [gate, up], (gradient) => {
    const { share, silu } = again();
    return [
      contribution(graph, () => {
        // d silu = σ + silu·(1 − σ)
        const closed = op.subtract(graph, graph.constant(1), share);
        return op.multiply(graph, op.multiply(graph, gradient, up), op.add(graph, share, op.multiply(graph, silu, closed)));
      }),
      contribution(graph, () => op.multiply(graph, gradient, silu)),
    ];
  });
}
