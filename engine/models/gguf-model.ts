/** A model out of a GGUF file: its configuration from the metadata, its weights dequantised and in the layout of Hugging Face. */
import { type GgufFile, type GgufValue, ggufTensorValues } from "../weights/index.ts";
import { configProblem, type FrequencyDivisors, families, familyNames, isFamily, type ModelConfig } from "./config.ts";
import { type ModelDescription, weightShapes } from "./description.ts";
import { ModelError } from "./model-error.ts";
import { type ModelWeights, weightsInMemory } from "./model-weights.ts";

/** Reads numbers of the architecture's metadata keys, refusing what has another form. */
class Metadata {
  readonly #file: GgufFile;
  readonly architecture: string;

  constructor(file: GgufFile) {
    this.#file = file;
    const name = file.metadata.get("general.architecture");
    if (typeof name !== "string") throw new ModelError(file.source.name, "names no general.architecture, so it holds no model");
    this.architecture = name;
  }

  value(key: string): GgufValue | undefined {
    return this.#file.metadata.get(`${this.architecture}.${key}`);
  }

  optional(key: string): number | null {
    const value = this.value(key);
    if (value === undefined) return null;
    // Some files give a number for each layer.
    const [first] = Array.isArray(value) ? value : [value];
    if (Array.isArray(value) && value.some((item) => item !== first)) this.refuse(`has another ${key} in each layer, which is not supported`);
    if (typeof first !== "number" && typeof first !== "bigint") return this.refuse(`has ${key} that is no number`);
    return Number(first);
  }

  required(key: string): number {
    return this.optional(key) ?? this.refuse(`does not say ${this.architecture}.${key}`);
  }

  refuse(problem: string): never {
    throw new ModelError(this.#file.source.name, problem);
  }
}

/** The configuration that the metadata describe; throws ModelError for what this engine does not compute. */
export function readGgufConfig(file: GgufFile): ModelConfig {
  const metadata = new Metadata(file);
  const { architecture } = metadata;
  if (!isFamily(architecture)) throw new ModelError(file.source.name, `describes a ${architecture} model; supported are ${familyNames}`);
  const family = families[architecture];
  if ((metadata.optional("expert_count") ?? 0) > 0) metadata.refuse("is a mixture of experts, which is not supported");
  if ((metadata.optional("attention.sliding_window") ?? 0) > 0) metadata.refuse("uses a sliding attention window, which is not supported");
  const hiddenSize = metadata.required("embedding_length");
  const headCount = metadata.required("attention.head_count");
  const headSize = metadata.optional("attention.key_length") ?? Math.floor(hiddenSize / headCount);
  const rotated = metadata.optional("rope.dimension_count") ?? headSize;
  if (rotated !== headSize) metadata.refuse(`rotates only ${rotated} of each head's ${headSize} numbers, which is not supported`);
  const embedding = file.tensors.get("token_embd.weight");
  if (embedding === undefined) return metadata.refuse("has no tensor token_embd.weight");
  const config: ModelConfig = {
    family: family.name,
    vocabularySize: embedding.shape[0] ?? 0,
    hiddenSize,
    layerCount: metadata.required("block_count"),
    headCount,
    keyValueHeadCount: metadata.optional("attention.head_count_kv") ?? headCount,
    headSize,
    feedForwardSize: metadata.required("feed_forward_length"),
    normEpsilon: metadata.required("attention.layer_norm_rms_epsilon"),
    ropeTheta: metadata.optional("rope.freq_base") ?? 10_000,
    ropeScaling: scalingOf(file, metadata),
    tiedEmbeddings: !file.tensors.has("output.weight"),
    biases: (["query", "key", "value", "output"] as const).filter((kind) => file.tensors.has(`blk.0.${ggufLinear[kind]}.bias`)),
    queryKeyNorm: family.queryKeyNorm,
    contextLength: metadata.optional("context_length") ?? 2048,
  };
  const problem = configProblem(config);
  return problem === null ? config : metadata.refuse(problem);
}

/** llama.cpp keeps Llama 3.1's scaling as a tensor of divisors. */
function scalingOf(file: GgufFile, metadata: Metadata): FrequencyDivisors | null {
  const type = metadata.value("rope.scaling.type");
  if (type !== undefined && type !== "none") metadata.refuse(`scales its rotary embedding by ${String(type)}, which is not supported`);
  if (!file.tensors.has("rope_freqs.weight")) return null;
  return { kind: "divisors", divisors: [...ggufTensorValues(file, "rope_freqs.weight")] };
}

const ggufLinear = { query: "attn_q", key: "attn_k", value: "attn_v", output: "attn_output" } as const;

/** Names of a layer's parts in GGUF by their names in Hugging Face checkpoints. */
const layerParts: Readonly<Record<string, string>> = {
  input_layernorm: "attn_norm",
  "self_attn.q_proj": ggufLinear.query,
  "self_attn.k_proj": ggufLinear.key,
  "self_attn.v_proj": ggufLinear.value,
  "self_attn.o_proj": ggufLinear.output,
  "self_attn.q_norm": "attn_q_norm",
  "self_attn.k_norm": "attn_k_norm",
  post_attention_layernorm: "ffn_norm",
  "mlp.gate_proj": "ffn_gate",
  "mlp.up_proj": "ffn_up",
  "mlp.down_proj": "ffn_down",
};
const otherParts: Readonly<Record<string, string>> = {
  "model.embed_tokens.weight": "token_embd.weight",
  "model.norm.weight": "output_norm.weight",
  "lm_head.weight": "output.weight",
};

function ggufName(name: string): string {
  const match = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name);
  const part = match === null ? undefined : layerParts[match[2] ?? ""];
  const found = match === null || part === undefined ? otherParts[name] : `blk.${match[1]}.${part}.${match[3]}`;
  if (found === undefined) throw new RangeError(`${name} has no name in GGUF`);
  return found;
}

/** The model's weights as float32 in the layout of Hugging Face. Throws ModelError for one that is missing or has another shape. */
export function ggufWeights(description: ModelDescription, file: GgufFile): ModelWeights {
  for (const [name, shape] of weightShapes(description)) {
    const tensor = file.tensors.get(ggufName(name));
    if (tensor === undefined) throw new ModelError(file.source.name, `has no tensor ${ggufName(name)}`);
    if (tensor.shape.join() !== shape.join()) {
      const [found, wanted] = [tensor.shape.join(", "), shape.join(", ")];
      throw new ModelError(file.source.name, `has ${ggufName(name)} with the shape [${found}], its metadata want [${wanted}]`);
    }
  }
  const { family, headSize } = description.config;
  return weightsInMemory((name) => {
    const values = ggufTensorValues(file, ggufName(name));
    const interleaved = families[family].interleavedInGguf && /\.(q_proj|k_proj)\.(weight|bias)$/.test(name);
    return interleaved ? separateHalves(values, headSize, values.length / (weightShapes(description).get(name)?.[0] ?? 1)) : values;
  });
}

/** Rows of each head from (0, h, 1, h + 1 …) back to (0, 1 … h, h + 1 …), h = half the head. Source: llama.cpp's converter, undone. */
function separateHalves(values: Float32Array, headSize: number, rowLength: number): Float32Array {
  const result = new Float32Array(values.length);
  const rows = values.length / rowLength;
  for (let row = 0; row < rows; row += 1) {
    const inHead = row % headSize;
    const target = row - inHead + (inHead >> 1) + (inHead % 2) * (headSize / 2);
    result.set(values.subarray(row * rowLength, (row + 1) * rowLength), target * rowLength);
  }
  return result;
}
