/**
 * Causal attention in chunks of queries. A chunk sees only the keys up to its own end, so half of the products of full attention are
 * never computed, and its probabilities are either kept for the backward pass or computed there again, one chunk alive at a time.
 * Backward (D = rowsum(dO·O)): dS = P·(dO·Vᵀ − D), dQ = dS·K, dK = dSᵀ·Q, dV = Pᵀ·dO. Source: arXiv 2205.14135.
 */
import { type Graph, knownSize, operations as op, type Shape, type Value } from "../onnx/index.ts";
import { barrier } from "./checkpoint.ts";
import { plus, type Tape } from "./tape.ts";

interface Chunk {
  /** Positions of its queries; its keys are 0 to `end`. */
  readonly start: number;
  readonly end: number;
}

const masked = -1e9;

/** What queries may see, added to the scores; made once and shared by all layers. */
export class CausalMask {
  readonly chunks: readonly Chunk[];
  readonly #graph: Graph;
  readonly #width: number;
  readonly #segments: Value | null;
  readonly #ofChunk = new Map<Chunk, Value>();
  readonly #triangle: Value;

  /** `segments` int32 [rows, width]: tokens of one row see each other only inside a segment; null = each row is one sequence. */
  constructor(graph: Graph, options: { readonly width: number; readonly chunk: number; readonly segments: Value | null }) {
    const { width, chunk } = options;
    this.#graph = graph;
    this.#width = width;
    this.#segments = options.segments;
    this.chunks = Array.from({ length: Math.ceil(width / chunk) }, (_unused, index) => ({
      start: index * chunk,
      end: Math.min(width, (index + 1) * chunk),
    }));
    // Entry [t, column]: may query `start + t` see the key `column − width + start`? Each chunk's mask is a window of it.
    const rows = Math.min(chunk, width);
    const data = graph.float === "float64" ? new Float64Array(rows * (width + rows)) : new Float32Array(rows * (width + rows));
    for (let row = 0; row < rows; row += 1) data.fill(masked, row * (width + rows) + width + row + 1, (row + 1) * (width + rows));
    this.#triangle = graph.initializer("causal_triangle", graph.float, [rows, 1, width + rows], { data });
  }

