/**
 * Adapters leave as PEFT reads them: by names, shapes and settings of adapters that PEFT wrote, and, where Python has peft, by loading one and
 * comparing losses, where `OPENFORGE_PEFT_PYTHON` names a Python that has it.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type LinearKind, linearKinds, readPeftAdapter, writePeftAdapter } from "../../engine/models/index.ts";
import { type ByteSource, readSafetensors } from "../../engine/weights/index.ts";
import { importGguf, openFile, openModelFolder } from "../../main/models/index.ts";
import { openEmbeddedTrainer } from "../../main/training/index.ts";

const folder = mkdtempSync(join(tmpdir(), "of-peft-"));
const model = join(folder, "tiny");
beforeAll(() => importGguf("tests/fixtures/gguf/tiny-llama.gguf", model));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fixtures = "tests/fixtures/models";
const adapted = readdirSync(fixtures).filter((name) => readdirIfAny(join(fixtures, name)).includes("adapter"));
const configSchema = z.looseObject({ r: z.number(), lora_alpha: z.number(), use_rslora: z.boolean(), target_modules: z.array(z.string()) });

function readdirIfAny(path: string): readonly string[] {
  return path.endsWith(".md") ? [] : readdirSync(path);
}

function shapesIn(source: ByteSource): Readonly<Record<string, readonly number[]>> {
  return Object.fromEntries([...readSafetensors(source).tensors].map(([name, { shape }]) => [name, shape]));
}

test.each(adapted)("%s: names, shapes and settings are those that PEFT writes", async (name) => {
  const reference = join(fixtures, name, "adapter");
  const configText = readFileSync(join(reference, "adapter_config.json"), "utf8");
  const config = configSchema.parse(JSON.parse(configText));
  const weights = openFile(join(reference, "adapter_model.safetensors"), "adapter_model.safetensors");
  const { description, close } = await openModelFolder(join(fixtures, name, "hf"));
  const targets = linearKinds.filter((kind) => config.target_modules.some((module) => module.startsWith(prefixes[kind])));
  const settings = { rank: config.r, alpha: config.lora_alpha, targets, rankStabilised: config.use_rslora };
  const written = writePeftAdapter(description, readPeftAdapter(description, configText, weights), settings, String(config.base_model_name_or_path));
  const bytes = written.weights;
  expect(shapesIn({ name: "written", size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) })).toEqual(
    shapesIn(weights),
  );
  const ours = configSchema.parse(JSON.parse(written.config));
  for (const [key, value] of Object.entries(ours)) {
    if (key === "target_modules") expect(ours.target_modules.toSorted()).toEqual(config.target_modules.toSorted());
    else expect([key, value]).toEqual([key, config[key]]);
  }
  weights.close();
  close();
});

const prefixes: Readonly<Record<LinearKind, string>> = { query: "q_", key: "k_", value: "v_", output: "o_", gate: "gate_", up: "up_", down: "down_" };

/** A Python that has PEFT, which takes gigabytes: only for who names one. What it found is in docs/measurements/peft.md. */
const python = process.env.OPENFORGE_PEFT_PYTHON ?? "";
const wanted = [
  ["all linear maps", { rank: 4, alpha: 8, targets: linearKinds, rankStabilised: false }],
  ["some, rank-stabilised", { rank: 3, alpha: 6, targets: ["query", "value", "down"], rankStabilised: true }],
] as const;
test.each(python === "" ? [] : wanted)(
  "Python's peft loads an adapter of %s and computes the same loss",
  { timeout: 300_000 },
  async (name, lora) => {
    const trainer = await openEmbeddedTrainer({
      ...{ modelFolder: model, lora, valueHead: false, withEntropy: false, clipNorm: 1, stopNorm: 1e4, seed: 3, threads: null, resumeFrom: null },
      ...{ optimiser: { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 }, limits: { positions: 256, longest: 128 }, memoryBudget: 1 << 30 },
    });
    const sequences = [0, 1, 2].map((row) => Int32Array.from({ length: 30 + row }, (_unused, index) => (index * 37 + row * 11) % 1400));
    const mask = { rows: 3, width: 31, values: new Float64Array(93) };
    for (const row of sequences.keys()) mask.values.fill(1, row * 31 + 5, row * 31 + 29 + row);
    const base = await trainer.supervisedLoss({ sequences, mask });
    for (let step = 0; step < 8; step += 1) await trainer.supervisedStep({ sequences, mask, rate: 0.01 });
    const trained = await trainer.supervisedLoss({ sequences, mask });
    const adapter = join(folder, name.replaceAll(/\W+/g, "-"));
    await trainer.publish(adapter);
    await trainer.close();
    const chats = join(folder, "chats.json");
    const rows = sequences.map((_sequence, row) => [...mask.values.subarray(row * 31, (row + 1) * 31)]);
    writeFileSync(chats, JSON.stringify({ sequences: sequences.map((sequence) => [...sequence]), mask: rows }));
    const script = ["tests/house/peft-losses.py", model, adapter, chats];
    const said = execFileSync(python, script, { encoding: "utf8", timeout: 280_000, stdio: ["ignore", "pipe", "pipe"] });
    const found = z
      .object({ versions: z.string(), missing: z.array(z.string()), unexpected: z.array(z.string()), base: z.number(), adapted: z.number() })
      .parse(JSON.parse(said.trim().split("\n").at(-1) ?? ""));
    console.log(
      `${name}: loss ${base.toFixed(6)} → ${trained.toFixed(6)}; ${found.versions}: ${found.base.toFixed(6)} → ${found.adapted.toFixed(6)}`,
    );
    expect(found).toMatchObject({ missing: [], unexpected: [] });
    expect(Math.abs(found.base - base)).toBeLessThan(1e-4);
    expect(Math.abs(found.adapted - trained)).toBeLessThan(1e-4);
    expect(trained).toBeLessThan(base - 0.1);
  },
);
