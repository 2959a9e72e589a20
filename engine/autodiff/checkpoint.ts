/**
 * Gradient checkpoints inside the graph: a part of the model runs forward without keeping its activations and is emitted a second time
 * for the backward pass. Source: arXiv 1604.06174.
 */
import { type Graph, operations as op, type Value } from "../onnx/index.ts";
import { plus, Tape } from "./tape.ts";

/** Fed with 0. A run-time input: the optimiser can neither fold the barrier away nor merge the second computation with the first. */
export const zeroInput = "zero";

/** `value` unchanged, but not before `earlier` have been computed. */
export function barrier(graph: Graph, value: Value, earlier: readonly Value[]): Value {
  const zero = graph.input(zeroInput, graph.float, [1]);
  const firsts = earlier.map((other) => {
    const rank = other.shape.length;
    const bounds = [Array<number>(rank).fill(0), Array<number>(rank).fill(1)].map((numbers) => graph.constant(numbers, "int64"));
    const corner = graph.node("Slice", [other, ...bounds], Array<number>(rank).fill(1));
    return op.reshape(graph, corner, [1]);
  });
  const [first, ...rest] = firsts;
  if (first === undefined) return value;
  const sum = rest.reduce((total, next) => op.add(graph, total, next), first);
  return op.add(graph, value, op.multiply(graph, sum, zero));
}

/** `compute(value)` of which only input and output stay in memory. Values watched before and read in it get their gradients. */
export function checkpoint(tape: Tape, value: Value, compute: (tape: Tape, value: Value) => Value): Value {
  const { graph } = tape;
  const record = (input: Value): { inner: Tape; output: Value } => {
    const inner = new Tape(graph);
    for (const watched of tape.watched) inner.watch(watched);
    inner.watch(input);
    return { inner, output: compute(inner, input) };
  };
  const first = record(value);
  const parameters = first.inner.watchedInUse().filter(({ name }) => name !== value.name);
  return tape.record(first.output, [value, ...parameters], (gradient) => {
    const again = barrier(graph, value, [gradient]);
    const second = record(again);
    const gradients = second.inner.gradients([{ value: second.output, gradient }]);
    return [again, ...parameters].map((input) => {
      const own = gradients.of(input);
      return own === null ? null : (accumulated: Value | null) => plus(graph, own, accumulated);
    });
  });
}
