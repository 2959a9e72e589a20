/**
 * The graph that samples: `length` new tokens of each lane against a key/value cache that is updated in place. One graph does prefill
 * (one lane, many tokens) and decoding (all lanes, one token), so that constant weights are repacked once.
 *
 * Inputs: `tokens` int32 [lanes, length]; `last_index` int32 [lanes], for each lane its tokens so far, new ones included, less one;
 * `total` int32, the largest of these plus one; for each layer
 * `past.<layer>.keys|values` [lanes, key heads, capacity, head size]; and the adapter's matrices.
 * Outputs: `logits` [lanes, vocabulary] after the last token of each lane, and `present.<layer>.keys|values`, to be fetched into the arrays that are fed.
 */
import { Tape } from "../autodiff/index.ts";
import { Graph, type GraphModel, type Kernels, operations as op, type Value } from "../onnx/index.ts";
import type { AdapterShape } from "./adapter.ts";
import { type Attend, finalNorm, layerOutput } from "./backbone.ts";
import type { ModelDescription } from "./description.ts";
import { GraphWeights } from "./graph-weights.ts";
import type { ModelWeights } from "./model-weights.ts";
import { ropeTable } from "./rope.ts";

export interface DecodingGraphOptions {
  readonly description: ModelDescription;
  readonly weights: ModelWeights;
  readonly adapter: AdapterShape | null;
  /** Tokens that a lane can hold. */
  readonly capacity: number;
  readonly kernels: Kernels;
}

export const cacheNames = (layer: number): { readonly past: readonly string[]; readonly present: readonly string[] } => ({
  past: [`past.${layer}.keys`, `past.${layer}.values`],
  present: [`present.${layer}.keys`, `present.${layer}.values`],
});

export function buildDecodingGraph(options: DecodingGraphOptions): GraphModel {
  const { description, capacity } = options;
  const graph = new Graph({ float: "float32", kernels: options.kernels });
  const tape = new Tape(graph);
  const weights = new GraphWeights(tape, { ...options, trained: "nothing", narrow: false });
  const tokens = graph.input("tokens", "int32", ["lanes", "length"]);
  const attend = cachedAttention(graph, description, capacity, tokens);
  let value = weights.rows(tape, description.embedding, op.reshape(graph, tokens, ["tokens"]));
  for (const layer of description.layers) {
    value = graph.within(`layer${layer.index}`, () => layerOutput(tape, description, weights, layer, value, attend));
  }
  const last = lastTokens(graph, value, tokens, description.config.hiddenSize);
  const normed = finalNorm(tape, description, weights, last);
  graph.output("logits", op.gemm(graph, normed, weights.weight(description.head), { transposeRight: true }));
  return graph.build();
}

function cachedAttention(graph: Graph, description: ModelDescription, capacity: number, tokens: Value): Attend {
  const { headCount, keyValueHeadCount, headSize } = description.config;
  const lastIndex = graph.input("last_index", "int32", ["lanes"]);
  const total = graph.input("total", "int32", []);
  const table = (name: string, of: (angle: number) => number): Value =>
    graph.initializer(name, "float32", [capacity, headSize / 2], { data: Float32Array.from(ropeTable(description.config, capacity, of)) });
  const rotation = [table("rope.cosine", Math.cos), table("rope.sine", Math.sin)];
  const sizes = new Map<number, Value>();
  const perLane = (value: Value, features: number): Value => {
    const known = sizes.get(features) ?? op.dimensions(graph, [{ of: tokens, axis: 0 }, { of: tokens, axis: 1 }, features]);
    sizes.set(features, known);
    return op.reshape(graph, value, ["lanes", "length", features], known);
  };
  return (_tape, layer, queries, keys, values) => {
    const shape = ["lanes", keyValueHeadCount, capacity, headSize];
    const names = cacheNames(layer.index);
    const past = names.past.map((name) => graph.input(name, "float32", shape));
    const [query, other] = [headCount * headSize, keyValueHeadCount * headSize];
    const [attended, ...present] = graph.nodes(
      "GroupQueryAttention",
      [perLane(queries, query), perLane(keys, other), perLane(values, other), ...past, lastIndex, total, ...rotation],
      [{ shape: ["lanes", "length", query] }, { shape }, { shape }].map((one) => ({ type: "float32" as const, ...one })),
      {
        domain: "com.microsoft",
        attributes: { num_heads: headCount, kv_num_heads: keyValueHeadCount, do_rotary: 1, scale: { float: headSize ** -0.5 } },
      },
    );
    if (attended === undefined) throw new RangeError("attention has no output");
    names.present.forEach((name, index) => {
      const value = present[index];
      if (value !== undefined) graph.output(name, value);
    });
    return op.reshape(graph, attended, ["tokens", query]);
  };
}

/** The last row of each lane: [lanes·length, hidden] → [lanes, hidden]. */
function lastTokens(graph: Graph, value: Value, tokens: Value, width: number): Value {
  const sizes = op.dimensions(graph, [{ of: tokens, axis: 0 }, { of: tokens, axis: 1 }, width]);
  const perLane = op.reshape(graph, value, ["lanes", "length", width], sizes);
  return graph.node("Gather", [perLane, graph.constant(-1, "int64")], ["lanes", width], { attributes: { axis: 1 } });
}
