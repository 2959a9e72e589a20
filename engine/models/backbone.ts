/** The layers of a model as a graph, from token ids to the hidden state after the final norm. How attention is done is given. */
import { gatedUnit, reshape, rmsNorm, type Tape } from "../autodiff/index.ts";
import type { Value } from "../onnx/index.ts";
import type { Layer, ModelDescription, Norm } from "./description.ts";
import type { GraphWeights } from "./graph-weights.ts";

/** Unrotated queries, keys and values [n, heads · head size] → what attention gives, [n, query heads · head size]. */
export type Attend = (tape: Tape, layer: Layer, queries: Value, keys: Value, values: Value) => Value;

/** One layer: x [n, hidden] → [n, hidden]. */
export function layerOutput(tape: Tape, description: ModelDescription, weights: GraphWeights, layer: Layer, input: Value, attend: Attend): Value {
  const { normEpsilon } = description.config;
  const norm = (value: Value, one: Norm): Value => rmsNorm(tape, value, weights.weight(one.weight), normEpsilon);
  const perHead = (value: Value, one: Norm | null): Value => {
    if (one === null) return value;
    const [rows, features] = value.shape;
    const heads = typeof rows === "number" && typeof features === "number" ? (rows * features) / one.width : "heads";
    return reshape(tape, norm(reshape(tape, value, [heads, one.width]), one), value.shape);
  };
  const { query, key, value, output, gate, up, down } = layer.linear;

  const attentionInput = norm(input, layer.attentionNorm);
  const queries = perHead(weights.linear(tape, query, attentionInput), layer.queryNorm);
  const keys = perHead(weights.linear(tape, key, attentionInput), layer.keyNorm);
  const values = weights.linear(tape, value, attentionInput);
  const attended = weights.linear(tape, output, attend(tape, layer, queries, keys, values), input);

  const feedForwardInput = norm(attended, layer.feedForwardNorm);
  const gated = gatedUnit(tape, weights.linear(tape, gate, feedForwardInput), weights.linear(tape, up, feedForwardInput));
  return weights.linear(tape, down, gated, attended);
}

/** The hidden state after the final norm: [n, hidden]. */
export function finalNorm(tape: Tape, description: ModelDescription, weights: GraphWeights, value: Value): Value {
  return rmsNorm(tape, value, weights.weight(description.finalNorm.weight), description.config.normEpsilon);
}
