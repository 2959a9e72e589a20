/** Rotary position embedding in halves: (a, b) → (a·cos − b·sin, b·cos + a·sin). Source: arXiv 2104.09864, layout of Hugging Face. */
import { type Graph, knownSize, operations as op, type Value } from "../onnx/index.ts";
import { contribution, type Tape } from "./tape.ts";

/** Tables [positions, head size / 2]; `negatedSine` turns the other way, which is what gradients do. */
export interface RotaryTables {
  readonly cosine: Value;
  readonly sine: Value;
  readonly negatedSine: Value;
  /** Row of the tables for each token: int64 [rows, width]; null = 0, 1, 2 … in every row. */
  readonly positions: Value | null;
}

/** Turns every head of `value` [rows, width, heads · head size]. */
export function rotary(tape: Tape, value: Value, tables: RotaryTables): Value {
  const { graph } = tape;
  return tape.record(turn(graph, value, tables, tables.sine), [value], (gradient) => [
    contribution(graph, () => turn(graph, gradient, tables, tables.negatedSine)),
  ]);
}

function turn(graph: Graph, value: Value, tables: RotaryTables, sine: Value): Value {
  if (graph.kernels.rotaryEmbedding) {
    const positions = tables.positions ?? graph.constant([0], "int64");
    return graph.node("RotaryEmbedding", [value, positions, tables.cosine, sine], value.shape, { domain: "com.microsoft" });
  }
  const [rows, width, features] = value.shape.map(knownSize);
  const half = knownSize(tables.cosine.shape[1]);
  if (rows === undefined || width === undefined || features === undefined) throw new RangeError("rotary embedding wants [rows, width, features]");
  const atPositions = (table: Value): Value => {
    const positions = tables.positions ?? graph.constant(counting(width), "int64");
    return op.reshape(graph, op.gatherRows(graph, table, positions), [tables.positions === null ? 1 : rows, width, 1, half]);
  };
  const heads = op.reshape(graph, value, [rows, width, features / (2 * half), 2 * half]);
  const [first, second] = op.split(graph, heads, [half, half], -1);
  if (first === undefined || second === undefined) throw new RangeError("a head has two halves");
  const [cosine, rotated] = [atPositions(tables.cosine), atPositions(sine)];
  const turned = [
    op.subtract(graph, op.multiply(graph, first, cosine), op.multiply(graph, second, rotated)),
    op.add(graph, op.multiply(graph, second, cosine), op.multiply(graph, first, rotated)),
  ];
  return op.reshape(graph, op.concatenate(graph, turned, -1), [rows, width, features]);
}

function counting(length: number): number[] {
  return Array.from({ length }, (_unused, index) => index);
}
