/** A real small model: its tokenizer and chat template out of a GGUF file, logits, continuations, one LoRA step. */
import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { aggregate, aggregationWeights, distributionOf, type Matrix } from "../../engine/algorithms/index.ts";
import { type JsonObject, parseJson } from "../../engine/json/index.ts";
import { loraInput } from "../../engine/models/index.ts";
import type { Runtime } from "../../engine/onnx/index.ts";
import { globalNorm } from "../../engine/optimiser/index.ts";
import { chatContext, compileTemplate } from "../../engine/templates/index.ts";
import { loadTokenizer, type Tokenizer } from "../../engine/tokenizers/index.ts";
import { placeInRows, SequenceModel } from "../../engine/training/index.ts";
import { openRuntime } from "../../main/engine-runtime/index.ts";
import { importGguf, openModelFolder } from "../../main/models/index.ts";
import { close, closeRows, first } from "./closeness.ts";
import { greedyDifference } from "./greedy.ts";
import { logitsOf } from "./logits.ts";
import { type LoadedModel, loadAdapter } from "./model-case.ts";
import { memory } from "./model-training.ts";
import { firstDifference, type Report } from "./report.ts";

const numbers = z.array(z.number());
const expectedSchema = z.object({
  chat_template: z.string(),
  tokenizer: z.array(z.object({ text: z.string(), ids: numbers, decoded: z.string() })),
  prompts: z.array(
    z.object({
      messages: z.array(z.object({ role: z.string(), content: z.string() })),
      text: z.string(),
      ids: numbers,
      prompt_logprobs: numbers,
      last_logits: z.object({ top_ids: numbers, top_values: numbers, logsumexp: z.number(), mean: z.number() }),
      greedy: z.object({ ids: numbers, text: z.string(), logprobs: numbers }),
    }),
  ),
  sft: z.object({
    chats: z.array(z.array(z.object({ role: z.string(), content: z.string() }))),
    lens: numbers,
    ids: z.array(numbers),
    mask: z.array(numbers),
    base_loss: z.number(),
    loss: z.number(),
    logprobs: z.array(numbers),
    grad_norm: z.number(),
    gradients: z.record(z.string(), z.object({ shape: numbers, norm: z.number(), max_abs: z.number(), first8: numbers })),
  }),
});
type Expected = z.infer<typeof expectedSchema>;

export async function checkSmallModel(folder: string, report: Report): Promise<void> {
  const path = await smallModel().catch((error: Error) => error);
  if (path instanceof Error) {
    report.skip("SmolLM2-135M-Instruct", path.message.trim().split("\n").at(-1) ?? "the model cannot be had");
    return;
  }
  const expected = expectedSchema.parse(JSON.parse(await readFile(join(folder, "expected.json"), "utf8")));
  const loaded = await openModelFolder(path);
  const configText = await readFile(join(path, "tokenizer_config.json"), "utf8");
  const tokenizer = loadTokenizer(await readFile(join(path, "tokenizer.json"), "utf8"), configText);
  await checkText(report, tokenizer, z.object({ chat_template: z.string() }).parse(JSON.parse(configText)).chat_template, expected);
  const runtime = await openRuntime();
  for (const [index, prompt] of expected.prompts.entries()) {
    await report.run(`prompt ${index}`, () => promptDifference(runtime, loaded, prompt));
  }
  await report.run("greedy decoding", () =>
    greedyDifference(
      runtime,
      loaded,
      expected.prompts.map(({ ids, greedy }) => ({ prompt: ids, output: greedy.ids, logprobs: greedy.logprobs })),
      2e-4,
    ),
  );
  await checkStep(report, runtime, loaded, join(folder, "adapter"), expected.sft);
  loaded.close();
}

/** The model as a folder in the cache, fetched and imported when it is not there. */
async function smallModel(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ["tests/house/small-model.mjs"]);
  const file = stdout.trim();
  const folder = join(dirname(file), "SmolLM2-135M-Instruct");
  if ((await stat(folder).catch(() => null)) === null) await importGguf(file, folder);
  return folder;
}

async function checkText(report: Report, tokenizer: Tokenizer, chatTemplate: string, expected: Expected): Promise<void> {
  for (const [index, { text, ids, decoded }] of expected.tokenizer.entries()) {
    await report.run(`text ${index}`, () => firstDifference({ ids: [[...tokenizer.encode(text)], ids], decoded: [tokenizer.decode(ids), decoded] }));
  }
  const template = compileTemplate(chatTemplate);
  const render = (messages: Expected["prompts"][number]["messages"], addGenerationPrompt: boolean): string => {
    const given = messages.map((message) => parseJson(JSON.stringify(message)) as JsonObject);
    return template.render(chatContext({ messages: given, addGenerationPrompt }), { now: new Date(0) }).text;
  };
  for (const [index, { messages, text, ids }] of expected.prompts.entries()) {
    await report.run(`chat ${index}`, () => firstDifference({ text: [render(messages, true), text], ids: [[...tokenizer.encode(text)], ids] }));
  }
  for (const [index, chat] of expected.sft.chats.entries()) {
    await report.run(`training chat ${index}`, () => {
      const ids = [...tokenizer.encode(render(chat, false))];
      return firstDifference({ ids: [ids, expected.sft.ids[index]?.slice(0, expected.sft.lens[index])] });
    });
  }
}

