import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Inputs, runAlgorithm, type Settings } from "./algorithm-cases.ts";
import type { Report } from "./report.ts";

const scalar = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"]).transform(Number)]);
const flat = z.array(z.union([scalar, z.string()]));
const tensor = z.object({ shape: z.array(z.number()), data: flat });
const value = z.union([tensor, scalar, flat, z.null()]);
const caseSchema = z.object({
  id: z.string(),
  function: z.string(),
  settings: z.record(z.string(), z.union([z.number(), z.string(), z.boolean(), z.null()])),
  inputs: z.record(z.string(), value),
  expected: z.record(z.string(), value),
  compare_where: z.string().optional(),
});
const fileSchema = z.object({ cases: z.array(caseSchema) });
type Case = z.infer<typeof caseSchema>;
type Value = z.infer<typeof value>;

/** Reinforcement-learning arithmetic in float64: |got − expected| ≤ 1e-9 + 1e-7·|expected|. */
export async function checkAlgorithms(folder: string, report: Report): Promise<void> {
  for (const name of (await readdir(folder)).filter((file) => file.endsWith(".json")).toSorted()) {
    const { cases } = fileSchema.parse(JSON.parse(await readFile(join(folder, name), "utf8")));
    for (const one of cases) await report.run(one.id, () => checkCase(one));
  }
}

function numbersOf(given: Value | undefined): number[] | null {
  if (given === undefined || given === null) return null;
  if (typeof given === "number") return [given];
  return (Array.isArray(given) ? given : given.data).map(Number);
}

function inputsOf(one: Case): Inputs {
  const find = (name: string): Exclude<Value, null> => {
    const found = one.inputs[name];
    if (found === undefined || found === null) throw new Error(`the case has no input ${name}`);
    return found;
  };
  return {
    has: (name) => one.inputs[name] !== undefined && one.inputs[name] !== null,
    numbers: (name) => Float64Array.from(numbersOf(find(name)) ?? []),
    labels: (name) => {
      const given = find(name);
      return (Array.isArray(given) ? given : typeof given === "number" ? [given] : given.data).map(String);
    },
    matrix: (name) => {
      const given = find(name);
      if (typeof given === "number" || Array.isArray(given)) throw new Error(`the input ${name} is no tensor`);
      const [rows = 1, width = 1, depth = 1] = given.shape;
      return { rows, width: width * depth, values: Float64Array.from(given.data.map(Number)) };
    },
    shape: (name) => {
      const given = find(name);
      return typeof given === "number" || Array.isArray(given) ? [] : given.shape;
    },
  };
}

function checkCase(one: Case): string | null {
  const settings: Settings = one.settings;
  const got = runAlgorithm(one.function, settings, inputsOf(one));
  const mask = one.compare_where === undefined ? null : numbersOf(one.inputs[one.compare_where]);
  for (const [name, wanted] of Object.entries(one.expected)) {
    const expected = numbersOf(wanted);
    if (expected === null) continue;
    const actual = got[name];
    if (actual === undefined) return `gives no ${name}`;
    const values = typeof actual === "number" ? [actual] : Array.from(actual);
    if (values.length !== expected.length) return `${name} has ${values.length} numbers, expected ${expected.length}`;
    const masked = mask !== null && mask.length === expected.length ? mask : null;
    const wrong = expected.findIndex((number, index) => (masked === null || masked[index] === 1) && !isClose(values[index] ?? Number.NaN, number));
    if (wrong >= 0) return `${name}[${wrong}] is ${values[wrong]}, expected ${expected[wrong]}`;
  }
  return null;
}

function isClose(got: number, expected: number): boolean {
  return Object.is(got, expected) || Math.abs(got - expected) <= 1e-9 + 1e-7 * Math.abs(expected);
}
