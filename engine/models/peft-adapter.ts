/** LoRA adapters as PEFT writes them: adapter_config.json and adapter_model.safetensors. */
import { z } from "zod";
import { type ByteSource, readSafetensors, tensorBytes, toFloat32, writeSafetensors } from "../weights/index.ts";
import { type Adapter, type LoraModule, type LoraSettings, loraFactor } from "./adapter.ts";
import type { LinearKind } from "./config.ts";
import { linearsOf, type ModelDescription } from "./description.ts";
import { ModelError } from "./model-error.ts";

const configSchema = z.looseObject({
  peft_type: z.literal("LORA", { error: "only LORA adapters are supported" }),
  r: z.number().int().positive(),
  lora_alpha: z.number(),
  use_rslora: z.boolean().default(false),
  rank_pattern: z.record(z.string(), z.number()).nullish(),
  alpha_pattern: z.record(z.string(), z.number()).nullish(),
});

/** Options that change what an adapter computes and that this engine has not; a value other than these is refused. */
const inert: Readonly<Record<string, readonly unknown[]>> = {
  bias: ["none"],
  use_dora: [false],
  fan_in_fan_out: [false],
  lora_bias: [false],
  modules_to_save: [null],
  layer_replication: [null],
  alora_invocation_tokens: [null],
  trainable_token_indices: [null],
  target_parameters: [null],
  use_bdlora: [null, false],
  use_qalora: [false],
};

const prefix = "base_model.model.";

/** Reads an adapter for the described model; throws ModelError naming what does not fit. */
export function readPeftAdapter(description: ModelDescription, configText: string, source: ByteSource): Adapter {
  const config = readConfig(configText);
  const file = readSafetensors(source);
  const linears = new Map(linearsOf(description).map((linear) => [linear.module, linear]));
  const fail = (problem: string): never => {
    throw new ModelError(source.name, problem);
  };
  for (const name of file.tensors.keys()) {
    const module = /^base_model\.model\.(.+)\.lora_[AB]\.weight$/.exec(name)?.[1];
    if (module === undefined) fail(`holds ${name}, which is no LoRA matrix`);
    else if (!linears.has(module)) fail(`adapts ${module}, which this model does not have`);
  }
  const read = (name: string, shape: readonly number[]): Float32Array => {
    const tensor = file.tensors.get(name) ?? fail(`has no ${name}`);
    if (tensor.shape.join() !== shape.join()) fail(`has ${name} with the shape [${tensor.shape.join(", ")}], expected [${shape.join(", ")}]`);
    return toFloat32(tensor.type, tensorBytes(file, name)) ?? fail(`stores ${name} as ${tensor.type}, which holds no real numbers`);
  };
  const adapter = new Map<string, LoraModule>();
  for (const [module, { inputs, outputs }] of linears) {
    const name = `${prefix}${module}.lora_A.weight`;
    if (!file.tensors.has(name) && !file.tensors.has(`${prefix}${module}.lora_B.weight`)) continue;
    const rank = byPattern(config.rank_pattern, module) ?? config.r;
    const alpha = byPattern(config.alpha_pattern, module) ?? config.lora_alpha;
    adapter.set(module, {
      rank,
      factor: loraFactor({ rank, alpha, rankStabilised: config.use_rslora }),
      a: read(name, [rank, inputs]),
      b: read(`${prefix}${module}.lora_B.weight`, [outputs, rank]),
    });
  }
  if (adapter.size === 0) fail("adapts nothing");
  return adapter;
}

function readConfig(text: string): z.infer<typeof configSchema> {
  const where = "adapter_config.json";
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ModelError(where, `is not JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  const parsed = configSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ModelError(where, `cannot be used: ${issue?.path.join(".") ?? ""} ${issue?.message ?? "has another form"}`);
  }
  for (const [option, allowed] of Object.entries(inert)) {
    const given = parsed.data[option];
    const empty = Array.isArray(given) && given.length === 0;
    if (given !== undefined && given !== null && !empty && !allowed.includes(given)) {
      throw new ModelError(where, `sets ${option} to ${JSON.stringify(given)}, which is not supported`);
    }
  }
  return parsed.data;
}

/** PEFT's rule: the first pattern that matches the end of the module's path, as a regular expression. */
function byPattern(patterns: Readonly<Record<string, number>> | null | undefined, module: string): number | null {
  const found = Object.entries(patterns ?? {}).find(([pattern]) => new RegExp(`^(?:.*\\.)?(?:${pattern})$`).test(module));
  return found?.[1] ?? null;
}

/** Files of an adapter that PEFT and vLLM load. `baseModel`: what `base_model_name_or_path` says. */
export function writePeftAdapter(
  description: ModelDescription,
  adapter: Adapter,
  settings: LoraSettings,
  baseModel: string,
): { readonly config: string; readonly weights: Uint8Array } {
  const tensors = linearsOf(description).flatMap(({ module, inputs, outputs }) => {
    const lora = adapter.get(module);
    if (lora === undefined) return [];
    return [
      { name: `${prefix}${module}.lora_A.weight`, type: "F32" as const, shape: [lora.rank, inputs], bytes: bytesOf(lora.a) },
      { name: `${prefix}${module}.lora_B.weight`, type: "F32" as const, shape: [outputs, lora.rank], bytes: bytesOf(lora.b) },
    ];
  });
  const config = {
    base_model_name_or_path: baseModel,
    bias: "none",
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    lora_alpha: settings.alpha,
    lora_dropout: 0,
    modules_to_save: null,
    peft_type: "LORA",
    r: settings.rank,
    target_modules: settings.targets.map((kind) => targetNames[kind]),
    task_type: "CAUSAL_LM",
    use_dora: false,
    use_rslora: settings.rankStabilised,
  };
  return { config: `${JSON.stringify(config, null, 2)}\n`, weights: writeSafetensors(tensors, { format: "pt" }) };
}

const targetNames: Readonly<Record<LinearKind, string>> = {
  query: "q_proj",
  key: "k_proj",
  value: "v_proj",
  output: "o_proj",
  gate: "gate_proj",
  up: "up_proj",
  down: "down_proj",
};

function bytesOf(values: Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
