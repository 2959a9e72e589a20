import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeModel, weightShapes } from "../../engine/models/index.ts";
import { openModelFolder } from "../models/index.ts";
import { shippedRecipe, starterConfig } from "./checkpoint-recipe.ts";
import { firstWeights } from "./first-weights.ts";
import { starterTokenizer } from "./tokenizer.ts";
import { trainStarterCheckpoint } from "./train-checkpoint.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "openforge-checkpoint-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("first weights have the spread that they should, and repeat", () => {
  const description = describeModel(starterConfig(640));
  const weight = firstWeights(description, 3);
  const deviation = (name: string): number => {
    const values = weight(name);
    return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
  };
  expect(deviation("model.embed_tokens.weight")).toBeCloseTo(0.08, 2);
  expect(deviation("model.layers.1.mlp.gate_proj.weight")).toBeCloseTo(1 / Math.sqrt(128), 2);
  expect(deviation("model.layers.1.mlp.down_proj.weight")).toBeCloseTo(1 / Math.sqrt(256 * 6), 2);
  expect(new Set(weight("model.norm.weight"))).toEqual(new Set([1]));
  const again = firstWeights(description, 3);
  expect([...weightShapes(description).keys()].filter((name) => again(name).some((value, index) => value !== weight(name)[index]))).toEqual([]);
});

test("a few steps learn something, and the same recipe gives the same bytes", { timeout: 60_000 }, async () => {
  const recipe = { ...shippedRecipe, steps: 10 };
  const losses: number[] = [];
  const [one, two] = [join(folder, "one"), join(folder, "two")];
  await trainStarterCheckpoint(one, recipe, ({ loss }) => losses.push(loss));
  await trainStarterCheckpoint(two, recipe);
  expect(losses.length).toBe(10);
  expect(losses.at(-1)).toBeLessThan(0.7 * (losses[0] ?? 0));
  const bytes = (place: string): Promise<Buffer> => readFile(join(place, "model.safetensors"));
  expect((await bytes(two)).equals(await bytes(one))).toBe(true);
});

test("what ships is a model of this recipe with this tokenizer", async () => {
  const shipped = join(import.meta.dirname, "../../resources/policies/starter");
  const { tokenizerJson } = starterTokenizer();
  expect(await readFile(join(shipped, "tokenizer.json"), "utf8")).toBe(tokenizerJson);
  const model = await openModelFolder(shipped);
  const vocabulary = model.description.config.vocabularySize;
  expect(model.description.config).toEqual(starterConfig(vocabulary));
  expect(
    [...weightShapes(model.description).values()].reduce((sum, shape) => sum + shape.reduce((product, size) => product * size, 1), 0),
  ).toBeLessThan(1e6);
  model.close();
});
