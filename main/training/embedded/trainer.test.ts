import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Matrix } from "../../../engine/algorithms/index.ts";
import { plainSampling } from "../../../engine/decoding/index.ts";
import { linearKinds, readPeftAdapter } from "../../../engine/models/index.ts";
import { namedAlgorithms } from "../../../engine/training/index.ts";
import { importGguf, openFile, openModelFolder } from "../../models/index.ts";
import { type EmbeddedTrainer, openEmbeddedTrainer, type TrainerSettings } from "../index.ts";

let folder = "";
let model = "";
const opened: EmbeddedTrainer[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "openforge-training-"));
  model = join(folder, "tiny");
  await importGguf("tests/fixtures/gguf/tiny-llama.gguf", model);
});
afterAll(async () => {
  for (const trainer of opened) await trainer.close();
  await rm(folder, { recursive: true, force: true });
});

const lora = { rank: 4, alpha: 8, targets: linearKinds, rankStabilised: false };
async function open(changes: Partial<TrainerSettings> = {}): Promise<EmbeddedTrainer> {
  const settings: TrainerSettings = {
    ...{ modelFolder: model, lora, valueHead: false, withEntropy: true, clipNorm: 1, stopNorm: 1e4, seed: 3, threads: 1, resumeFrom: null },
    ...{ optimiser: { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 }, limits: { positions: 256, longest: 128 }, memoryBudget: 1 << 30 },
  };
  const trainer = await openEmbeddedTrainer({ ...settings, ...changes });
  opened.push(trainer);
  return trainer;
}

const sequences = [0, 1, 2, 3, 4, 5].map((row) => Int32Array.from({ length: 20 + 9 * row }, (_unused, index) => (row * 131 + index * 17) % 1400));
const width = Math.max(...sequences.map(({ length }) => length)) - 1;
const mask: Matrix = { rows: sequences.length, width, values: new Float64Array(sequences.length * width) };
for (const [row, { length }] of sequences.entries()) mask.values.fill(1, row * width + 4, row * width + length - 1);

