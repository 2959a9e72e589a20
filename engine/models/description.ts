/**
 * The declarative layer list: which weights a model has, under the names of Hugging Face checkpoints, and how they belong together.
 * Training, scoring and decoding graphs are all built from it, and so are weight checks, adapters and exports.
 */
import { type LinearKind, linearKinds, type ModelConfig } from "./config.ts";

/** y = x·Wᵀ + b with W [outputs, inputs]. */
export interface Linear {
  readonly kind: LinearKind;
  /** Path of the module, to which `.weight`, `.bias`, `.lora_A` belong. */
  readonly module: string;
  readonly inputs: number;
  readonly outputs: number;
  readonly hasBias: boolean;
}

export interface Norm {
  readonly weight: string;
  readonly width: number;
}

/** A pre-norm layer: attention, then a gated feed-forward, each added to the residual stream. */
export interface Layer {
  readonly index: number;
  readonly attentionNorm: Norm;
  readonly linear: Readonly<Record<LinearKind, Linear>>;
  /** Per head, before rotation. */
  readonly queryNorm: Norm | null;
  readonly keyNorm: Norm | null;
  readonly feedForwardNorm: Norm;
}

export interface ModelDescription {
  readonly config: ModelConfig;
  /** Name of the table [vocabulary, hidden]. */
  readonly embedding: string;
  readonly layers: readonly Layer[];
  readonly finalNorm: Norm;
  /** Name of the table [vocabulary, hidden] of the head; the embedding's when tied. */
  readonly head: string;
}

const moduleNames: Readonly<Record<LinearKind, string>> = {
  query: "self_attn.q_proj",
  key: "self_attn.k_proj",
  value: "self_attn.v_proj",
  output: "self_attn.o_proj",
  gate: "mlp.gate_proj",
  up: "mlp.up_proj",
  down: "mlp.down_proj",
};

export function describeModel(config: ModelConfig): ModelDescription {
  const embedding = "model.embed_tokens.weight";
  return {
    config,
    embedding,
    layers: Array.from({ length: config.layerCount }, (_unused, index) => describeLayer(config, index)),
    finalNorm: { weight: "model.norm.weight", width: config.hiddenSize },
    head: config.tiedEmbeddings ? embedding : "lm_head.weight",
  };
}

function describeLayer(config: ModelConfig, index: number): Layer {
  const prefix = `model.layers.${index}.`;
  const { hiddenSize, feedForwardSize, headSize } = config;
  const [queries, keys] = [config.headCount * headSize, config.keyValueHeadCount * headSize];
  const sizes: Readonly<Record<LinearKind, readonly [inputs: number, outputs: number]>> = {
    query: [hiddenSize, queries],
    key: [hiddenSize, keys],
    value: [hiddenSize, keys],
    output: [queries, hiddenSize],
    gate: [hiddenSize, feedForwardSize],
    up: [hiddenSize, feedForwardSize],
    down: [feedForwardSize, hiddenSize],
  };
  const linear = (kind: LinearKind): Linear => {
    const [inputs, outputs] = sizes[kind];
    return { kind, module: prefix + moduleNames[kind], inputs, outputs, hasBias: config.biases.includes(kind) };
  };
  const headNorm = (name: string): Norm | null => (config.queryKeyNorm ? { weight: `${prefix}self_attn.${name}.weight`, width: headSize } : null);
  return {
    index,
    attentionNorm: { weight: `${prefix}input_layernorm.weight`, width: hiddenSize },
    linear: {
      query: linear("query"),
      key: linear("key"),
      value: linear("value"),
      output: linear("output"),
      gate: linear("gate"),
      up: linear("up"),
      down: linear("down"),
    },
    queryNorm: headNorm("q_norm"),
    keyNorm: headNorm("k_norm"),
    feedForwardNorm: { weight: `${prefix}post_attention_layernorm.weight`, width: hiddenSize },
  };
}

/** Every linear map of the model, in forward order. */
export function linearsOf(description: ModelDescription): readonly Linear[] {
  return description.layers.flatMap((layer) => linearKinds.map((kind) => layer.linear[kind]));
}

/** Every weight with its shape, in forward order. */
export function weightShapes(description: ModelDescription): ReadonlyMap<string, readonly number[]> {
  const { config } = description;
  const table = [config.vocabularySize, config.hiddenSize];
  const shapes = new Map<string, readonly number[]>([[description.embedding, table]]);
  const norm = (one: Norm | null): void => {
    if (one !== null) shapes.set(one.weight, [one.width]);
  };
  const linear = ({ module, inputs, outputs, hasBias }: Linear): void => {
    shapes.set(`${module}.weight`, [outputs, inputs]);
    if (hasBias) shapes.set(`${module}.bias`, [outputs]);
  };
  for (const layer of description.layers) {
    norm(layer.attentionNorm);
    for (const kind of ["query", "key", "value"] as const) linear(layer.linear[kind]);
    norm(layer.queryNorm);
    norm(layer.keyNorm);
    linear(layer.linear.output);
    norm(layer.feedForwardNorm);
    for (const kind of ["gate", "up", "down"] as const) linear(layer.linear[kind]);
  }
  norm(description.finalNorm);
  shapes.set(description.head, table);
  return shapes;
}
