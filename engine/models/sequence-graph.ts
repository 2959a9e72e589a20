/**
 * Graphs over whole sequences of one bucket (rows × width). Scoring gives log-probabilities, entropy and values; training gives
 * the gradients of Σ w·log-probability + Σ u·entropy + Σ z·value as well. The coefficients w, u, z are inputs: the algorithms are plain
 * functions over the scores (engine/algorithms), whose derivatives are just these coefficients.
 *
 * Inputs: `tokens` int32 [rows, width]; `targets` int32 [rows·width], the token after each (anything where the coefficient is 0);
 * `inverse_temperature` [1]: logits are multiplied by it, so that scores are those of the distribution that was sampled from;
 * `weight.logprob`, `weight.entropy`, `weight.value` [rows·width, 1]; `segments`, `positions` [rows, width] when sequences are packed;
 * and every trained matrix. Outputs: `logprobs`, `entropy`, `values` [rows·width, 1], `gradient:<name>`.
 */
import {
  barrier,
  CausalMask,
  causalAttention,
  checkpoint,
  gemm,
  type CausalMask as Mask,
  multiply,
  type RotaryTables,
  reshape,
  rotary,
  type Seed,
  Tape,
  tokenHead,
  transpose,
} from "../autodiff/index.ts";
import { type FloatType, Graph, type GraphModel, type Kernels, operations as op, type Value } from "../onnx/index.ts";
import type { AdapterShape } from "./adapter.ts";
import { type Attend, finalNorm, layerOutput } from "./backbone.ts";
import type { ModelDescription } from "./description.ts";
import { GraphWeights, type Trained } from "./graph-weights.ts";
import type { ModelWeights } from "./model-weights.ts";
import { ropeTable } from "./rope.ts";

export interface SequenceGraphOptions {
  readonly description: ModelDescription;
  /** null: all weights are fed. */
  readonly weights: ModelWeights | null;
  readonly adapter: AdapterShape | null;
  /** `nothing` = scoring. */
  readonly trained: Trained;
  readonly rows: number;
  readonly width: number;
  /** Several sequences may share a row. */
  readonly packed: boolean;
  readonly withEntropy: boolean;
  readonly withValues: boolean;
  /** Also the logits [rows·width, vocabulary]; for checks on small models. */
  readonly withLogits: boolean;
  readonly memory: MemoryPlan;
  readonly float: FloatType;
  readonly kernels: Kernels;
}

/** Ways to spend time instead of memory. */
export interface MemoryPlan {
  /** Queries of attention that are computed at once, at most. */
  readonly attentionChunk: number;
  /** Rows of logits alive at once. */
  readonly headChunk: number;
  readonly keepProbabilities: boolean;
  /** Keep only the layers' inputs and compute the rest again in the backward pass. */
  readonly checkpointLayers: boolean;
  /** Leave weights of 16 bits narrow. */
  readonly narrowWeights: boolean;
}

/**
 * Queries of attention in one chunk. Short chunks skip more of what the mask hides; below 128 products get slow, and beyond 8 chunks a row the
 * sums of their gradients cost more than is skipped.
 */
export function queriesAtOnce({ attentionChunk }: Pick<MemoryPlan, "attentionChunk">, width: number): number {
  return Math.min(width, attentionChunk, Math.max(128, Math.ceil(width / 8)));
}

export const coefficientInputs = { logprob: "weight.logprob", entropy: "weight.entropy", value: "weight.value" } as const;
/** Weights of the value head, always fed where there is one. */
export const valueHeadInputs = { weight: "score.weight", bias: "score.bias" } as const;

export const inverseTemperatureInput = "inverse_temperature";

export const gradientOutput = (name: string): string => `gradient:${name}`;

export function buildSequenceGraph(options: SequenceGraphOptions): GraphModel {
  const { description, rows, width, trained } = options;
  const graph = new Graph(options);
  const tape = new Tape(graph);
  const count = rows * width;
  const weights = new GraphWeights(tape, { ...options, narrow: options.memory.narrowWeights });
  const valueHead = options.withValues ? declareValueHead(tape, description, trained) : null;
  const tokens = graph.input("tokens", "int32", [rows, width]);
  const hidden = hiddenStates(tape, options, weights, tokens);
  const training = trained !== "nothing";
  const coefficient = (name: string): Value => graph.input(name, graph.float, [count, 1]);

  const seeds: Seed[] = [];
  // Logits of h/T are logits/T: one row is scaled, not the whole vocabulary.
  const tempered = multiply(tape, hidden, graph.input(inverseTemperatureInput, graph.float, [1]));
  const head = tokenHead(tape, tempered, weights.weight(description.head), graph.input("targets", "int32", [count]), {
    coefficients: training
      ? { logprob: coefficient(coefficientInputs.logprob), entropy: options.withEntropy ? coefficient(coefficientInputs.entropy) : null }
      : null,
    withEntropy: options.withEntropy,
    chunk: options.memory.headChunk,
    trainsTable: trained === "weights",
  });
  seeds.push(...head.seeds);
  const values = valueHead === null ? null : gemm(tape, hidden, valueHead.weight, { transposeRight: true, addend: valueHead.bias });
  if (values !== null && training) seeds.push({ value: values, gradient: coefficient(coefficientInputs.value) });

  const gradients = tape.gradients(seeds);
  if (training) {
    for (const parameter of tape.watched) {
      const gradient = gradients.of(parameter);
      if (gradient === null) throw new RangeError(`the objective does not depend on ${parameter.name}`);
      graph.output(gradientOutput(parameter.name), gradient, "gradient");
    }
  }
  graph.output("logprobs", head.logprobs);
  if (head.entropy !== null) graph.output("entropy", head.entropy);
  if (values !== null) graph.output("values", values);
  if (options.withLogits) graph.output("logits", op.gemm(graph, hidden, weights.weight(description.head), { transposeRight: true }));
  return graph.build();
}

