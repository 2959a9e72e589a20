import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import {
  type Checkpoint,
  readElements,
  readSafetensors,
  readShardedCheckpoint,
  tensorBytes,
  toFloat32,
  WeightsError,
} from "../../engine/weights/index.ts";
import { byteFile } from "./byte-file.ts";
import type { Report } from "./report.ts";

const element = z.union([z.number(), z.boolean(), z.string()]);
const validSchema = z.object({
  files: z.array(
    z.object({
      file: z.string(),
      // Kept as parsed: a record schema would drop the key "__proto__".
      metadata: z.custom<Record<string, string> | null>((value) => typeof value === "object"),
      tensors: z.array(z.object({ name: z.string(), dtype: z.string(), shape: z.array(z.number()), values: z.array(element) })),
    }),
  ),
});
const brokenSchema = z.object({ files: z.array(z.object({ file: z.string(), must_refuse: z.boolean() })) });
const shardedSchema = z
  .object({ values: z.record(z.string(), z.array(z.number())), shapes: z.record(z.string(), z.array(z.number())) })
  .catchall(z.unknown());
type ValidFile = z.infer<typeof validSchema>["files"][number];

/** safetensors files: odd ones that load, broken ones that must be refused by WeightsError, shards with their index. */
export async function checkSafetensors(folder: string, report: Report): Promise<void> {
  const json = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(folder, name), "utf8"));
  for (const one of validSchema.parse(await json("valid.json")).files) {
    await report.run(`valid/${one.file}`, () => checkValid(join(folder, "valid", one.file), one));
  }
  for (const one of brokenSchema.parse(await json("broken.json")).files) {
    await report.run(`broken/${one.file}`, async () => {
      const source = await byteFile(join(folder, "broken", one.file), one.file);
      return refusal(() => readSafetensors(source), one.must_refuse);
    });
  }
  await checkSharded(join(folder, "sharded"), report);
}

/** null when `read` refuses by WeightsError, or reads where it may. */
export function refusal(read: () => unknown, mustRefuse: boolean): string | null {
  try {
    read();
  } catch (error) {
    return error instanceof WeightsError
      ? null
      : `refused by ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}, not by a clear sentence`;
  }
  return mustRefuse ? "was read, must be refused" : null;
}

async function checkValid(path: string, one: ValidFile): Promise<string | null> {
  const file = readSafetensors(await byteFile(path, one.file));
  const metadata = file.metadata === null ? null : [...file.metadata].toSorted();
  const expected = one.metadata === null ? null : Object.entries(one.metadata).toSorted();
  if (JSON.stringify(metadata) !== JSON.stringify(expected)) return `metadata differs: ${JSON.stringify(metadata)}`;
  if (file.tensors.size !== one.tensors.length) return `has ${file.tensors.size} tensors, expected ${one.tensors.length}`;
  for (const wanted of one.tensors) {
    const tensor = file.tensors.get(wanted.name);
    if (tensor === undefined) return `lacks ${wanted.name}`;
    if (tensor.type !== wanted.dtype || String(tensor.shape) !== String(wanted.shape))
      return `${wanted.name} is ${tensor.type} [${tensor.shape.join()}]`;
    const values = readElements(tensor.type, tensorBytes(file, wanted.name))?.map(written) ?? [];
    const wrong = wanted.values.findIndex((value, index) => !sameValue(values[index], value));
    if (wrong >= 0 || values.length !== wanted.values.length) return `${wanted.name}[${wrong}] is ${values[wrong]}, expected ${wanted.values[wrong]}`;
  }
  return null;
}

/** A value as the reference writes it: not-finite numbers, −0 and integers beyond 2^53 as text. */
function written(value: number | bigint | boolean): number | boolean | string {
  if (typeof value === "boolean") return value;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return Object.is(value, -0) ? "-0" : value;
}

function sameValue(got: number | boolean | string | undefined, expected: number | boolean | string): boolean {
  return got === expected || String(got) === String(expected);
}

async function checkSharded(folder: string, report: Report): Promise<void> {
  const expected = shardedSchema.parse(JSON.parse(await readFile(join(folder, "expected.json"), "utf8")));
  const files = await readdir(folder);
  const sources = new Map(
    await Promise.all(
      files.filter((name) => name.endsWith(".safetensors")).map(async (name) => [name, await byteFile(join(folder, name), name)] as const),
    ),
  );
  for (const index of files.filter((name) => name !== "expected.json" && name.endsWith(".json"))) {
    const verdict = String(expected[index] ?? "");
    const text = await readFile(join(folder, index), "utf8");
    const read = (): Checkpoint => readShardedCheckpoint(index, text, (name) => sources.get(name) ?? null);
    await report.run(`sharded/${index}`, () =>
      verdict.startsWith("refuse") ? refusal(read, true) : checkShards(read(), expected.values, expected.shapes),
    );
  }
}

function checkShards(checkpoint: Checkpoint, values: Record<string, number[]>, shapes: Record<string, number[]>): string | null {
  for (const [name, wanted] of Object.entries(values)) {
    const found = checkpoint.tensors.get(name);
    if (found === undefined) return `lacks ${name}`;
    if (String(found.tensor.shape) !== String(shapes[name])) return `${name} has shape [${found.tensor.shape.join()}]`;
    const got = toFloat32(found.tensor.type, tensorBytes(found.file, name));
    if (got === null || wanted.some((value, index) => got[index] !== Math.fround(value))) return `${name} has other values`;
  }
  return null;
}
