import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { tinyConfigs, tinyModel } from "../training/tiny-model.test-data.ts";
import { type ByteSource, type GgufFile, type GgufTensor, type GgufValue, readSafetensors, tensorBytes, toFloat32 } from "../weights/index.ts";
import {
  checkpointWeights,
  createAdapter,
  describeModel,
  ggufWeights,
  type LoraSettings,
  linearKinds,
  linearsOf,
  mergedWeights,
  readEndIds,
  readGgufConfig,
  readHuggingFaceConfig,
  readPeftAdapter,
  ropeFrequencies,
  weightShapes,
  writeHuggingFaceConfig,
  writePeftAdapter,
} from "./index.ts";

const llama = {
  model_type: "llama",
  vocab_size: 64,
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  intermediate_size: 48,
  rms_norm_eps: 1e-5,
};
const read = (changes: Readonly<Record<string, unknown>> = {}) => readHuggingFaceConfig(JSON.stringify({ ...llama, ...changes }));

function source(bytes: Uint8Array, name = "adapter_model.safetensors"): ByteSource {
  return { name, size: bytes.byteLength, read: (offset, length) => bytes.subarray(offset, offset + length) };
}

describe("config.json", () => {
  test("what is left out has the defaults of transformers", () => {
    expect(read({ num_key_value_heads: undefined })).toMatchObject({
      ...{ headSize: 16, keyValueHeadCount: 2, ropeTheta: 10_000, ropeScaling: null, tiedEmbeddings: false, biases: [], contextLength: 2048 },
    });
  });

  test("scaling in the keys of every version of transformers", () => {
    const settings = { factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 };
    const old = read({ rope_theta: 5e5, rope_scaling: { type: "llama3", ...settings } });
    expect(read({ rope_parameters: { rope_type: "llama3", rope_theta: 5e5, ...settings } })).toEqual(old);
    expect(old).toMatchObject({ ropeTheta: 5e5, ropeScaling: { kind: "llama3", factor: 8 } });
  });

  test("biases: Qwen2 always, Llama when it says so", () => {
    expect(read({ model_type: "qwen2" }).biases).toEqual(["query", "key", "value"]);
    expect(read({ attention_bias: true, mlp_bias: true }).biases).toEqual(["query", "key", "value", "output", "gate", "up", "down"]);
  });

  test.each([
    [{ model_type: "gemma3" }, "a gemma3 model; supported are llama, qwen2, qwen3"],
    [{ model_type: "qwen3_moe" }, "a qwen3_moe model"],
    [{ layer_types: ["full_attention", "sliding_attention"] }, "layers of sliding_attention"],
    [{ model_type: "qwen2", use_sliding_window: true, sliding_window: 4096, max_window_layers: 1 }, "sliding attention window of 4096"],
    [{ rope_scaling: { rope_type: "yarn", factor: 4 } }, "by yarn"],
    [{ rope_scaling: { rope_type: "llama3", factor: 4 } }, "without factor"],
    [{ hidden_act: "gelu" }, "gelu"],
    [{ partial_rotary_factor: 0.5 }, "rotates only 0.5"],
    [{ num_local_experts: 8 }, "mixture of experts"],
    [{ quantization_config: { quant_method: "awq" } }, "quantised by awq"],
    [{ head_dim: 24 }, "multiples of 16"],
    [{ num_attention_heads: 3, num_key_value_heads: 2, head_dim: 16 }, "does not come out even"],
    [{ hidden_size: "32" }, "hidden_size"],
    [{ model_type: undefined }, "no model_type"],
  ])("refuses in one sentence: %j", (changes, named) => {
    expect(() => read(changes)).toThrow(named);
  });

  test("a window that no layer uses is none", () => {
    expect(read({ model_type: "qwen2", use_sliding_window: true, sliding_window: 4096, max_window_layers: 28 }).family).toBe("qwen2");
    expect(read({ model_type: "qwen2", use_sliding_window: false, sliding_window: 4096 }).family).toBe("qwen2");
  });

  test("end ids: generation_config.json before config.json, one or several", () => {
    expect(readEndIds('{"eos_token_id": 2}', '{"eos_token_id": [5, 6]}')).toEqual([5, 6]);
    expect(readEndIds('{"eos_token_id": 2}', "{}")).toEqual([2]);
    expect(readEndIds("{}", null)).toEqual([]);
  });

  test.each(Object.entries(tinyConfigs))("what is written is read again: %s", (_name, config) => {
    const text = writeHuggingFaceConfig(config, { bos: 1, eos: 2, pad: null });
    const again = readHuggingFaceConfig(text);
    expect(again).toEqual({ ...config, biases: again.biases });
    expect([...again.biases].toSorted()).toEqual([...config.biases].toSorted());
    expect(readEndIds(text, null)).toEqual([2]);
  });
});