  /** Broadcasts to [rows, heads, queries, group, keys]. */
  of(chunk: Chunk): Value {
    const known = this.#ofChunk.get(chunk);
    if (known !== undefined) return known;
    const { start, end } = chunk;
    const from = this.#width - start;
    const window = op.slice(this.#graph, op.slice(this.#graph, this.#triangle, 0, 0, end - start), 2, from, from + end);
    const mask = this.#segments === null ? window : this.#sameSegment(this.#segments, chunk, window);
    this.#ofChunk.set(chunk, mask);
    return mask;
  }

  #sameSegment(segments: Value, { start, end }: Chunk, window: Value): Value {
    const rows = knownSize(segments.shape[0]);
    const queries = op.reshape(this.#graph, op.slice(this.#graph, segments, 1, start, end), [rows, 1, end - start, 1, 1]);
    const keys = op.reshape(this.#graph, op.slice(this.#graph, segments, 1, 0, end), [rows, 1, 1, 1, end]);
    const shape: Shape = [rows, 1, end - start, 1, end];
    const same = this.#graph.node("Equal", [queries, keys], shape, { type: "bool" });
    return this.#graph.node("Where", [same, window, this.#graph.constant(masked)], shape, { type: this.#graph.float });
  }
}

export interface AttentionOptions {
  readonly mask: CausalMask;
  /** Query heads that share one key/value head. */
  readonly group: number;
  /** Multiplies the scores: 1/√(head size). */
  readonly factor: number;
  /** false: probabilities are computed again in the backward pass. */
  readonly keepProbabilities: boolean;
}

/**
 * queries [rows, key heads, width · group, head size] with the group inside a position; keys, values [rows, key heads, width, head size]
 * → like queries.
 */
export function causalAttention(tape: Tape, queries: Value, keys: Value, values: Value, options: AttentionOptions): Value {
  const { graph } = tape;
  const { mask, group, factor, keepProbabilities } = options;
  const { chunks } = mask;
  const [rows, heads] = queries.shape.map(knownSize);
  const head = (value: Value, end: number): Value => (end === knownSize(value.shape[2]) ? value : op.slice(graph, value, 2, 0, end));
  const cut = (value: Value): readonly Value[] =>
    op.split(
      graph,
      value,
      chunks.map(({ start, end }) => (end - start) * group),
      2,
    );

  const probabilities = (chunk: Chunk, query: Value, allKeys: Value): Value => {
    const { start, end } = chunk;
    const scores = op.matrixProduct(graph, query, head(allKeys, end), { transposeRight: true, factor });
    const grouped = op.reshape(graph, scores, [rows ?? 1, heads ?? 1, end - start, group, end]);
    const shares = op.softmax(graph, op.add(graph, grouped, mask.of(chunk)));
    return op.reshape(graph, shares, scores.shape);
  };
  const pieces = chunks.map((chunk, index) => ({ chunk, index }));
  const queryPieces = cut(queries);
  const forward = pieces.map(({ chunk, index }) => {
    const shares = probabilities(chunk, piece(queryPieces, index), keys);
    return { shares, attended: op.matrixProduct(graph, shares, head(values, chunk.end)) };
  });
  const output = op.concatenate(
    graph,
    forward.map(({ attended }) => attended),
    2,
  );

  return tape.record(output, [queries, keys, values], (gradient) => {
    // Cut again: kept from the forward pass, the pieces of keys and values would take more than the whole.
    const [keysAgain, valuesAgain] = [barrier(graph, keys, [gradient]), barrier(graph, values, [gradient])];
    const gradientPieces = cut(gradient);
    const dots = cut(op.reduce(graph, "ReduceSum", op.multiply(graph, gradient, output), [-1]));
    const byQuery: Value[] = [];
    const intoKeys = new GrowingSum(graph);
    const intoValues = new GrowingSum(graph);
    let earlier: readonly Value[] = [gradient];
    for (const { chunk, index } of pieces.toReversed()) {
      const query = piece(queryPieces, index);
      const shares = keepProbabilities ? piece(forward, index).shares : probabilities(chunk, barrier(graph, query, earlier), keysAgain);
      const received = piece(gradientPieces, index);
      const byShares = op.matrixProduct(graph, received, head(valuesAgain, chunk.end), { transposeRight: true });
      const byScores = op.multiply(graph, shares, op.subtract(graph, byShares, piece(dots, index)));
      const queryGradient = op.matrixProduct(graph, byScores, head(keysAgain, chunk.end), { factor });
      byQuery[index] = queryGradient;
      intoKeys.add(op.matrixProduct(graph, byScores, query, { transposeLeft: true, factor }), chunk.end);
      intoValues.add(op.matrixProduct(graph, shares, received, { transposeLeft: true }), chunk.end);
      earlier = [queryGradient, intoKeys.head, intoValues.head];
    }
    const totals = [op.concatenate(graph, byQuery, 2), intoKeys.total(), intoValues.total()];
    return totals.map((total) => (accumulated: Value | null) => plus(graph, total, accumulated));
  });
}

function piece<T>(pieces: readonly T[], index: number): T {
  const found = pieces[index];
  if (found === undefined) throw new RangeError(`there is no chunk ${index}`);
  return found;
}

/** Sums of key gradients whose lengths shrink from the last chunk to the first: what a shorter one does not reach is set aside whole. */
class GrowingSum {
  readonly #graph: Graph;
  readonly #tails: Value[] = [];
  #head: Value | null = null;

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  get head(): Value {
    if (this.#head === null) throw new RangeError("nothing has been added");
    return this.#head;
  }

  /** `value` covers the first `end` positions of axis 2. */
  add(value: Value, end: number): void {
    if (this.#head === null) {
      this.#head = value;
      return;
    }
    const [reached, beyond] = op.split(this.#graph, this.#head, [end, knownSize(this.#head.shape[2]) - end], 2);
    if (reached === undefined || beyond === undefined) throw new RangeError("a longer sum has a part beyond");
    this.#tails.unshift(beyond);
    this.#head = op.add(this.#graph, reached, value);
  }

  total(): Value {
    return op.concatenate(this.#graph, [this.head, ...this.#tails], 2);
  }
}
