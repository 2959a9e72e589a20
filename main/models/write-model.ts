/** Writes a model as a Hugging Face folder, whole or not at all: into a folder beside, which is renamed at the end. */
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type ModelDescription, weightShapes } from "../../engine/models/index.ts";
import { safetensorsHeader } from "../../engine/weights/index.ts";
import { WorkbenchError } from "../errors.ts";

export interface ModelToWrite {
  readonly description: ModelDescription;
  /** Values of a weight, asked for once each. */
  readonly weight: (name: string) => Float32Array;
  /** Small files by name. */
  readonly files: Readonly<Record<string, string>>;
}

export interface WriteOptions {
  readonly signal?: AbortSignal;
  /** Weights done, of all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Throws WorkbenchError when the folder is there already. */
export async function writeModelFolder(folder: string, model: ModelToWrite, options: WriteOptions = {}): Promise<void> {
  const partial = join(dirname(folder), `.${basename(folder)}.${process.pid}.partial`);
  await mkdir(partial, { recursive: true });
  try {
    await writeWeights(join(partial, "model.safetensors"), model, options);
    for (const [name, text] of Object.entries(model.files)) await writeFile(join(partial, name), text);
    await rename(partial, folder);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "EEXIST")) {
      throw new WorkbenchError("usage", `${folder} is there already.`, "Remove it first, or choose another name.");
    }
    throw error;
  }
}

async function writeWeights(path: string, { description, weight }: ModelToWrite, { signal, onProgress }: WriteOptions): Promise<void> {
  const shapes = [...weightShapes(description)];
  const file = await open(path, "w");
  try {
    await file.writeFile(
      safetensorsHeader(
        shapes.map(([name, shape]) => ({ name, type: "F32", shape })),
        { format: "pt" },
      ),
    );
    for (const [done, [name]] of shapes.entries()) {
      signal?.throwIfAborted();
      const values = weight(name);
      await file.writeFile(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
      onProgress?.(done + 1, shapes.length);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}