/** v = h·weightᵀ + bias, h after the final norm. */
function declareValueHead(tape: Tape, description: ModelDescription, trained: Trained): { weight: Value; bias: Value } {
  const { graph } = tape;
  const declare = (name: string, shape: readonly number[]): Value => {
    const value = graph.input(name, graph.float, shape);
    return trained === "nothing" ? value : tape.watch(value);
  };
  return { weight: declare(valueHeadInputs.weight, [1, description.config.hiddenSize]), bias: declare(valueHeadInputs.bias, [1]) };
}

/** tokens [rows, width] → [rows·width, hidden]. */
function hiddenStates(tape: Tape, options: SequenceGraphOptions, weights: GraphWeights, tokens: Value): Value {
  const { graph } = tape;
  const { description, rows, width, memory, packed } = options;
  const segments = packed ? graph.input("segments", "int32", [rows, width]) : null;
  const mask = new CausalMask(graph, { width, chunk: queriesAtOnce(memory, width), segments });
  const attend = attention(options, mask, rotaryTables(graph, options));
  let value = weights.rows(tape, description.embedding, op.reshape(graph, tokens, [rows * width]));
  for (const layer of description.layers) {
    value = graph.within(`layer${layer.index}`, () => {
      const compute = (inner: Tape, input: Value): Value => layerOutput(inner, description, weights, layer, input, attend);
      return memory.checkpointLayers ? checkpoint(tape, value, compute) : compute(tape, value);
    });
  }
  return finalNorm(tape, description, weights, value);
}

function rotaryTables(graph: Graph, { description, width, packed, rows }: SequenceGraphOptions): RotaryTables {
  const table = (name: string, of: (angle: number) => number): Value => {
    const numbers = ropeTable(description.config, width, of);
    const data = graph.float === "float64" ? numbers : Float32Array.from(numbers);
    return graph.initializer(name, graph.float, [width, description.config.headSize / 2], { data });
  };
  return {
    cosine: table("rope.cosine", Math.cos),
    sine: table("rope.sine", Math.sin),
    negatedSine: table("rope.negated_sine", (angle) => -Math.sin(angle)),
    positions: packed ? graph.input("positions", "int64", [rows, width]) : null,
  };
}

function attention(options: SequenceGraphOptions, mask: Mask, tables: RotaryTables): Attend {
  const { rows, width, memory } = options;
  const { headCount, keyValueHeadCount: heads, headSize } = options.description.config;
  const group = headCount / heads;
  return (tape, _layer, queries, keys, values) => {
    const rotated = (value: Value, features: number): Value => rotary(tape, reshape(tape, value, [rows, width, features]), tables);
    // [rows, width, heads, group, head size] → [rows, heads, width, group, head size]: a key head's queries lie together.
    const grouped = transpose(tape, reshape(tape, rotated(queries, headCount * headSize), [rows, width, heads, group, headSize]), [0, 2, 1, 3, 4]);
    const byHead = (value: Value): Value => transpose(tape, reshape(tape, value, [rows, width, heads, headSize]), [0, 2, 1, 3]);
    const attended = causalAttention(
      tape,
      reshape(tape, grouped, [rows, heads, width * group, headSize]),
      byHead(rotated(keys, heads * headSize)),
      byHead(values),
      { mask, group, factor: headSize ** -0.5, keepProbabilities: memory.keepProbabilities },
    );
    const byToken = (inner: Tape, value: Value): Value => {
      const back = transpose(inner, reshape(inner, value, [rows, heads, width, group, headSize]), [0, 2, 1, 3, 4]);
      return reshape(inner, back, [rows * width, headCount * headSize]);
    };
    // Attention keeps its output by head; the other layout is made of it again.
    return tape.graph.remade(byToken(tape, attended), (earlier) => byToken(new Tape(tape.graph), barrier(tape.graph, attended, earlier)));
  };
}
