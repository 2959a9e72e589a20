/** What a decoder-only transformer is made of, whatever file said so. */

/** Blends the frequencies of the rotary embedding for longer contexts. Source: Llama 3.1's `rope_scaling`. */
export interface Llama3Scaling {
  readonly kind: "llama3";
  readonly factor: number;
  readonly lowFrequencyFactor: number;
  readonly highFrequencyFactor: number;
  readonly originalPositions: number;
}

/** The same, worked out: a divisor for each frequency. GGUF files carry it as a tensor. */
export interface FrequencyDivisors {
  readonly kind: "divisors";
  readonly divisors: readonly number[];
}

export interface ModelConfig {
  readonly family: FamilyName;
  readonly vocabularySize: number;
  readonly hiddenSize: number;
  readonly layerCount: number;
  readonly headCount: number;
  readonly keyValueHeadCount: number;
  readonly headSize: number;
  readonly feedForwardSize: number;
  readonly normEpsilon: number;
  readonly ropeTheta: number;
  readonly ropeScaling: Llama3Scaling | FrequencyDivisors | null;
  /** The head is the embedding's table. */
  readonly tiedEmbeddings: boolean;
  /** Linear maps of attention and feed-forward that have a bias. */
  readonly biases: readonly LinearKind[];
  /** Queries and keys are normalised per head before rotation. */
  readonly queryKeyNorm: boolean;
  /** Tokens that the model was made for at most. */
  readonly contextLength: number;
}

export const linearKinds = ["query", "key", "value", "output", "gate", "up", "down"] as const;
/** The linear maps of a layer; each may carry a LoRA. */
export type LinearKind = (typeof linearKinds)[number];

/** What sets a family apart. A further dense family is an entry here, if its layers are of the same kinds. */
export interface Family {
  /** `model_type` of config.json and `general.architecture` of GGUF. */
  readonly name: FamilyName;
  /** Biases where config.json says nothing. */
  readonly biases: readonly LinearKind[];
  readonly queryKeyNorm: boolean;
  /** GGUF stores the rows of a head's queries and keys with both halves interleaved. */
  readonly interleavedInGguf: boolean;
}

export type FamilyName = "llama" | "qwen2" | "qwen3";

export const families: Readonly<Record<FamilyName, Family>> = {
  llama: { name: "llama", biases: [], queryKeyNorm: false, interleavedInGguf: true },
  qwen2: { name: "qwen2", biases: ["query", "key", "value"], queryKeyNorm: false, interleavedInGguf: false },
  qwen3: { name: "qwen3", biases: [], queryKeyNorm: true, interleavedInGguf: false },
};

export function isFamily(name: string): name is FamilyName {
  return Object.hasOwn(families, name);
}

/** Named in refusals. */
export const familyNames = Object.keys(families).join(", ");

/** Sizes that do not fit together, as the end of a sentence; null when all is well. */
export function configProblem(config: ModelConfig): string | null {
  const { headCount, keyValueHeadCount, headSize } = config;
  if (headCount % keyValueHeadCount !== 0)
    return `has ${headCount} query heads on ${keyValueHeadCount} key/value heads, which does not come out even`;
  // ONNX Runtime's GroupQueryAttention with rotation wants it.
  if (headSize % 16 !== 0) return `has heads of ${headSize} numbers; only multiples of 16 are supported`;
  return null;
}