async function promptDifference(runtime: Runtime, loaded: LoadedModel, prompt: Expected["prompts"][number]): Promise<string | null> {
  const vocabulary = loaded.description.config.vocabularySize;
  const logits = await logitsOf(runtime, loaded, [prompt.ids]);
  const last = logits.subarray((prompt.ids.length - 1) * vocabulary);
  const { top_ids, top_values, logsumexp, mean } = prompt.last_logits;
  const largest = Math.max(...last);
  const normaliser = largest + Math.log(last.reduce((sum, logit) => sum + Math.exp(logit - largest), 0));
  return first(
    ...top_ids.map((id, rank) => close(`logit of token ${id}`, last[id] ?? Number.NaN, top_values[rank] ?? Number.NaN, 5e-4)),
    close("log-sum-exp", normaliser, logsumexp, 5e-4),
    close("mean logit", last.reduce((sum, logit) => sum + logit, 0) / vocabulary, mean, 5e-4),
    ...prompt.prompt_logprobs.map((wanted, at) => {
      const { logprobs } = distributionOf(logits, at * vocabulary, vocabulary);
      return close(`log-probability of prompt token ${at + 1}`, logprobs[prompt.ids[at + 1] ?? 0] ?? Number.NaN, wanted, 2e-4);
    }),
  );
}

function matrix(rows: readonly (readonly number[])[]): Matrix {
  return { rows: rows.length, width: rows[0]?.length ?? 0, values: Float64Array.from(rows.flat()) };
}

async function checkStep(report: Report, runtime: Runtime, loaded: LoadedModel, adapterFolder: string, sft: Expected["sft"]): Promise<void> {
  const adapter = await loadAdapter(loaded.description, adapterFolder);
  const parameters = new Map<string, Float32Array>();
  for (const [module, { a, b }] of adapter) parameters.set(loraInput.a(module), a).set(loraInput.b(module), b);
  const sequences = sft.ids.map((ids, row) => Int32Array.from(ids.slice(0, sft.lens[row])));
  const batch = { sequences, placement: placeInRows(sft.lens, { rows: sequences.length, width: Math.max(...sft.lens) - 1 }) };
  const mask = matrix(sft.mask);
  const share = aggregationWeights(mask, { mode: "token-mean" });
  const options = { runtime, ...loaded, adapter, trained: "adapter" as const, withEntropy: false, withValues: false, memory };
  const model = new SequenceModel({ ...options, parameters });
  const byLogprob: Matrix = { ...share, values: share.values.map((weight) => -weight) };
  const { scores, gradients } = await model.gradients(batch, { byLogprob });
  await report.run("training step: loss and log-probabilities", () =>
    first(
      close("loss", -aggregate(scores.logprobs, mask, share), sft.loss, 1e-5),
      closeRows("log-probability", scores.logprobs, matrix(sft.logprobs), sft.lens, 2e-4),
    ),
  );
  await report.run("training step: gradients", () => {
    const all = gradients as ReadonlyMap<string, Float32Array>;
    return first(
      close("norm of all", globalNorm(all), sft.grad_norm, 1e-4 * sft.grad_norm),
      ...[...all].map(([parameter, values]) => gradientDifference(parameter, values, sft.gradients[`base_model.model.${parameter}.weight`])),
    );
  });
  await model.close();
  await report.run("loss without the adapter", async () => {
    const base = new SequenceModel({ ...options, adapter: null, parameters: new Map() });
    const { logprobs } = await base.score(batch);
    await base.close();
    return close("loss", -aggregate(logprobs, mask, share), sft.base_loss, 1e-5);
  });
}

function gradientDifference(name: string, values: Float32Array, wanted: Expected["sft"]["gradients"][string] | undefined): string | null {
  if (wanted === undefined) return `there is no reference for ${name}`;
  return first(
    close(`norm of ${name}`, globalNorm(new Map([[name, values]])), wanted.norm, 1e-4 * wanted.norm),
    ...wanted.first8.map((value, index) => close(`${name}[${index}]`, values[index] ?? Number.NaN, value, 1e-4 * wanted.max_abs)),
  );
}
