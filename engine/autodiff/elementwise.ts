/** Differentiable arithmetic. Operands broadcast; a gradient is summed back to its operand's shape. */
import { type Graph, operations as op, type Shape, type Value } from "../onnx/index.ts";
import { contribution, type Tape } from "./tape.ts";

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
 * silu(gate) · up, silu(x) = x·sigmoid(x). Source: arXiv 2002.05202 (SwiGLU). Where one operator computes silu, only gate and up are kept
 * for the backward pass: sigmoid and silu are computed again there, which costs next to nothing.
 */
export function gatedUnit(tape: Tape, gate: Value, up: Value): Value {
  const { graph } = tape;
  const fused = graph.kernels.quickGelu;
  const opened = fused ? null : op.sigmoid(graph, gate);
  const activated = opened === null ? op.quickGelu(graph, gate) : op.multiply(graph, gate, opened);
  return tape.record(op.multiply(graph, activated, up), [gate, up], (gradient) => {
    const share = opened ?? op.sigmoid(graph, gate);
    const silu = opened === null ? op.multiply(graph, gate, share) : activated;
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
