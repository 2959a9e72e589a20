/** Models that a person brought into a data folder. */
import { existsSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { WorkbenchError } from "../errors.ts";
import { importGguf } from "./import-gguf.ts";
import { openModelFolder } from "./model-folder.ts";
import type { WriteOptions } from "./write-model.ts";

export interface ImportedModel {
  readonly folder: string;
  /** What `--policy` takes. */
  readonly policy: string;
  readonly layers: number;
  readonly vocabulary: number;
}

export function importedModels(dataFolder: string): string {
  return join(dataFolder, "policies");
}

export interface ImportOptions extends WriteOptions {
  readonly dataFolder: string;
  /** Left out: from the name of the file. */
  readonly name?: string;
}

/** Rejects with WorkbenchError for a path that holds no model that this engine runs. */
export async function importModel(path: string, options: ImportOptions): Promise<ImportedModel> {
  if (!existsSync(path)) throw new WorkbenchError("not-found", `There is no ${path}.`, "Name a GGUF file or a Hugging Face folder.");
  if (statSync(path).isDirectory()) return described(resolve(path), `embedded:${resolve(path)}`);
  const name = options.name ?? basename(path).replace(/\.gguf$/i, "");
  if (!/^[\w.-]+$/.test(name))
    throw new WorkbenchError("usage", `"${name}" cannot be a name.`, "Use letters, digits, dots, hyphens and underscores.");
  const folder = join(importedModels(options.dataFolder), name);
  if (existsSync(folder)) throw new WorkbenchError("usage", `${folder} is there already.`, "Remove it first, or choose another name.");
  await mkdir(importedModels(options.dataFolder), { recursive: true });
  await importGguf(path, folder, options);
  return described(folder, `embedded:${name}`);
}

async function described(folder: string, policy: string): Promise<ImportedModel> {
  const model = await openModelFolder(folder);
  model.close();
  const { layerCount, vocabularySize } = model.description.config;
  return { folder, policy, layers: layerCount, vocabulary: vocabularySize };
}
