/**
 * A real pretrained model learns here: from fifty short chats the loss on held-out chats falls, and the adapter leaves as PEFT names it; from
 * a reward alone its answers get more of what is rewarded.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Matrix } from "../../engine/algorithms/index.ts";
import { plainSampling } from "../../engine/decoding/index.ts";
import { deriveSeed } from "../../engine/statistics/index.ts";
import { loadTokenizer } from "../../engine/tokenizers/index.ts";
import { namedAlgorithms } from "../../engine/training/index.ts";
import { readSafetensors } from "../../engine/weights/index.ts";
import { openFile } from "../../main/models/index.ts";
import { baseVersion, openSampler } from "../../main/sampler/index.ts";
import { openEmbeddedTrainer } from "../../main/training/index.ts";
import { smallModel } from "./small-model.ts";

const folder = mkdtempSync(join(tmpdir(), "of-sft-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A made-up fact in a fixed form: what is learned is the form, so other facts get likelier too. */
function chat(index: number): { readonly prompt: string; readonly answer: string } {
  const parts = ["crane", "valve", "rotor", "hinge", "panel", "spring", "pulley"];
  const [part, bin] = [parts[index % parts.length] ?? "", 100 + ((index * 37) % 800)];
  return {
    prompt: `<|im_start|>user\nWhere is ${part} ${bin}?<|im_end|>\n<|im_start|>assistant\n`,
    answer: `LOCATION part=${part} shelf=${bin % 9} bin=${bin}<|im_end|>`,
  };
}

const training = {
  ...{ valueHead: false, withEntropy: false, clipNorm: 1, stopNorm: 1e4, seed: 1, threads: null, resumeFrom: null },
  ...{ optimiser: { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 }, limits: { positions: 512, longest: 128 }, memoryBudget: 3 << 29 },
};

test("fifty chats lower the loss on held-out ones, and the adapter has PEFT's names and shapes", async (context) => {
  const model = await smallModel();
  if (model === null) return context.skip("SmolLM2-135M-Instruct cannot be had here");
  const tokenizer = loadTokenizer(readFileSync(join(model, "tokenizer.json"), "utf8"));
  const batchOf = (from: number, to: number): { sequences: Int32Array[]; mask: Matrix } => {
    const rows = Array.from({ length: to - from }, (_unused, index) => chat(from + index)).map(({ prompt, answer }) => ({
      prompt: tokenizer.encode(prompt),
      answer: tokenizer.encode(answer),
    }));
    const sequences = rows.map(({ prompt, answer }) => Int32Array.from([...prompt, ...answer]));
    const width = Math.max(...sequences.map(({ length }) => length)) - 1;
    const values = new Float64Array(rows.length * width);
    for (const [row, { prompt, answer }] of rows.entries()) {
      values.fill(1, row * width + prompt.length - 1, row * width + prompt.length - 1 + answer.length);
    }
    return { sequences, mask: { rows: rows.length, width, values } };
  };
  const heldOut = batchOf(50, 58);
  const trainer = await openEmbeddedTrainer({
    ...training,
    ...{ modelFolder: model, lora: { rank: 8, alpha: 16, targets: ["query", "value"], rankStabilised: false } },
  });
  const before = await trainer.supervisedLoss(heldOut);
  for (let from = 0; from < 50; from += 10) await trainer.supervisedStep({ ...batchOf(from, from + 10), rate: 2e-3 });
  const after = await trainer.supervisedLoss(heldOut);
  const adapter = join(folder, "adapter");
  await trainer.publish(adapter);
  await trainer.close();
  console.log(`held-out loss ${before.toFixed(3)} before, ${after.toFixed(3)} after 5 steps of 10 chats`);
  expect(after).toBeLessThan(before * 0.8);
  const shapes = (path: string): Record<string, readonly number[]> => {
    const source = openFile(path, path);
    const found = Object.fromEntries([...readSafetensors(source).tensors].map(([name, { shape }]) => [name, shape]));
    source.close();
    return found;
  };
  expect(shapes(join(adapter, "adapter_model.safetensors"))).toEqual(shapes("tests/fixtures/smollm2/adapter/adapter_model.safetensors"));
});

