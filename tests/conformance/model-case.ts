/** A case of the part `models`: its files, read by the engine's own readers, and its settings. */
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Matrix } from "../../engine/algorithms/index.ts";
import {
  type Adapter,
  checkpointWeights,
  describeModel,
  type ModelDescription,
  type ModelWeights,
  readHuggingFaceConfig,
  readPeftAdapter,
} from "../../engine/models/index.ts";
import {
  type Checkpoint,
  readElements,
  readSafetensors,
  readShardedCheckpoint,
  type SafetensorsFile,
  singleFileCheckpoint,
  tensorBytes,
} from "../../engine/weights/index.ts";
import { byteFile } from "./byte-file.ts";

const optimiserSchema = z.object({
  loss: z.enum(["sft", "ppo"]),
  betas: z.tuple([z.number(), z.number()]),
  eps: z.number(),
  weight_decay: z.number(),
  clip_grad_norm: z.number(),
  lr: z.array(z.number()),
  curve: z.array(z.tuple([z.number(), z.number()])),
});
export type OptimiserCase = z.infer<typeof optimiserSchema>;

const trainingSchema = z.object({
  sft_loss: z.number(),
  sft_grad_norm: z.number(),
  ppo_loss: z.number(),
  ppo_grad_norm: z.number(),
  ppo_metrics: z.object({
    policy_loss: z.number(),
    kl: z.number(),
    clip_fraction: z.number(),
    lower_clip_fraction: z.number(),
    ppo_kl: z.number(),
  }),
  adamw: optimiserSchema,
});
export type TrainingCase = z.infer<typeof trainingSchema>;

const policySchema = z.object({ clip_low: z.number(), clip_high: z.number(), dual_clip: z.number(), kl_coef: z.number() });
export type PolicySettings = z.infer<typeof policySchema>;

export const modelCaseSchema = z.object({
  lens: z.array(z.number()),
  ppo: policySchema,
  full: trainingSchema,
  lora: trainingSchema,
  greedy: z.array(z.object({ prompt: z.array(z.number()), output: z.array(z.number()), logprobs: z.array(z.number()) })),
});
export type ModelCase = z.infer<typeof modelCaseSchema>;

export const valueCaseSchema = z.object({
  lens: z.array(z.number()),
  weights: z.string(),
  gamma: z.number(),
  lam: z.number(),
  value_clip: z.number(),
  value_loss: z.number(),
  value_clip_fraction: z.number(),
  value_grad_norm: z.number(),
  policy_loss_with_kl: z.number(),
  ppo: policySchema,
});
export type ValueCase = z.infer<typeof valueCaseSchema>;

export interface LoadedModel {
  readonly description: ModelDescription;
  readonly weights: ModelWeights;
  /** Real path of the folder that weights are mapped from; absent = they are in memory. */
  readonly weightsFolder?: string;
}

/** A Hugging Face folder, one file or several with an index; weights stay in their files. */
export async function loadModel(folder: string, configText: string): Promise<LoadedModel> {
  const description = describeModel(readHuggingFaceConfig(configText));
  return { weightsFolder: await realpath(folder), description, weights: checkpointWeights(description, await loadCheckpoint(folder), folder) };
}

async function loadCheckpoint(folder: string): Promise<Checkpoint> {
  const indexName = "model.safetensors.index.json";
  const index = await readFile(join(folder, indexName), "utf8").catch(() => null);
  if (index === null) return singleFileCheckpoint(await byteFile(join(folder, "model.safetensors"), "model.safetensors"));
  const names = new Set(Object.values(z.object({ weight_map: z.record(z.string(), z.string()) }).parse(JSON.parse(index)).weight_map));
  const files = new Map(await Promise.all([...names].map(async (name) => [name, await byteFile(join(folder, name), name)] as const)));
  return readShardedCheckpoint(indexName, index, (name) => files.get(name) ?? null);
}

export async function loadAdapter(description: ModelDescription, folder: string): Promise<Adapter> {
  const config = await readFile(join(folder, "adapter_config.json"), "utf8");
  return readPeftAdapter(description, config, await byteFile(join(folder, "adapter_model.safetensors"), "adapter_model.safetensors"));
}

/** The stored tensors of a case. */
export class ExpectedTensors {
  readonly #file: SafetensorsFile;

  constructor(file: SafetensorsFile) {
    this.#file = file;
  }

  static async read(path: string): Promise<ExpectedTensors> {
    return new ExpectedTensors(readSafetensors(await byteFile(path, path)));
  }

  get names(): readonly string[] {
    return [...this.#file.tensors.keys()];
  }

  numbers(name: string): Float64Array {
    const tensor = this.#file.tensors.get(name);
    return Float64Array.from(readElements(tensor?.type ?? "F32", tensorBytes(this.#file, name)) ?? [], Number);
  }

  matrix(name: string): Matrix {
    const [rows = 0, width = 0] = this.#file.tensors.get(name)?.shape ?? [];
    return { rows, width, values: this.numbers(name) };
  }

  /** Rows of token ids, each as long as `lengths` says. */
  sequences(lengths: readonly number[]): readonly Int32Array[] {
    const { width, values } = this.matrix("input_ids");
    return lengths.map((length, row) => Int32Array.from(values.subarray(row * width, row * width + length)));
  }
}
