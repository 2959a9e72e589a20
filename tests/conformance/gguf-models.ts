/** Whole models and vocabularies in GGUF: whatever JSON beside a file says what it is. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { describeModel, ggufWeights, readGgufConfig } from "../../engine/models/index.ts";
import { loadTokenizer, type Tokenizer, tokenizerFromGguf } from "../../engine/tokenizers/index.ts";
import { type GgufFile, readGguf } from "../../engine/weights/index.ts";
import { openRuntime } from "../../main/engine-runtime/index.ts";
import { byteFile } from "./byte-file.ts";
import { closeTensor, first } from "./closeness.ts";
import { greedyDifference } from "./greedy.ts";
import { logitsOf } from "./logits.ts";
import { ExpectedTensors } from "./model-case.ts";
import { firstDifference, type Report } from "./report.ts";

const modelSchema = z.object({
  config: z.object({
    hidden_size: z.number(),
    layers: z.number(),
    heads: z.number(),
    kv_heads: z.number(),
    intermediate_size: z.number(),
    vocab_size: z.number(),
    rope_theta: z.number(),
  }),
  cases: z.array(z.object({ text: z.string(), ids: z.array(z.number()), logits: z.string(), greedy: z.array(z.number()) })),
});
const vocabularySchema = z.object({
  meta: z.object({ vocab_size: z.number() }),
  cases: z.array(z.object({ name: z.string(), text: z.string(), ids: z.array(z.number()), decode: z.string() })),
});

export async function checkGgufModels(folder: string, report: Report): Promise<void> {
  for (const name of (await readdir(folder)).filter((file) => file.endsWith(".json"))) {
    const value: unknown = JSON.parse(await readFile(join(folder, name), "utf8"));
    const base = name.replace(/\.json$/, "");
    const model = modelSchema.safeParse(value);
    const vocabulary = vocabularySchema.safeParse(value);
    if (model.success) await checkModel(folder, base, model.data, report);
    else if (vocabulary.success) await checkVocabulary(folder, base, vocabulary.data, report);
  }
}

async function checkVocabulary(folder: string, base: string, { meta, cases }: z.infer<typeof vocabularySchema>, report: Report): Promise<void> {
  const tokenizer = tokenizerOf(readGguf(await byteFile(join(folder, `${base}.gguf`), base)));
  await report.run(`${base}/size`, () => firstDifference({ size: [tokenizer.vocabularySize, meta.vocab_size] }));
  for (const { name, text, ids, decode } of cases) {
    await report.run(`${base}/${name}`, () => firstDifference({ ids: [[...tokenizer.encode(text)], ids], decode: [tokenizer.decode(ids), decode] }));
  }
}

function tokenizerOf(file: GgufFile): Tokenizer {
  const { tokenizerJson, configJson } = tokenizerFromGguf(file.metadata);
  return loadTokenizer(tokenizerJson, configJson);
}

async function checkModel(folder: string, base: string, { config, cases }: z.infer<typeof modelSchema>, report: Report): Promise<void> {
  const file = readGguf(await byteFile(join(folder, `${base}.gguf`), base));
  const read = readGgufConfig(file);
  await report.run(`${base}/config`, () =>
    firstDifference({
      hidden_size: [read.hiddenSize, config.hidden_size],
      layers: [read.layerCount, config.layers],
      heads: [read.headCount, config.heads],
      kv_heads: [read.keyValueHeadCount, config.kv_heads],
      intermediate_size: [read.feedForwardSize, config.intermediate_size],
      vocab_size: [read.vocabularySize, config.vocab_size],
      rope_theta: [read.ropeTheta, config.rope_theta],
    }),
  );
  const description = describeModel(read);
  const weights = ggufWeights(description, file);
  const expected = await ExpectedTensors.read(join(folder, `${base}.expected.safetensors`));
  const runtime = await openRuntime();
  const tokenizer = tokenizerOf(file);
  for (const stored of expected.names.filter((name) => !name.startsWith("logits"))) {
    await report.run(`${base}/${stored}`, () => closeTensor(stored, weights.values(stored), expected.numbers(stored), 1e-6));
  }
  for (const [index, { text, ids, logits }] of cases.entries()) {
    await report.run(`${base}/case ${index}`, async () =>
      first(
        firstDifference({ ids: [[...tokenizer.encode(text)], ids] }),
        closeTensor(
          "logits",
          (await logitsOf(runtime, { description, weights }, [ids])).slice(-expected.numbers(logits).length),
          expected.numbers(logits),
          1e-5,
        ),
      ),
    );
  }
  await report.run(`${base}/greedy decoding`, () =>
    greedyDifference(
      runtime,
      { description, weights },
      cases.map(({ ids, greedy }) => ({ prompt: ids, output: greedy, logprobs: null })),
      0,
    ),
  );
}
