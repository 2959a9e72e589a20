/** Supervised fine-tuning of the starter policy on the teacher's transcripts, from random weights, by the trainer that trains everything here. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Matrix } from "../../engine/algorithms/index.ts";
import { describeModel, writeHuggingFaceConfig } from "../../engine/models/index.ts";
import { learningRate } from "../../engine/optimiser/index.ts";
import { deriveSeed, seededRandom } from "../../engine/statistics/index.ts";
import { loadTokenizer, type Tokenizer } from "../../engine/tokenizers/index.ts";
import { writeModelFolder } from "../models/index.ts";
import { openEmbeddedTrainer } from "../training/index.ts";
import { chatTemplate } from "./chat-template.ts";
import { type CheckpointRecipe, starterConfig } from "./checkpoint-recipe.ts";
import { type StarterHarness, starterFamilies, starterHarnesses } from "./contract.ts";
import { drawTask, pick, type Random } from "./families.ts";
import { firstWeights } from "./first-weights.ts";
import { harnessFormats } from "./harness-formats.ts";
import { starterTokenizer } from "./tokenizer.ts";
import { teacherTranscript } from "./transcript.ts";

export interface CheckpointProgress {
  readonly step: number;
  readonly steps: number;
  /** Of the step, and tokens since the beginning. */
  readonly loss: number;
  readonly tokens: number;
}

/** Writes a Hugging Face folder; it must not be there yet. The same recipe gives the same bytes on one kind of processor. */
export async function trainStarterCheckpoint(
  folder: string,
  recipe: CheckpointRecipe,
  onProgress: (progress: CheckpointProgress) => void = () => undefined,
): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), "openforge-checkpoint-"));
  try {
    const random = join(scratch, "random");
    const tokenizer = await writeFirstModel(random, recipe.seed);
    const trainer = await openEmbeddedTrainer({
      ...{ modelFolder: random, lora: null, valueHead: false, withEntropy: false, seed: recipe.seed, resumeFrom: null },
      ...{ optimiser: { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.01 }, clipNorm: 1, stopNorm: 1e3 },
      ...{ limits: { positions: 2048, longest: 256 }, memoryBudget: 2 ** 31 },
      // Sums come out the same however many cores there are.
      threads: 1,
    });
    try {
      const draw = seededRandom(deriveSeed("starter-checkpoint", recipe.seed));
      let tokens = 0;
      for (let step = 0; step < recipe.steps; step += 1) {
        const batch = drawBatch(recipe, tokenizer, draw);
        tokens += batch.sequences.reduce((sum, { length }) => sum + length, 0);
        const { reports } = await trainer.supervisedStep({ ...batch, rate: learningRate({ ...recipe.rate, steps: recipe.steps }, step) });
        onProgress({ step: step + 1, steps: recipe.steps, loss: reports[0]?.loss ?? Number.NaN, tokens });
      }
      await trainer.exportModel(folder);
    } finally {
      await trainer.close();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function writeFirstModel(folder: string, seed: number): Promise<Tokenizer> {
  const { tokenizerJson, configJson } = starterTokenizer();
  const tokenizer = loadTokenizer(tokenizerJson, configJson);
  const { special, vocabularySize } = tokenizer;
  const description = describeModel(starterConfig(vocabularySize));
  const generation = { eos_token_id: special.eos, pad_token_id: special.pad };
  const files = {
    "config.json": writeHuggingFaceConfig(description.config, special),
    "generation_config.json": `${JSON.stringify(generation, null, 2)}\n`,
    "tokenizer.json": tokenizerJson,
    "tokenizer_config.json": configJson,
    "chat_template.jinja": chatTemplate,
  };
  await writeModelFolder(folder, { description, weight: firstWeights(description, deriveSeed("starter-weights", seed)), files });
  return tokenizer;
}

function drawBatch(
  recipe: CheckpointRecipe,
  tokenizer: Tokenizer,
  random: Random,
): { readonly sequences: readonly Int32Array[]; readonly mask: Matrix } {
  const rows = Array.from({ length: recipe.transcripts }, () => {
    const task = drawTask(pick(random, starterFamilies), "train", random);
    const { parts } = teacherTranscript(task, harnessFormats[drawHarness(recipe, random)], random);
    const pieces = parts.map(({ text, ofPolicy }) => ({ ids: tokenizer.encode(text), ofPolicy }));
    const ids = Int32Array.from(pieces.flatMap((piece) => Array.from(piece.ids)));
    const learned = pieces.flatMap((piece) => Array.from(piece.ids, () => (piece.ofPolicy || random() < recipe.context ? 1 : 0)));
    return { ids, learned };
  });
  const width = Math.max(...rows.map(({ ids }) => ids.length)) - 1;
  const mask: Matrix = { rows: rows.length, width, values: new Float64Array(rows.length * width) };
  // A position predicts the token after it.
  for (const [row, { learned }] of rows.entries()) mask.values.set(learned.slice(1), row * width);
  return { sequences: rows.map(({ ids }) => ids), mask };
}

function drawHarness({ harnesses }: CheckpointRecipe, random: Random): StarterHarness {
  let left = random() * starterHarnesses.reduce((sum, harness) => sum + harnesses[harness], 0);
  for (const harness of starterHarnesses) {
    left -= harnesses[harness];
    if (left < 0) return harness;
  }
  return "react";
}
