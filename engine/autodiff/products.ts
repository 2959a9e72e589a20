/** Differentiable matrix products and row lookup. */
import { knownSize, operations as op, type Value } from "../onnx/index.ts";
import { sumToShape } from "./elementwise.ts";
import { contribution, type Tape } from "./tape.ts";

export interface GemmOptions {
  readonly transposeLeft?: boolean;
  readonly transposeRight?: boolean;
  readonly factor?: number;
  /** Broadcasts to the result. */
  readonly addend?: Value | null;
}

/** factor · op(left) · op(right) + addend, all [rows, columns]. Gradients accumulate in the products' own addend. */
export function gemm(tape: Tape, left: Value, right: Value, options: GemmOptions = {}): Value {
  const { graph } = tape;
  const { transposeLeft = false, transposeRight = false, factor = 1, addend = null } = options;
  return tape.record(op.gemm(graph, left, right, options), [left, right, addend], (gradient) => [
    (accumulated) => {
      const other = graph.again(right, [gradient]);
      return transposeLeft
        ? op.gemm(graph, other, gradient, { transposeLeft: transposeRight, transposeRight: true, factor, addend: accumulated })
        : op.gemm(graph, gradient, other, { transposeRight: !transposeRight, factor, addend: accumulated });
    },
    (accumulated) => {
      const other = graph.again(left, [gradient]);
      return transposeRight
        ? op.gemm(graph, gradient, other, { transposeLeft: true, transposeRight: transposeLeft, factor, addend: accumulated })
        : op.gemm(graph, other, gradient, { transposeLeft: !transposeLeft, factor, addend: accumulated });
    },
    addend === null ? null : contribution(graph, () => sumToShape(graph, gradient, addend.shape)),
  ]);
}

/** Tables with at most so many rows get their gradient as a product with one-hot rows, which is then less work than scattering one by one. */
const largestOneHot = 512;

/** Rows of `table` [rows, width] at `indices` [n] → [n, width]. */
export function gatherRows(tape: Tape, table: Value, indices: Value): Value {
  const { graph } = tape;
  return tape.record(op.gatherRows(graph, table, indices), [table, indices], (gradient) => [
    (accumulated) => addRows(tape, table, indices, gradient, accumulated),
    null,
  ]);
}

/** Gradient of a table whose rows `indices` [n] received `updates` [n, width], on top of what has accumulated. */
function addRows(tape: Tape, table: Value, indices: Value, updates: Value, accumulated: Value | null): Value {
  const { graph } = tape;
  const shape = table.shape.map(knownSize);
  const rows = knownSize(table.shape[0]);
  if (rows <= largestOneHot) return op.gemm(graph, op.oneHot(graph, indices, rows), updates, { transposeLeft: true, addend: accumulated });
  return op.scatterAddRows(graph, accumulated ?? op.expand(graph, graph.constant(0), shape), indices, updates);
}
