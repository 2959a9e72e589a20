/**
 * The vocabulary head with its share of the objective Σ w·log-probability + Σ u·entropy: because the coefficients are given, each chunk of
 * rows computes its logits, its outputs and its gradient by the hidden state at once, and one chunk of [rows, vocabulary] is alive.
 * With z the logits, p = softmax z, H the entropy and t the target: ∂ log p_t/∂z_j = [j = t] − p_j and ∂H/∂z_j = −p_j·(z_j − lse + H).
 */
import { type Graph, knownSize, operations as op, type Value } from "../onnx/index.ts";
import { barrier } from "./checkpoint.ts";
import { plus, type Seed, type Tape } from "./tape.ts";

export interface TokenHead {
  /** [n, 1] each. */
  readonly logprobs: Value;
  readonly entropy: Value | null;
  /** Derivatives of the objective by the hidden states and, if watched, the table. */
  readonly seeds: readonly Seed[];
}

export interface TokenHeadOptions {
  /** w and u, [n, 1]; null = outputs only (or no share of the entropy). */
  readonly coefficients: { readonly logprob: Value; readonly entropy: Value | null } | null;
  readonly withEntropy: boolean;
  /** Rows of logits alive at once. */
  readonly chunk: number;
  /** The table is trained too. */
  readonly trainsTable: boolean;
}

interface Part {
  readonly logprobs: Value;
  readonly entropy: Value | null;
  readonly byHidden: Value | null;
  /** w·[j = t] − p·(w + u·(z − lse + H)). */
  readonly byLogits: Value | null;
  readonly hidden: Value;
}

/** hidden [n, width], table [vocabulary, width], targets int32 [n]. */
export function tokenHead(tape: Tape, hidden: Value, table: Value, targets: Value, options: TokenHeadOptions): TokenHead {
  const { graph } = tape;
  const rows = knownSize(hidden.shape[0]);
  const { coefficients } = options;
  const parts: Part[] = [];
  let byTable: Value | null = null;
  for (let start = 0; start < rows; start += options.chunk) {
    const end = Math.min(rows, start + options.chunk);
    const take = (value: Value): Value => (end - start === rows ? value : op.slice(graph, value, 0, start, end));
    // Behind all that the chunk before it gives: its logits are gone by then.
    const part = headOfChunk(graph, barrier(graph, take(hidden), results(parts.at(-1))), table, take(targets), {
      withEntropy: options.withEntropy,
      logprob: coefficients === null ? null : take(coefficients.logprob),
      entropyShare: coefficients === null || coefficients.entropy === null ? null : take(coefficients.entropy),
    });
    if (options.trainsTable && part.byLogits !== null) byTable = op.gemm(graph, part.byLogits, part.hidden, { transposeLeft: true, addend: byTable });
    parts.push(part);
  }
  const seeds: Seed[] = [];
  const byHidden = parts.flatMap((part) => (part.byHidden === null ? [] : [part.byHidden]));
  if (byHidden.length > 0) seeds.push({ value: hidden, gradient: op.concatenate(graph, byHidden, 0) });
  if (byTable !== null) seeds.push({ value: table, gradient: byTable });
  const entropies = parts.flatMap((part) => (part.entropy === null ? [] : [part.entropy]));
  return {
    logprobs: op.concatenate(
      graph,
      parts.map((part) => part.logprobs),
      0,
    ),
    entropy: entropies.length === 0 ? null : op.concatenate(graph, entropies, 0),
    seeds,
  };
}

function results(part: Part | undefined): readonly Value[] {
  return part === undefined ? [] : [part.byHidden, part.logprobs, part.entropy].filter((value) => value !== null);
}

function headOfChunk(
  graph: Graph,
  hidden: Value,
  table: Value,
  targets: Value,
  options: { readonly withEntropy: boolean; readonly logprob: Value | null; readonly entropyShare: Value | null },
): Part {
  const rows = knownSize(hidden.shape[0]);
  const logits = op.gemm(graph, hidden, table, { transposeRight: true });
  const shares = op.softmax(graph, logits);
  const normaliser = logSumExp(graph, logits, shares);
  const column = op.reshape(graph, targets, [rows, 1]);
  const chosen = op.gatherElements(graph, logits, column);
  const logprobs = op.subtract(graph, chosen, normaliser);
  const entropy =
    options.withEntropy || options.entropyShare !== null
      ? op.subtract(graph, normaliser, op.reduce(graph, "ReduceSum", op.multiply(graph, shares, logits), [1]))
      : null;
  if (options.logprob === null) return { logprobs, entropy, byHidden: null, byLogits: null, hidden };
  let pull = options.logprob;
  if (options.entropyShare !== null && entropy !== null) {
    const surprise = op.add(graph, op.subtract(graph, logits, normaliser), entropy);
    pull = plus(graph, op.multiply(graph, surprise, options.entropyShare), pull);
  }
  const byLogits = op.addToElements(graph, op.multiply(graph, shares, op.negate(graph, pull)), column, options.logprob);
  return { logprobs, entropy, byLogits, byHidden: op.gemm(graph, byLogits, graph.again(table, [byLogits])), hidden };
}

/**
 * log Σ e^z of each row, by the likeliest token: its logit less the logarithm of its share. The shares are summed again in blocks, because
 * float32 loses small terms on a long way: at a vocabulary of 49,152 Softmax is 2e-5 off in the logarithm, ReduceLogSumExp 2e-4.
 */
function logSumExp(graph: Graph, logits: Value, shares: Value): Value {
  const largest = op.reduce(graph, "ReduceMax", logits, [1]);
  const share = op.reduce(graph, "ReduceMax", shares, [1]);
  return op.subtract(graph, largest, op.logarithm(graph, op.divide(graph, share, sumInBlocks(graph, shares))));
}

const longestBlock = 1024;

/** Sum of each row [n, width] → [n, 1]. */
function sumInBlocks(graph: Graph, value: Value): Value {
  const [rows, width] = value.shape.map(knownSize);
  if (rows === undefined || width === undefined) throw new RangeError("a sum of rows wants [rows, width]");
  let block = longestBlock;
  while (width % block !== 0) block -= 1;
  const blocks = op.reduce(graph, "ReduceSum", op.reshape(graph, value, [(rows * width) / block, block]), [1]);
  return op.reduce(graph, "ReduceSum", op.reshape(graph, blocks, [rows, width / block]), [1]);
}
