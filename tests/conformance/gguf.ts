import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { ggufTensorValues, readGguf, readSafetensors, tensorBytes, toFloat32, WeightsError } from "../../engine/weights/index.ts";
import { byteFile } from "./byte-file.ts";
import { checkGgufModels } from "./gguf-models.ts";
import type { Report } from "./report.ts";
import { refusal } from "./safetensors.ts";

const brokenSchema = z.object({ files: z.array(z.object({ file: z.string(), must_refuse: z.boolean() })) });
const typesSchema = z.record(z.string(), z.record(z.string(), z.object({ type: z.string(), shape: z.array(z.number()) })));

/** GGUF files: every tensor type dequantised, odd and broken files. Types that are not read must be refused by name, when asked for. */
export async function checkGguf(folder: string, report: Report): Promise<void> {
  const json = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(folder, name), "utf8"));
  for (const [name, tensors] of Object.entries(typesSchema.parse(await json("types.json")))) {
    const file = readGguf(await byteFile(join(folder, name), name));
    const expected = readSafetensors(await byteFile(join(folder, name.replace(/\.gguf$/, ".expected.safetensors")), name));
    for (const [tensor, wanted] of Object.entries(tensors)) {
      await report.run(`${name}/${tensor}`, () => {
        const found = file.tensors.get(tensor);
        if (found === undefined) return "is not in the file";
        if (found.type.name !== wanted.type || String(found.shape) !== String(wanted.shape)) return `is ${found.type.name} [${found.shape.join()}]`;
        const values = toFloat32("F32", tensorBytes(expected, tensor)) ?? new Float32Array();
        return compareValues(wanted.type, () => ggufTensorValues(file, tensor), values);
      });
    }
  }
  await checkGgufModels(folder, report);
  for (const one of brokenSchema.parse(await json("broken.json")).files) {
    await report.run(`broken/${one.file}`, async () => {
      const source = await byteFile(join(folder, "broken", one.file), one.file);
      return refusal(() => readGguf(source), one.must_refuse);
    });
  }
}

function compareValues(type: string, read: () => Float32Array, expected: Float32Array): string | null {
  let values: Float32Array;
  try {
    values = read();
  } catch (error) {
    return error instanceof WeightsError && error.message.includes(type) ? null : `refused without naming ${type}`;
  }
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const tolerance = /^(F|BF)/.test(type) ? 0 : 1e-6 * largest;
  const wrong = expected.findIndex(
    (value, index) => !(Object.is(values[index], value) || Math.abs((values[index] ?? Number.NaN) - value) <= tolerance),
  );
  return wrong < 0 && values.length === expected.length ? null : `value ${wrong} is ${values[wrong]}, expected ${expected[wrong]}`;
}
