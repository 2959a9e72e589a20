/** A checkpoint in several safetensors files with an index that says which file holds which tensor. */
import { isJsonObject, JsonSyntaxError, type JsonValue, parseJson } from "../json/index.ts";
import type { ByteSource } from "./byte-source.ts";
import { readSafetensors, type SafetensorsFile, type StoredTensor } from "./safetensors.ts";
import { WeightsError } from "./weights-error.ts";

export interface Checkpoint {
  readonly files: readonly SafetensorsFile[];
  /** Each tensor with the file that holds it. */
  readonly tensors: ReadonlyMap<string, { readonly file: SafetensorsFile; readonly tensor: StoredTensor }>;
}

/** One file as a checkpoint. */
export function singleFileCheckpoint(source: ByteSource): Checkpoint {
  const file = readSafetensors(source);
  return { files: [file], tensors: new Map([...file.tensors].map(([name, tensor]) => [name, { file, tensor }])) };
}

/**
 * Reads an index and the files it names through `open` (null = there is no such file in the model's folder).
 * `metadata.total_size` is advisory and not checked.
 */
export function readShardedCheckpoint(indexName: string, indexText: string, open: (fileName: string) => ByteSource | null): Checkpoint {
  const weightMap = readWeightMap(indexName, indexText);
  const files = new Map<string, SafetensorsFile>();
  const tensors = new Map<string, { file: SafetensorsFile; tensor: StoredTensor }>();
  for (const [name, fileName] of weightMap) {
    let file = files.get(fileName);
    if (file === undefined) {
      const source = open(fileName);
      if (source === null) throw new WeightsError(indexName, `names the file ${fileName} for the tensor ${name}, and that file is not there`);
      file = readSafetensors(source);
      files.set(fileName, file);
    }
    const tensor = file.tensors.get(name);
    if (tensor === undefined) throw new WeightsError(indexName, `says that ${fileName} holds the tensor ${name}, and it does not`);
    tensors.set(name, { file, tensor });
  }
  return { files: [...files.values()], tensors };
}

function readWeightMap(indexName: string, text: string): Map<string, string> {
  let value: JsonValue;
  try {
    value = parseJson(text, { uniqueKeys: true });
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new WeightsError(indexName, `is ${error.message}`);
    throw error;
  }
  const map = isJsonObject(value) ? value.get("weight_map") : undefined;
  if (!isJsonObject(map)) throw new WeightsError(indexName, "has no weight_map");
  const result = new Map<string, string>();
  for (const [name, fileName] of map) {
    if (typeof fileName !== "string") throw new WeightsError(indexName, `names no file for the tensor ${name}`);
    if (/[/\\]/.test(fileName) || fileName === ".." || fileName === "") {
      throw new WeightsError(
        indexName,
        `names the file ${JSON.stringify(fileName)} for the tensor ${name}; a shard must lie in the model's own folder`,
      );
    }
    result.set(name, fileName);
  }
  return result;
}
