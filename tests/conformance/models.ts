import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { mergedWeights, readHuggingFaceConfig, weightsInMemory } from "../../engine/models/index.ts";
import type { Runtime } from "../../engine/onnx/index.ts";
import { SequenceModel } from "../../engine/training/index.ts";
import { openRuntime } from "../../main/engine-runtime/index.ts";
import { closeRows } from "./closeness.ts";
import { greedyDifference } from "./greedy.ts";
import { logitsOf } from "./logits.ts";
import {
  ExpectedTensors as Expected,
  type ExpectedTensors,
  type LoadedModel,
  loadAdapter,
  loadModel,
  type ModelCase,
  modelCaseSchema,
  valueCaseSchema,
} from "./model-case.ts";
import { batchOf, checkTraining, memory, scoreTolerance } from "./model-training.ts";
import { firstDifference, type Report } from "./report.ts";
import { checkValueHead } from "./value-head.ts";

/** Whole models: forward pass, gradients of LoRA and of all weights, optimiser curves, decoding, value head. */
export async function checkModels(folder: string, report: Report): Promise<void> {
  const runtime = await openRuntime();
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const directory = join(folder, entry.name);
    const raw: unknown = JSON.parse(await readFile(join(directory, "case.json"), "utf8"));
    const expected = await Expected.read(join(directory, "tensors.safetensors"));
    const valueCase = valueCaseSchema.safeParse(raw);
    if (valueCase.success) await checkValueHead(report, entry.name, runtime, directory, valueCase.data, expected);
    else await checkModel(report, entry.name, runtime, directory, modelCaseSchema.parse(raw), expected);
  }
}

async function checkModel(
  report: Report,
  name: string,
  runtime: Runtime,
  directory: string,
  one: ModelCase,
  expected: ExpectedTensors,
): Promise<void> {
  const configText = await readFile(join(directory, "hf", "config.json"), "utf8");
  const otherText = await readFile(join(directory, "config-other-style.json"), "utf8");
  await report.run(`${name}/both styles of config.json`, () =>
    firstDifference({ config: [readHuggingFaceConfig(otherText), readHuggingFaceConfig(configText)] }),
  );
  const loaded = await loadModel(join(directory, "hf"), configText);
  await report.run(`${name}/logits`, () => logitsDifference(runtime, loaded, one, expected));
  await report.run(`${name}/greedy decoding`, () => greedyDifference(runtime, loaded, one.greedy, scoreTolerance));
  const adapter = await loadAdapter(loaded.description, join(directory, "adapter"));
  await checkTraining(report, name, runtime, loaded, one, expected, null);
  await checkTraining(report, name, runtime, loaded, one, expected, adapter);
  await report.run(`${name}/merged adapter`, async () => {
    const weights = weightsInMemory(mergedWeights(loaded.description, loaded.weights, adapter));
    const options = { runtime, description: loaded.description, weights, adapter: null, parameters: new Map(), trained: "adapter" as const };
    const model = new SequenceModel({ ...options, withEntropy: false, withValues: false, memory });
    const { logprobs } = await model.score(batchOf(expected, one.lens));
    await model.close();
    return closeRows("log-probability", logprobs, expected.matrix("lora.logprobs"), one.lens, scoreTolerance);
  });
}

async function logitsDifference(runtime: Runtime, loaded: LoadedModel, one: ModelCase, expected: ExpectedTensors): Promise<string | null> {
  const sequences = expected.sequences(one.lens);
  const width = Math.max(...one.lens);
  const vocabulary = loaded.description.config.vocabularySize;
  const logits = await logitsOf(runtime, loaded, sequences);
  // One row of positions and vocabulary for each sequence, so that padding is skipped.
  const asRows = (data: ArrayLike<number>) => ({ rows: sequences.length, width: width * vocabulary, values: Float64Array.from(data) });
  const lengths = one.lens.map((length) => length * vocabulary + 1);
  return closeRows("logit", asRows(logits), asRows(expected.numbers("logits")), lengths, scoreTolerance);
}
