/** Random weights to begin from: what the starter policy is before it has seen anything. */
import { type ModelDescription, weightShapes } from "../../engine/models/index.ts";
import { seededRandom } from "../../engine/statistics/index.ts";

/** Of the embeddings; the head is their table too. */
const embeddingDeviation = 0.08;

/**
 * Norms 1, biases 0, embeddings at 0.08; matrices at 1/√inputs, and those that write into the residual stream smaller by √(2·layers), so that it does
 * not grow with depth.
 */
export function firstWeights(description: ModelDescription, seed: number): (name: string) => Float32Array {
  const normal = normals(seed);
  const weights = new Map<string, Float32Array>();
  for (const [name, shape] of weightShapes(description)) {
    const size = shape.reduce((product, length) => product * length, 1);
    const deviation = deviationOf(name, shape, description);
    weights.set(
      name,
      deviation === null
        ? new Float32Array(size).fill(name.endsWith(".bias") ? 0 : 1)
        : Float32Array.from({ length: size }, () => deviation * normal()),
    );
  }
  return (name) => {
    const values = weights.get(name);
    if (values === undefined) throw new RangeError(`the model has no weight ${name}`);
    return values;
  };
}

/** null for norms and biases. */
function deviationOf(name: string, shape: readonly number[], { embedding, config }: ModelDescription): number | null {
  if (shape.length < 2) return null;
  if (name === embedding) return embeddingDeviation;
  const intoStream = name.endsWith("o_proj.weight") || name.endsWith("down_proj.weight");
  return 1 / Math.sqrt(shape[1] ?? 1) / (intoStream ? Math.sqrt(2 * config.layerCount) : 1);
}

/** Standard normal numbers, by Box and Muller. */
function normals(seed: number): () => number {
  const random = seededRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