describe("supervised training in its own process", () => {
  test("says what memory it takes, lowers the loss, reports progress", async () => {
    const trainer = await open();
    expect(trainer.info).toMatchObject({
      step: 0,
      position: null,
      provider: { name: "cpu" },
      plan: expect.stringContaining("activations of all layers kept"),
    });
    expect(trainer.info.estimate.total).toBeGreaterThan(0);
    const before = await trainer.supervisedLoss({ sequences, mask });
    const progress: string[] = [];
    for (let step = 0; step < 15; step += 1) {
      await trainer.supervisedStep({ sequences, mask, rate: 0.01 }, { onProgress: (done, total) => progress.push(`${done}/${total}`) });
    }
    expect(await trainer.supervisedLoss({ sequences, mask })).toBeLessThan(before * 0.8);
    expect(progress.slice(0, 2)).toEqual(["1/2", "2/2"]);
  });

  test.each([
    ["an adapter", lora],
    ["all weights", null],
  ])("%s: a resumed run continues to the bit", async (_name, adapter) => {
    const [whole, first] = [await open({ lora: adapter }), await open({ lora: adapter })];
    const step = (trainer: EmbeddedTrainer) => trainer.supervisedStep({ sequences, mask, rate: 0.003 });
    for (let count = 0; count < 3; count += 1) await step(whole);
    await step(first);
    await step(first);
    const checkpoint = join(folder, `checkpoint-${adapter === null}`);
    await first.save(checkpoint, JSON.stringify({ epoch: 1 }));
    const resumed = await open({ lora: adapter, resumeFrom: checkpoint, seed: 99 });
    expect(resumed.info).toMatchObject({ step: 2, position: '{"epoch":1}' });
    await step(resumed);
    const [left, right] = [join(folder, "left"), join(folder, "right")];
    await whole.save(left, "");
    await resumed.save(right, "");
    const stored = (place: string) => readFile(join(place, "training.safetensors"));
    expect((await stored(right)).equals(await stored(left))).toBe(true);
    expect((await readdir(folder)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("the adapter leaves for PEFT, merged it is a model of its own", async () => {
    const trainer = await open();
    for (let step = 0; step < 5; step += 1) await trainer.supervisedStep({ sequences, mask, rate: 0.01 });
    const loss = await trainer.supervisedLoss({ sequences, mask });
    const [exported, merged] = [join(folder, "adapter"), join(folder, "merged")];
    await trainer.publish(exported);
    await trainer.exportModel(merged);
    const opened_ = await openModelFolder(merged);
    const weights = openFile(join(exported, "adapter_model.safetensors"), "adapter_model.safetensors");
    const adapter = readPeftAdapter(opened_.description, await readFile(join(exported, "adapter_config.json"), "utf8"), weights);
    expect(adapter.size).toBe(14);
    weights.close();
    opened_.close();
    const again = await open({ modelFolder: merged });
    expect(await again.supervisedLoss({ sequences, mask })).toBeCloseTo(loss, 5);
  });

  test("an abort stops between micro-batches and changes nothing", async () => {
    const trainer = await open({ limits: { positions: 32, longest: 128 } });
    const before = await trainer.supervisedLoss({ sequences, mask });
    const controller = new AbortController();
    const step = trainer.supervisedStep(
      { sequences, mask, rate: 1 },
      { signal: controller.signal, onProgress: () => controller.abort(new Error("cancelled")) },
    );
    await expect(step).rejects.toThrow("cancelled");
    expect(await trainer.supervisedLoss({ sequences, mask })).toBe(before);
  });

  test("what does not fit, what diverges and what is no checkpoint is said in one sentence", async () => {
    await expect(open({ memoryBudget: 1 << 20 })).rejects.toThrow("does not fit into 1 MB");
    await expect(open({ resumeFrom: folder })).rejects.toThrow("holds no checkpoint");
    const trainer = await open({ stopNorm: 1e-9 });
    await expect(trainer.supervisedStep({ sequences, mask, rate: 0.01 })).rejects.toThrow(
      /The training stopped: step 1, the whole batch: a gradient norm of .* in model\./,
    );
    expect((await trainer.supervisedStep({ sequences, mask: { ...mask, values: mask.values.map(() => 0) }, rate: 1 })).skipped).toContain("no token");
  });
});

describe("policy steps in its own process", () => {
  test.each([
    ["grpo", false],
    ["ppo", true],
  ] as const)("%s takes its passes over a batch of rollouts", async (name, valueHead) => {
    const trainer = await open({ valueHead });
    const rollouts = [1, 0, 1, 0].map((reward, index) => ({ reward, group: index < 2 ? "a" : "b", length: 50 }));
    const { reports, measures } = await trainer.policyStep({
      ...{ sequences, mask, rollouts, rolloutOfRow: [0, 0, 1, 2, 3, 3], sampler: null },
      ...{ algorithm: namedAlgorithms[name], divergenceCoefficient: 0.001, epochs: 2, rate: 0.002, sampling: plainSampling },
    });
    expect(reports.map(({ step }) => step)).toEqual([1, 2]);
    expect(reports[0]?.metrics.clipFraction).toBe(0);
    expect(reports[1]?.metrics.policyLoss).toBeLessThan(reports[0]?.metrics.policyLoss ?? 0);
    expect(Number.isFinite(reports[1]?.metrics.valueLoss ?? 0)).toBe(true);
    expect(reports[0]?.metrics.valueLoss === undefined).toBe(!valueHead);
    expect(measures).toMatchObject({ flatGroupShare: 0, gap: null, advantages: { rows: 6 }, mask });
  });

  test("rows that were not drawn from the whole distribution are refused", async () => {
    const trainer = await open();
    const batch = { sequences, mask, rollouts: [], rolloutOfRow: [], sampler: null, algorithm: namedAlgorithms.grpo, divergenceCoefficient: 0 };
    const step = trainer.policyStep({ ...batch, epochs: 1, rate: 1, sampling: { ...plainSampling, topP: 0.9, topK: 20 } });
    await expect(step).rejects.toThrow("Answers drawn with top-p 0.9, top-k 20 cannot be trained on");
  });
});
