/** `config.json` of a model that leaves as a Hugging Face checkpoint, in the keys that both transformers 4.x and 5.x read. */
import type { FamilyName, FrequencyDivisors, Llama3Scaling, ModelConfig } from "./config.ts";
import { ModelError } from "./model-error.ts";
import { ropeFrequencies } from "./rope.ts";

const architectures: Readonly<Record<FamilyName, string>> = { llama: "LlamaForCausalLM", qwen2: "Qwen2ForCausalLM", qwen3: "Qwen3ForCausalLM" };

/** Ids of special tokens, null where there is none. */
export interface SpecialIdsForConfig {
  readonly bos: number | null;
  readonly eos: number | null;
  readonly pad: number | null;
}

/** Throws ModelError for a model that these keys cannot say. */
export function writeHuggingFaceConfig(config: ModelConfig, special: SpecialIdsForConfig): string {
  const scaling = config.ropeScaling === null ? null : asLlama3(config, config.ropeScaling);
  const [attention, feedForward] = [config.biases.includes("output"), config.biases.includes("gate")];
  const value = {
    architectures: [architectures[config.family]],
    model_type: config.family,
    vocab_size: config.vocabularySize,
    hidden_size: config.hiddenSize,
    num_hidden_layers: config.layerCount,
    num_attention_heads: config.headCount,
    num_key_value_heads: config.keyValueHeadCount,
    head_dim: config.headSize,
    intermediate_size: config.feedForwardSize,
    hidden_act: "silu",
    max_position_embeddings: config.contextLength,
    rms_norm_eps: config.normEpsilon,
    rope_theta: config.ropeTheta,
    rope_scaling:
      scaling === null
        ? null
        : {
            rope_type: "llama3",
            factor: scaling.factor,
            low_freq_factor: scaling.lowFrequencyFactor,
            high_freq_factor: scaling.highFrequencyFactor,
            original_max_position_embeddings: scaling.originalPositions,
          },
    tie_word_embeddings: config.tiedEmbeddings,
    ...(config.family === "qwen2" ? {} : { attention_bias: attention }),
    ...(config.family === "llama" ? { mlp_bias: feedForward } : {}),
    bos_token_id: special.bos,
    eos_token_id: special.eos,
    pad_token_id: special.pad,
    torch_dtype: "float32",
    use_cache: true,
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The settings that Llama 3.1 to 3.3 have, with the factor that the divisors show. */
function asLlama3(config: ModelConfig, scaling: Llama3Scaling | FrequencyDivisors): Llama3Scaling {
  if (scaling.kind === "llama3") return scaling;
  const factor = Math.max(...scaling.divisors);
  const found: Llama3Scaling = { kind: "llama3", factor, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalPositions: 8192 };
  const wanted = ropeFrequencies(config);
  const same = ropeFrequencies({ ...config, ropeScaling: found }).every((frequency, pair) => Math.abs(frequency / (wanted[pair] ?? 0) - 1) < 1e-5);
  if (!same) throw new ModelError("the model", "scales its rotary embedding in a way that config.json has no settings for");
  return found;
}
