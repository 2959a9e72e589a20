/**
 * What a training step will take, computed before it starts, and the cheapest way in time that fits a budget. Counts tensors that are alive at
 * the same moment; measured peaks lie within about a tenth of it (memory.test.ts)
 */
import { type AdapterShape, adapterShapes, type MemoryPlan, type ModelDescription, queriesAtOnce, weightShapes } from "../models/index.ts";

/** One size of batch. */
export interface BatchSize {
  readonly description: ModelDescription;
  readonly adapter: AdapterShape | null;
  readonly rows: number;
  readonly width: number;
}

export interface TrainingSize extends BatchSize {
  readonly trained: "adapter" | "weights";
  /** Bytes a stored weight takes: 4 for float32, 2 for bfloat16 kept narrow. */
  readonly weightBytes: 2 | 4;
}

/** Bytes. */
export interface MemoryEstimate {
  /** Node and ONNX Runtime themselves. */
  readonly process: number;
  /** Frozen weights: mapped from their files and evictable. */
  readonly mappedWeights: number;
  readonly parameters: number;
  /** Gradients of a micro-batch and their sum. */
  readonly gradients: number;
  readonly optimiser: number;
  /** What the backward pass needs of the forward pass. */
  readonly activations: number;
  /** Logits of one chunk and what is computed from them. */
  readonly head: number;
  readonly total: number;
}

const float = 4;
/** Measured, Node 20 and ONNX Runtime 1.30 with a few models' sessions. */
const processBytes = 125e6;

export function estimateMemory(size: TrainingSize, plan: MemoryPlan): MemoryEstimate {
  const { description, adapter, trained } = size;
  const all = elements(weightShapes(description));
  const parameters = float * (trained === "weights" ? all : elements(adapterShapes(description, adapter ?? new Map())));
  const mappedWeights = trained === "weights" ? 0 : size.weightBytes * all;
  const standing = { process: processBytes, mappedWeights, parameters, gradients: 2 * parameters, optimiser: 2 * parameters };
  const parts = { ...standing, activations: activationBytes(size, plan), head: headBytes(size, plan) };
  return { ...parts, total: Object.values(parts).reduce((sum, bytes) => sum + bytes, 0) };
}

/** What an open session of one size of batch holds on to. Scoring keeps nothing for a backward pass. */
export function sessionBytes(size: BatchSize, plan: MemoryPlan, kind: "training" | "scoring"): number {
  return headBytes(size, plan) + (kind === "training" ? activationBytes(size, plan) : workBytes(size, plan));
}

function activationBytes(size: BatchSize, plan: MemoryPlan): number {
  const { layerCount, hiddenSize } = size.description.config;
  const kept = plan.checkpointLayers ? float * size.rows * size.width * hiddenSize : layerBytes(size, plan);
  return layerCount * kept + workBytes(size, plan);
}

/** What the layer at work has besides, more of it backward than forward. */
const workBytes = (size: BatchSize, plan: MemoryPlan): number => 2.5 * layerBytes(size, plan);

const layerBytes = (size: BatchSize, plan: MemoryPlan): number => float * size.rows * size.width * layerNumbers(size, plan);

/** Logits, shares, their product with the coefficients, and one more on the way. */
function headBytes({ description, rows, width }: BatchSize, plan: MemoryPlan): number {
  return 4 * float * Math.min(plan.headChunk, rows * width) * description.config.vocabularySize;
}

function elements(shapes: ReadonlyMap<string, readonly number[]>): number {
  return [...shapes.values()].reduce((sum, shape) => sum + shape.reduce((product, length) => product * length, 1), 0);
}

/** Numbers a token and layer that stay from forward to backward pass. */
function layerNumbers({ description, adapter, width }: BatchSize, plan: MemoryPlan): number {
  const { hiddenSize, headCount, keyValueHeadCount, headSize, feedForwardSize, queryKeyNorm } = description.config;
  const [queries, keys] = [headCount * headSize, keyValueHeadCount * headSize];
  // The inputs of both norms; queries, keys and values as attention reads them, and raw where they are normalised; attention's output.
  // Norms, the gated product and the output's other layout are computed again.
  const normalised = queryKeyNorm ? queries + keys : 0;
  const attention = 2 * hiddenSize + queries + 2 * keys + normalised + queries;
  const probabilities = plan.keepProbabilities ? (headCount * (width + queriesAtOnce(plan, width))) / 2 : 0;
  // Gate and up.
  const feedForward = 2 * feedForwardSize;
  const lora = [...(adapter ?? [])].reduce((sum, [, { rank }]) => sum + rank, 0) / description.config.layerCount;
  return attention + probabilities + feedForward + lora;
}

/** From fast to frugal. A head chunk holds 8 million logits at most: twice as many are no faster. */
export function memoryPlans(description: ModelDescription, narrowWeights: boolean): readonly MemoryPlan[] {
  const headChunk = Math.max(32, Math.min(1024, 2 ** Math.floor(Math.log2(2 ** 23 / description.config.vocabularySize))));
  const fast: MemoryPlan = { attentionChunk: 256, headChunk, keepProbabilities: true, checkpointLayers: false, narrowWeights };
  return [
    fast,
    { ...fast, keepProbabilities: false },
    { ...fast, checkpointLayers: true },
    { ...fast, checkpointLayers: true, keepProbabilities: false },
    { ...fast, checkpointLayers: true, keepProbabilities: false, attentionChunk: 128, headChunk: Math.max(32, headChunk / 4) },
  ];
}

/** The first plan that fits; null when none does. */
export function choosePlan(size: TrainingSize, budget: number): { readonly plan: MemoryPlan; readonly estimate: MemoryEstimate } | null {
  for (const plan of memoryPlans(size.description, size.weightBytes === 2)) {
    const estimate = estimateMemory(size, plan);
    if (estimate.total <= budget) return { plan, estimate };
  }
  return null;
}