describe("weights", () => {
  test("a missing weight and one of another shape are named", () => {
    const description = describeModel(read());
    const tensor = (name: string, shape: readonly number[], type = "F32") => [
      name,
      { file: {}, tensor: { name, shape, type, offset: 0, length: 0 } },
    ];
    const checkpoint = (entries: unknown[]) => ({ files: [], tensors: new Map(entries as []) });
    const all = [...weightShapes(description)].map(([name, shape]) => tensor(name, shape));
    expect(() => checkpointWeights(description, checkpoint(all.slice(1)), "m")).toThrow("no weight model.embed_tokens.weight");
    expect(() => checkpointWeights(description, checkpoint([...all, tensor("model.norm.weight", [31])]), "m")).toThrow(
      "[31], the configuration wants [32]",
    );
    expect(() => checkpointWeights(description, checkpoint([...all, tensor("model.norm.weight", [32], "I8")]), "m")).toThrow("as I8");
    expect(() => checkpointWeights(description, checkpoint([...all, tensor("model.rotary_emb.inv_freq", [8])]), "m")).not.toThrow();
  });
});

function gguf(metadata: Readonly<Record<string, GgufValue>>, tensors: Readonly<Record<string, readonly number[]>>): GgufFile {
  let offset = 0;
  const bytes: number[] = [];
  const entries = Object.entries(tensors).map(([name, shape]): [string, GgufTensor] => {
    const count = shape.reduce((product, size) => product * size, 1);
    bytes.push(...new Uint8Array(Float32Array.from({ length: count }, (_unused, index) => index).buffer));
    const tensor = { name, shape, offset, length: 4 * count, type: { name: "F32", blockValues: 1, blockBytes: 4 } };
    offset += 4 * count;
    return [name, tensor];
  });
  return { source: source(Uint8Array.from(bytes), "m.gguf"), version: 3, metadata: new Map(Object.entries(metadata)), tensors: new Map(entries) };
}

const ggufMetadata: Readonly<Record<string, GgufValue>> = {
  "general.architecture": "llama",
  "llama.embedding_length": 32,
  "llama.block_count": 1,
  "llama.feed_forward_length": 8,
  "llama.attention.head_count": 2,
  "llama.attention.layer_norm_rms_epsilon": 1e-5,
};

describe("GGUF", () => {
  test("sizes, tied head and scaling come from metadata and tensors", () => {
    const config = readGgufConfig(gguf(ggufMetadata, { "token_embd.weight": [7, 32], "rope_freqs.weight": [8] }));
    expect(config).toMatchObject({ vocabularySize: 7, keyValueHeadCount: 2, headSize: 16, tiedEmbeddings: true, contextLength: 2048 });
    expect(config.ropeScaling).toEqual({ kind: "divisors", divisors: [0, 1, 2, 3, 4, 5, 6, 7] });
    expect(readGgufConfig(gguf(ggufMetadata, { "token_embd.weight": [7, 32], "output.weight": [7, 32] })).tiedEmbeddings).toBe(false);
  });

  test.each([
    [{ "general.architecture": "gemma2" }, "a gemma2 model"],
    [{ "llama.expert_count": 8 }, "mixture of experts"],
    [{ "llama.attention.sliding_window": 512 }, "sliding"],
    [{ "llama.rope.scaling.type": "yarn" }, "yarn"],
    [{ "llama.rope.dimension_count": 8 }, "rotates only 8"],
    [{ "llama.attention.head_count": "two" }, "no number"],
    [{ "llama.attention.head_count_kv": [1, 2] }, "in each layer"],
  ])("refuses in one sentence: %j", (changes, named) => {
    expect(() => readGgufConfig(gguf({ ...ggufMetadata, ...(changes as Record<string, GgufValue>) }, { "token_embd.weight": [7, 32] }))).toThrow(
      named,
    );
  });

  test("rows of queries and keys leave their interleaving, those of values stay", () => {
    const description = describeModel(readGgufConfig(gguf(ggufMetadata, { "token_embd.weight": [7, 32] })));
    const layer = {
      attn_q: [32, 32],
      attn_k: [32, 32],
      attn_v: [32, 32],
      attn_output: [32, 32],
      ffn_gate: [8, 32],
      ffn_up: [8, 32],
      ffn_down: [32, 8],
    };
    const named = Object.fromEntries(
      Object.entries({ ...layer, attn_norm: [32], ffn_norm: [32] }).map(([name, shape]) => [`blk.0.${name}.weight`, shape]),
    );
    const file = gguf(ggufMetadata, { "token_embd.weight": [7, 32], "output_norm.weight": [32], ...named });
    const weights = ggufWeights(description, file);
    const rows = (name: string) => Array.from({ length: 18 }, (_unused, row) => (weights.values(name)[row * 32] ?? 0) / 32);
    // Of a head of 16: the even rows are its first half, the odd ones its second.
    expect(rows("model.layers.0.self_attn.q_proj.weight")).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15, 16, 18]);
    expect(rows("model.layers.0.self_attn.v_proj.weight").slice(0, 3)).toEqual([0, 1, 2]);
    expect(() => ggufWeights(description, gguf(ggufMetadata, { "token_embd.weight": [7, 32] }))).toThrow("no tensor blk.0.attn_norm.weight");
  });

  test("divisors of Llama 3 are written as its settings, others refused", () => {
    const config = { ...read(), headSize: 64, ropeTheta: 5e5 };
    const scaled = {
      ...config,
      ropeScaling: { kind: "llama3", factor: 32, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalPositions: 8192 } as const,
    };
    const plain = ropeFrequencies(config);
    const divisors = [...ropeFrequencies(scaled)].map((frequency, pair) => (plain[pair] ?? 0) / frequency);
    const text = writeHuggingFaceConfig({ ...config, ropeScaling: { kind: "divisors", divisors } }, { bos: 1, eos: 2, pad: 0 });
    expect(readHuggingFaceConfig(text).ropeScaling).toEqual(scaled.ropeScaling);
    const odd = divisors.map((divisor, pair) => (pair === 3 ? 7 : divisor));
    expect(() => writeHuggingFaceConfig({ ...config, ropeScaling: { kind: "divisors", divisors: odd } }, { bos: 1, eos: 2, pad: 0 })).toThrow(
      "no settings",
    );
  });
});

