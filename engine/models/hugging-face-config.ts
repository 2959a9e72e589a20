/** `config.json` of a Hugging Face checkpoint, in the keys of transformers 4.x and 5.x. What this engine would compute wrongly is refused. */
import { z } from "zod";
import { configProblem, families, familyNames, isFamily, type LinearKind, type Llama3Scaling, type ModelConfig } from "./config.ts";
import { ModelError } from "./model-error.ts";

const size = z.number().int().positive();
const ropeSchema = z.looseObject({
  rope_type: z.string().optional(),
  /** Before transformers 4.43. */
  type: z.string().optional(),
  rope_theta: z.number().positive().optional(),
  factor: z.number().positive().optional(),
  low_freq_factor: z.number().positive().optional(),
  high_freq_factor: z.number().positive().optional(),
  original_max_position_embeddings: size.optional(),
});
type RopeParameters = z.infer<typeof ropeSchema>;

const configSchema = z.looseObject({
  model_type: z.string(),
  vocab_size: size,
  hidden_size: size,
  num_hidden_layers: size,
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  intermediate_size: size,
  rms_norm_eps: z.number().positive().default(1e-6),
  rope_theta: z.number().positive().nullish(),
  rope_scaling: ropeSchema.nullish(),
  /** transformers 5.x: theta and scaling in one object. */
  rope_parameters: ropeSchema.nullish(),
  tie_word_embeddings: z.boolean().default(false),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  hidden_act: z.string().default("silu"),
  max_position_embeddings: size.default(2048),
  sliding_window: z.number().nullish(),
  use_sliding_window: z.boolean().nullish(),
  max_window_layers: z.number().int().default(28),
  layer_types: z.array(z.string()).nullish(),
  partial_rotary_factor: z.number().nullish(),
  quantization_config: z.unknown().optional(),
});
type RawConfig = z.infer<typeof configSchema>;

/** Reads a configuration; throws ModelError with what is not supported, or missing. */
export function readHuggingFaceConfig(text: string, where = "config.json"): ModelConfig {
  const raw = parse(text, where);
  const refusal = whyNot(raw);
  if (refusal !== null) throw new ModelError(where, refusal);
  if (!isFamily(raw.model_type)) throw new ModelError(where, `describes a ${raw.model_type} model; supported are ${familyNames}`);
  const family = families[raw.model_type];
  const rope = { ...raw.rope_scaling, ...raw.rope_parameters };
  const config: ModelConfig = {
    family: family.name,
    vocabularySize: raw.vocab_size,
    hiddenSize: raw.hidden_size,
    layerCount: raw.num_hidden_layers,
    headCount: raw.num_attention_heads,
    keyValueHeadCount: raw.num_key_value_heads ?? raw.num_attention_heads,
    headSize: raw.head_dim ?? Math.floor(raw.hidden_size / raw.num_attention_heads),
    feedForwardSize: raw.intermediate_size,
    normEpsilon: raw.rms_norm_eps,
    ropeTheta: rope.rope_theta ?? raw.rope_theta ?? 10_000,
    ropeScaling: scalingOf(rope, where),
    tiedEmbeddings: raw.tie_word_embeddings,
    biases: [...biasesOfAttention(raw, family.biases), ...(raw.mlp_bias === true ? (["gate", "up", "down"] as const) : [])],
    queryKeyNorm: family.queryKeyNorm,
    contextLength: raw.max_position_embeddings,
  };
  const problem = configProblem(config);
  if (problem !== null) throw new ModelError(where, problem);
  return config;
}

function parse(text: string, where: string): RawConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ModelError(where, `is not JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  const type = z.looseObject({ model_type: z.string() }).safeParse(value);
  if (!type.success) throw new ModelError(where, "names no model_type, so it describes no model of transformers");
  if (!isFamily(type.data.model_type)) throw new ModelError(where, `describes a ${type.data.model_type} model; supported are ${familyNames}`);
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ModelError(where, `cannot be used: ${issue?.path.join(".") ?? ""} ${issue?.message ?? "has another form"}`);
}

/** Qwen2 has its biases whatever the file says; `attention_bias` puts one on all four maps. */
function biasesOfAttention(raw: RawConfig, byFamily: readonly LinearKind[]): readonly LinearKind[] {
  return raw.attention_bias === true && byFamily.length === 0 ? ["query", "key", "value", "output"] : byFamily;
}

/** Why a model of a known family is still not computed here. */
function whyNot(raw: RawConfig): string | null {
  const layers = raw.layer_types?.filter((type) => type !== "full_attention") ?? [];
  if (layers.length > 0) return `has layers of ${layers[0]}; only full attention is supported`;
  // transformers lets the window begin at the layer max_window_layers.
  const windowed = raw.use_sliding_window === true && typeof raw.sliding_window === "number" && raw.max_window_layers < raw.num_hidden_layers;
  if (windowed) return `uses a sliding attention window of ${raw.sliding_window} tokens, which is not supported`;
  if (raw.hidden_act !== "silu") return `activates by ${raw.hidden_act}; only silu is supported`;
  if (typeof raw.partial_rotary_factor === "number" && raw.partial_rotary_factor !== 1)
    return `rotates only ${raw.partial_rotary_factor} of each head, which is not supported`;
  const experts = ["num_experts", "num_local_experts", "n_routed_experts"].find((key) => typeof raw[key] === "number" && raw[key] > 1);
  if (experts !== undefined) return `is a mixture of experts (${experts} ${raw[experts]}), which is not supported`;
  if (raw.quantization_config !== undefined && raw.quantization_config !== null) {
    const method = z.looseObject({ quant_method: z.string() }).safeParse(raw.quantization_config);
    return `has weights quantised by ${method.success ? method.data.quant_method : "some method"}; use the unquantised checkpoint or a GGUF file`;
  }
  return null;
}

function scalingOf(rope: RopeParameters, where: string): Llama3Scaling | null {
  const type = rope.rope_type ?? rope.type ?? "default";
  if (type === "default") return null;
  if (type !== "llama3") throw new ModelError(where, `scales its rotary embedding by ${type}; supported are default and llama3`);
  const { factor, low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: original } = rope;
  if (factor === undefined || low === undefined || high === undefined || original === undefined) {
    throw new ModelError(where, "has llama3 rotary scaling without factor, low_freq_factor, high_freq_factor or original_max_position_embeddings");
  }
  return { kind: "llama3", factor, lowFrequencyFactor: low, highFrequencyFactor: high, originalPositions: original };
}

const endSchema = z.looseObject({ eos_token_id: z.union([z.number().int(), z.array(z.number().int())]).nullish() });

/** Ids that end a turn, from generation_config.json where it says so, else from config.json. */
export function readEndIds(configText: string, generationText: string | null): readonly number[] {
  for (const text of [generationText, configText]) {
    const parsed = text === null ? null : endSchema.safeParse(JSON.parse(text));
    const ids = parsed?.success === true ? parsed.data.eos_token_id : null;
    if (ids !== null && ids !== undefined) return Array.isArray(ids) ? ids : [ids];
  }
  return [];
}
