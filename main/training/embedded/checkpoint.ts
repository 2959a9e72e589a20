/**
 * A training run on disk: parameters, optimiser state, step and the run's own position. Written into a folder beside and renamed, so that a
 * checkpoint is whole or not there; float32 as it was, so that a resumed run continues to the bit.
 */
import { mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import type { AdamWState, NamedArrays } from "../../../engine/optimiser/index.ts";
import { readSafetensors, safetensorsHeader, tensorBytes, toFloat32 } from "../../../engine/weights/index.ts";
import { WorkbenchError } from "../../errors.ts";
import { openFile } from "../../models/index.ts";

export interface Checkpoint {
  readonly parameters: NamedArrays;
  readonly optimiser: AdamWState;
  readonly position: string | null;
}

const stateSchema = z.object({ format: z.literal(1), step: z.number().int().nonnegative(), position: z.string().nullable() });
const tensorFile = "training.safetensors";
const parts = ["parameter", "first", "second"] as const;

type Files = Readonly<Record<string, string | Uint8Array>>;

/** `extra`: further files by name, for example the adapter as PEFT reads it. Replaces what is there. */
export async function writeCheckpoint(folder: string, { parameters, optimiser, position }: Checkpoint, extra: Files): Promise<void> {
  await replaceFolder(folder, async (partial) => {
    await writeTensors(join(partial, tensorFile), { parameter: parameters, first: optimiser.first, second: optimiser.second });
    await writeFile(join(partial, "state.json"), JSON.stringify({ format: 1, step: optimiser.step, position }));
    await writeFiles(partial, extra);
  });
}

/** The same for files alone. */
export async function writeFolder(folder: string, files: Files): Promise<void> {
  await replaceFolder(folder, (partial) => writeFiles(partial, files));
}

async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
}

/** The new folder is whole before the old one is moved away. */
async function replaceFolder(folder: string, write: (partial: string) => Promise<void>): Promise<void> {
  const partial = join(dirname(folder), `.${basename(folder)}.${process.pid}.partial`);
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  try {
    await write(partial);
    const old = `${partial}.old`;
    const replaced = await rename(folder, old).then(
      () => true,
      () => false,
    );
    await rename(partial, folder);
    if (replaced) await rm(old, { recursive: true, force: true });
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function writeTensors(path: string, named: Readonly<Record<(typeof parts)[number], NamedArrays>>): Promise<void> {
  const tensors = parts.flatMap((part) => [...named[part]].map(([name, values]) => ({ name: `${part}.${name}`, values })));
  const file = await open(path, "w");
  try {
    await file.writeFile(
      safetensorsHeader(
        tensors.map(({ name, values }) => ({ name, type: "F32", shape: [values.length] })),
        null,
      ),
    );
    for (const { values } of tensors) await file.writeFile(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Rejects with WorkbenchError when the folder holds no whole checkpoint. */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  try {
    const { step, position } = stateSchema.parse(JSON.parse(await readFile(join(folder, "state.json"), "utf8")));
    const source = openFile(join(folder, tensorFile), tensorFile);
    try {
      const file = readSafetensors(source);
      const named = (part: string): NamedArrays => {
        const names = [...file.tensors.keys()].filter((name) => name.startsWith(`${part}.`));
        return new Map(names.map((name) => [name.slice(part.length + 1), toFloat32("F32", tensorBytes(file, name)) ?? new Float32Array()]));
      };
      return { parameters: named("parameter"), optimiser: { step, first: named("first"), second: named("second") }, position };
    } finally {
      source.close();
    }
  } catch (error) {
    throw new WorkbenchError(
      "usage",
      `${folder} holds no checkpoint that can be gone on from: ${error instanceof Error ? error.message : String(error)}`,
      "Name a checkpoint folder of this run, or begin anew.",
      { cause: error },
    );
  }
}
