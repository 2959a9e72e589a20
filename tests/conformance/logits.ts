import { buildSequenceGraph, inverseTemperatureInput } from "../../engine/models/index.ts";
import type { Runtime } from "../../engine/onnx/index.ts";
import type { LoadedModel } from "./model-case.ts";
import { memory } from "./model-training.ts";

/** Logits of right-padded sequences: [sequences, longest, vocabulary], row-major. */
export async function logitsOf(
  runtime: Runtime,
  { description, weights, weightsFolder }: LoadedModel,
  sequences: readonly ArrayLike<number>[],
): Promise<Float32Array> {
  const [rows, width] = [sequences.length, Math.max(...sequences.map(({ length }) => length))];
  const model = buildSequenceGraph({
    ...{ description, weights, adapter: null, trained: "nothing", rows, width, packed: false },
    ...{ withEntropy: false, withValues: false, withLogits: true, memory, float: "float32", kernels: runtime.kernels },
  });
  const session = await runtime.createSession(model.bytes, { purpose: "training", ...(weightsFolder === undefined ? {} : { weightsFolder }) });
  const tokens = new Int32Array(rows * width);
  for (const [row, sequence] of sequences.entries()) tokens.set(sequence, row * width);
  const feeds = {
    tokens: { type: "int32" as const, shape: [rows, width], data: tokens },
    targets: { type: "int32" as const, shape: [rows * width], data: new Int32Array(rows * width) },
    [inverseTemperatureInput]: { type: "float32" as const, shape: [1], data: Float32Array.of(1) },
    zero: { type: "float32" as const, shape: [1], data: new Float32Array(1) },
  };
  const { logits } = await session.run(Object.fromEntries(Object.entries(feeds).filter(([name]) => session.inputNames.includes(name))));
  await session.release();
  if (!(logits?.data instanceof Float32Array)) throw new Error("the graph gave no logits");
  return logits.data;
}
