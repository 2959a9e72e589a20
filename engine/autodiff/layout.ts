/** Differentiable changes of layout. */
import { knownSize, operations as op, type Shape, type Value } from "../onnx/index.ts";
import { contribution, type Tape } from "./tape.ts";

export function reshape(tape: Tape, value: Value, shape: Shape): Value {
  const { graph } = tape;
  return tape.record(op.reshape(graph, value, shape), [value], (gradient) => [
    contribution(graph, () => op.reshape(graph, gradient, value.shape.map(knownSize))),
  ]);
}

export function transpose(tape: Tape, value: Value, order: readonly number[]): Value {
  const { graph } = tape;
  const inverse = order.map((_axis, position) => order.indexOf(position));
  return tape.record(op.transpose(graph, value, order), [value], (gradient) => [contribution(graph, () => op.transpose(graph, gradient, inverse))]);
}
