/** Root-mean-square normalisation. Source: arXiv 1910.07467. */
import { type Graph, knownSize, operations as op, type Value } from "../onnx/index.ts";
import { contribution, once, type Tape } from "./tape.ts";

/** 1 / sqrt(mean(x²) + ε) over the last axis: [n, width] → [n, 1]. */
function inverseRootMeanSquare(graph: Graph, value: Value, epsilon: number): Value {
  const mean = op.scale(graph, op.reduce(graph, "ReduceSumSquare", value, [-1]), 1 / knownSize(value.shape[1]));
  return op.reciprocal(graph, op.squareRoot(graph, op.add(graph, mean, graph.constant(epsilon))));
}

/**
 * x · r · weight with r = 1/rms(x): value [n, width], weight [width]. The result is computed again for the backward pass, which keeps x anyway.
 * Backward with z = dy·x: dx = dy·weight·r − x·r³·(z·weight)/width, dweight = rᵀz; both sums are matrix-vector products.
 */
export function rmsNorm(tape: Tape, value: Value, weight: Value, epsilon: number): Value {
  const { graph } = tape;
  const rows = value.shape[0] ?? 1;
  const width = knownSize(value.shape[1]);
  let result: Value;
  let saved: Value | null = null;
  if (graph.kernels.fusedNorm) {
    const attributes = { axis: -1, epsilon: { float: epsilon }, stash_type: 1 };
    const outputs = graph.kernels.normSavesInverse ? [value.shape, [rows, 1]] : [value.shape];
    const [normed, inverse] = graph.nodes(
      "SimplifiedLayerNormalization",
      [value, weight],
      outputs.map((shape) => ({ type: value.type, shape })),
      { attributes },
    );
    if (normed === undefined) throw new RangeError("the normalisation has no output");
    result = normed;
    saved = inverse ?? null;
  } else {
    saved = inverseRootMeanSquare(graph, value, epsilon);
    result = op.multiply(graph, op.multiply(graph, value, saved), weight);
  }
  const inverseAgain = once(() => saved ?? inverseRootMeanSquare(graph, value, epsilon));
  graph.remade(
    result,
    once(() => op.multiply(graph, op.multiply(graph, value, inverseAgain()), weight)),
  );
  return tape.record(result, [value, weight], (gradient) => {
    const inverse = inverseAgain();
    const product = op.multiply(graph, gradient, value);
    return [
      contribution(graph, () => {
        const projected = graph.node("MatMul", [product, op.reshape(graph, weight, [width, 1])], [rows, 1]);
        const cube = op.multiply(graph, inverse, op.multiply(graph, inverse, inverse));
        const pull = op.multiply(graph, op.scale(graph, projected, 1 / width), cube);
        const direct = op.multiply(graph, op.multiply(graph, gradient, weight), inverse);
        return op.subtract(graph, direct, op.multiply(graph, value, pull));
      }),
      contribution(graph, () => op.reshape(graph, op.gemm(graph, inverse, product, { transposeLeft: true }), [width])),
    ];
  });
}
