/**
 * A model as a Hugging Face folder: configuration, safetensors in one file or several, tokenizer, chat template. Weights stay in their files
 * and are mapped from there. Links are followed: in a Hugging Face cache they lead to `blobs/`, and ONNX Runtime takes no path that leaves
 * its folder.
 */
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  checkpointWeights,
  describeModel,
  type ModelDescription,
  ModelError,
  type ModelWeights,
  readEndIds,
  readHuggingFaceConfig,
} from "../../engine/models/index.ts";
import { type Checkpoint, readShardedCheckpoint, singleFileCheckpoint, WeightsError } from "../../engine/weights/index.ts";
import { WorkbenchError } from "../errors.ts";
import { type OpenFile, openFile } from "./file-source.ts";

export interface ModelFolder {
  readonly folder: string;
  readonly description: ModelDescription;
  readonly weights: ModelWeights;
  /** Real path that the weights' files lie in. */
  readonly weightsFolder: string;
  /** Ids that end a turn. */
  readonly endIds: readonly number[];
  /** Closes the files; sessions that have mapped them go on. */
  close(): void;
}

const indexName = "model.safetensors.index.json";
const singleName = "model.safetensors";

/** Throws WorkbenchError with one sentence for a folder that holds no model that this engine runs. */
export async function openModelFolder(folder: string): Promise<ModelFolder> {
  const configText = await readRequired(folder, "config.json");
  const generationText = await readOptional(join(folder, "generation_config.json"));
  const index = await readOptional(join(folder, indexName));
  const names = index === null ? [singleName] : shardNames(index);
  const files: OpenFile[] = [];
  try {
    const paths = await Promise.all(names.map((name) => realPath(folder, name)));
    const weightsFolder = commonFolder(folder, paths);
    const open = (name: string): OpenFile | null => {
      const path = paths[names.indexOf(name)];
      if (path === undefined) return null;
      // Named by what it is called in the weights folder, which graphs refer to.
      const file = openFile(path, basename(path));
      files.push(file);
      return file;
    };
    const description = describeModel(readHuggingFaceConfig(configText, join(folder, "config.json")));
    const checkpoint: Checkpoint =
      index === null ? singleFileCheckpoint(required(open(singleName), folder)) : readShardedCheckpoint(indexName, index, open);
    return {
      folder,
      description,
      weights: checkpointWeights(description, checkpoint, folder),
      weightsFolder,
      endIds: readEndIds(configText, generationText),
      close: () => {
        for (const file of files) file.close();
      },
    };
  } catch (error) {
    for (const file of files) file.close();
    throw asModelProblem(error);
  }
}

/** Expected faults of files as an error with a remedy; anything else is a bug and stays what it is. */
export function asModelProblem(error: unknown): unknown {
  if (!(error instanceof ModelError || error instanceof WeightsError)) return error;
  return new WorkbenchError(
    "unavailable",
    error.message,
    "Use a Llama, Qwen2 or Qwen3 checkpoint with whole files; download it again if it was cut.",
    {
      exitCode: 2,
      cause: error,
    },
  );
}

async function readOptional(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

async function readRequired(folder: string, name: string): Promise<string> {
  const text = await readOptional(join(folder, name));
  if (text !== null) return text;
  throw new WorkbenchError(
    "not-found",
    `${folder} has no ${name}, so it is no model folder.`,
    "Name a Hugging Face folder, or import a GGUF file first.",
  );
}

function shardNames(index: string): string[] {
  const value: unknown = JSON.parse(index);
  const map = typeof value === "object" && value !== null && "weight_map" in value ? value.weight_map : null;
  if (typeof map !== "object" || map === null) throw new WeightsError(indexName, "has no weight_map");
  return [...new Set(Object.values(map).filter((name): name is string => typeof name === "string" && basename(name) === name))];
}

async function realPath(folder: string, name: string): Promise<string> {
  try {
    return await realpath(join(folder, name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") throw new ModelError(folder, `has no ${name}`);
    throw error;
  }
}

function commonFolder(folder: string, paths: readonly string[]): string {
  const folders = new Set(paths.map((path) => dirname(path)));
  const [first] = folders;
  if (first === undefined) throw new ModelError(folder, "names no weights file");
  if (folders.size > 1)
    throw new ModelError(folder, `has its weights in several folders (${[...folders].join(", ")}), which cannot be mapped together`);
  return first;
}

function required(file: OpenFile | null, folder: string): OpenFile {
  if (file === null) throw new ModelError(folder, `has no ${singleName}`);
  return file;
}