describe("adapters", () => {
  const settings: LoraSettings = { rank: 2, alpha: 8, targets: ["query", "down"], rankStabilised: true };
  const { description, weights } = tinyModel(Object.values(tinyConfigs)[0] ?? ({} as never));
  const fresh = createAdapter(description, settings, 5);

  test("a fresh adapter changes nothing, the same seed gives the same", () => {
    expect([...fresh.keys()]).toEqual(linearsOf(description).flatMap(({ kind, module }) => (kind === "query" || kind === "down" ? [module] : [])));
    const merged = mergedWeights(description, weights, fresh);
    for (const name of weightShapes(description).keys()) expect(merged(name)).toEqual(weights.values(name));
    expect(createAdapter(description, settings, 5)).toEqual(fresh);
    expect([...(fresh.values().next().value?.a ?? [])].every((value) => Math.abs(value) <= 1 / Math.sqrt(12))).toBe(true);
  });

  test("what is written for PEFT is read again", () => {
    const adapter = new Map([...fresh].map(([module, lora]) => [module, { ...lora, b: lora.b.map((_value, index) => index / 7) }]));
    const files = writePeftAdapter(description, adapter, settings, "base");
    expect(JSON.parse(files.config)).toMatchObject({
      peft_type: "LORA",
      r: 2,
      lora_alpha: 8,
      use_rslora: true,
      target_modules: ["q_proj", "down_proj"],
    });
    expect(readPeftAdapter(description, files.config, source(files.weights))).toEqual(adapter);
    const stored = readSafetensors(source(files.weights));
    const [name] = stored.tensors.keys();
    expect(name).toBe("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight");
    expect(toFloat32("F32", tensorBytes(stored, name ?? ""))).toEqual(adapter.values().next().value?.a);
  });

  test("patterns of PEFT give modules their own rank and alpha", () => {
    const all = createAdapter(description, { ...settings, targets: linearKinds }, 1);
    const files = writePeftAdapter(description, all, { ...settings, targets: linearKinds }, "base");
    const config = JSON.stringify({ ...JSON.parse(files.config), use_rslora: false, alpha_pattern: { "layers.1.*q_proj": 3, down_proj: 4 } });
    const factors = readPeftAdapter(description, config, source(files.weights));
    expect(factors.get("model.layers.0.self_attn.q_proj")?.factor).toBe(4);
    expect(factors.get("model.layers.1.self_attn.q_proj")?.factor).toBe(1.5);
    expect(factors.get("model.layers.0.mlp.down_proj")?.factor).toBe(2);
  });

  const written = writePeftAdapter(description, fresh, settings, "base");
  test.each([
    [{ peft_type: "IA3" }, "only LORA"],
    [{ use_dora: true }, "use_dora to true"],
    [{ bias: "all" }, 'bias to "all"'],
    [{ modules_to_save: ["lm_head"] }, "modules_to_save"],
    [{ r: 3 }, "expected [3, 12]"],
  ])("refuses in one sentence: %j", (changes, named) => {
    const config = JSON.stringify({ ...JSON.parse(written.config), ...changes });
    expect(() => readPeftAdapter(description, config, source(written.weights))).toThrow(named);
  });

  test("refuses an adapter of another model", () => {
    const other = describeModel({ ...description.config, layerCount: 1 });
    expect(() => readPeftAdapter(other, written.config, source(written.weights))).toThrow(
      "model.layers.1.self_attn.q_proj, which this model does not have",
    );
  });
});

test("the fixtures' configurations are of every supported family", () => {
  const families = ["llama-tied", "qwen2-bias", "qwen3-qknorm"].map(
    (name) => readHuggingFaceConfig(readFileSync(`tests/fixtures/models/${name}/hf/config.json`, "utf8")).family,
  );
  expect(families).toEqual(["llama", "qwen2", "qwen3"]);
});