/** Share of the answer's tokens that hold the letter e: enough of them by chance, and more to be had. */
function rewardOf(pieces: readonly string[]): number {
  return pieces.filter((piece) => piece.includes("e")).length / pieces.length;
}

test("a few steps of GRPO on a reward make what is rewarded likelier", { timeout: 400_000 }, async (context) => {
  const model = await smallModel();
  if (model === null) return context.skip("SmolLM2-135M-Instruct cannot be had here");
  const tokenizer = loadTokenizer(readFileSync(join(model, "tokenizer.json"), "utf8"));
  const prompts = ["Name a thing."].map((text) => tokenizer.encode(`<|im_start|>user\n${text}<|im_end|>\n<|im_start|>assistant\n`));
  const [group, answerTokens] = [32, 2];
  const sampler = await openSampler({ modelFolder: model, lanes: 8, contextWindow: 100, deterministic: false, parkedBytes: 0, threads: null });
  const trainer = await openEmbeddedTrainer({
    ...training,
    ...{ modelFolder: model, lora: { rank: 8, alpha: 16, targets: ["query", "value", "output"], rankStabilised: false } },
  });

  async function collect(version: string, step: number) {
    return Promise.all(
      Array.from({ length: prompts.length * group }, async (_unused, rollout) => {
        const promptIds = prompts[rollout % prompts.length] ?? new Int32Array();
        const asked = { promptIds, sampling: plainSampling, endIds: [], maxTokens: answerTokens, stopStrings: [], version };
        const result = await sampler.sample({ ...asked, seed: deriveSeed("toy", step, rollout) }, new AbortController().signal);
        if (!result.ok) throw new Error(result.failure.message);
        const { ids, logprobs } = result.sample;
        return { promptIds, ids, logprobs, reward: rewardOf(tokenizer.decodePieces(ids)), group: String(rollout % prompts.length) };
      }),
    );
  }
  type Rollouts = Awaited<ReturnType<typeof collect>>;
  const mean = (rollouts: Rollouts): number => rollouts.reduce((sum, { reward }) => sum + reward, 0) / rollouts.length;
  const onSampled = (rollouts: Rollouts, at: (rollout: Rollouts[number], index: number) => number): Matrix => {
    const width = Math.max(...prompts.map(({ length }) => length)) + answerTokens - 1;
    const values = new Float64Array(rollouts.length * width);
    for (const [row, rollout] of rollouts.entries())
      for (let index = 0; index < answerTokens; index += 1) values[row * width + rollout.promptIds.length - 1 + index] = at(rollout, index);
    return { rows: rollouts.length, width, values };
  };

  await sampler.publish(baseVersion);
  const before = await collect(baseVersion.name, 0);
  let rollouts = before;
  let version = baseVersion.name;
  const rewards = [mean(before)];
  for (let step = 1; step <= 5; step += 1) {
    await trainer.policyStep({
      sequences: rollouts.map(({ promptIds, ids }) => Int32Array.from([...promptIds, ...ids])),
      mask: onSampled(rollouts, () => 1),
      sampler: onSampled(rollouts, ({ logprobs }, index) => logprobs[index] ?? 0),
      rollouts: rollouts.map(({ reward, group: of }) => ({ reward, group: of, length: answerTokens })),
      rolloutOfRow: rollouts.map((_rollout, index) => index),
      ...{ algorithm: namedAlgorithms.grpo, divergenceCoefficient: 0, epochs: 1, rate: 5e-3, sampling: plainSampling },
    });
    const next = `step-${step}`;
    await trainer.publish(join(folder, next));
    await sampler.retire(version);
    await sampler.publish({ name: next, source: { kind: "adapter", folder: join(folder, next) } });
    version = next;
    rollouts = await collect(version, step);
    rewards.push(mean(rollouts));
  }
  await trainer.close();
  await sampler.close();
  console.log(`mean reward by step: ${rewards.map((reward) => reward.toFixed(3)).join(" ")}`);
  expect(rewards.at(-1)).toBeGreaterThan((rewards[0] ?? 1) + 0.1);
});
