/** Where a model's weights are: in safetensors files, which ONNX Runtime maps in place, or in memory. */
import type { ExternalData } from "../onnx/index.ts";
import { type Checkpoint, tensorBytes, toFloat32 } from "../weights/index.ts";
import { type ModelDescription, weightShapes } from "./description.ts";
import { ModelError } from "./model-error.ts";

export type WeightPlace =
  | { readonly type: "float32" | "bfloat16" | "float16"; readonly source: { readonly external: ExternalData } }
  | { readonly type: "float32"; readonly source: { readonly data: Float32Array } };

export interface ModelWeights {
  /** For an initializer of a graph. */
  place(name: string): WeightPlace;
  /** Values as float32, row-major, read now. */
  values(name: string): Float32Array;
}

const mappedTypes = { F32: "float32", BF16: "bfloat16", F16: "float16" } as const;

/**
 * Weights of a checkpoint, checked against the description. `fileName` gives the path of a checkpoint's file inside the folder that
 * sessions are told. Throws ModelError for a missing weight or one of another shape; further tensors are left alone.
 */
export function checkpointWeights(
  description: ModelDescription,
  checkpoint: Checkpoint,
  where: string,
  fileName: (sourceName: string) => string = (name) => name,
): ModelWeights {
  for (const [name, shape] of weightShapes(description)) {
    const stored = checkpoint.tensors.get(name)?.tensor;
    if (stored === undefined) throw new ModelError(where, `has no weight ${name}`);
    if (stored.shape.join() !== shape.join()) {
      throw new ModelError(where, `has ${name} with the shape [${stored.shape.join(", ")}], the configuration wants [${shape.join(", ")}]`);
    }
    if (!Object.hasOwn(mappedTypes, stored.type)) throw new ModelError(where, `stores ${name} as ${stored.type}; supported are F32, BF16 and F16`);
  }
  const find = (name: string) => {
    const found = checkpoint.tensors.get(name);
    if (found === undefined) throw new ModelError(where, `has no weight ${name}`);
    return found;
  };
  return {
    place(name) {
      const { file, tensor } = find(name);
      const type = mappedTypes[tensor.type as keyof typeof mappedTypes];
      return { type, source: { external: { file: fileName(file.source.name), offset: tensor.offset, length: tensor.length } } };
    },
    values(name) {
      const { file, tensor } = find(name);
      const values = toFloat32(tensor.type, tensorBytes(file, name));
      if (values === null) throw new ModelError(where, `stores ${name} as ${tensor.type}, which holds no real numbers`);
      return values;
    },
  };
}

/** Weights held in memory. `read` gives a weight's values when asked. */
export function weightsInMemory(read: (name: string) => Float32Array): ModelWeights {
  return { place: (name) => ({ type: "float32", source: { data: read(name) } }), values: read };
}
