/** Our own peer: one block of work for each line "go". */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { adapterFeeds, DecoderModel } from "../../../engine/decoding/index.ts";
import { createAdapter, linearKinds, loraInput, weightShapes } from "../../../engine/models/index.ts";
import type { Runtime } from "../../../engine/onnx/index.ts";
import { SequenceModel, Trainer } from "../../../engine/training/index.ts";
import { openRuntime } from "../../../main/engine-runtime/index.ts";
import { type ModelFolder, openModelFolder } from "../../../main/models/index.ts";
import { planOf } from "./plan.ts";
import { type Job, tokenAt } from "./protocol.ts";

type Block = () => Promise<{ readonly units: number; readonly check: number }>;

function adapterOf({ description }: ModelFolder, rank: number) {
  return rank === 0 ? null : createAdapter(description, { rank, alpha: 2 * rank, targets: linearKinds, rankStabilised: false }, 1);
}

async function training(runtime: Runtime, folder: ModelFolder, job: Job & { task: "training" }): Promise<Block> {
  const { description, weights, weightsFolder } = folder;
  const adapter = adapterOf(folder, job.rank);
  const parameters = new Map<string, Float32Array>();
  for (const [module, { a, b }] of adapter ?? []) parameters.set(loraInput.a(module), a).set(loraInput.b(module), b);
  if (adapter === null) for (const name of weightShapes(description).keys()) parameters.set(name, weights.values(name));
  const memory = planOf(job.plan, description);
  const model = new SequenceModel({
    ...{ runtime, description, weightsFolder, adapter, parameters, memory, withEntropy: false, withValues: false },
    ...(adapter === null ? { weights: null, trained: "weights" as const } : { weights, trained: "adapter" as const }),
  });
  const optimiser = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01 };
  const limits = { positions: job.rows * job.width, longest: job.width + 1 };
  const trainer = new Trainer({ model, parameters, optimiser, clipNorm: 1, stopNorm: 1e6, limits });
  const { vocabularySize } = description.config;
  const sequences = Array.from({ length: job.rows }, (_unused, row) =>
    Int32Array.from({ length: job.width + 1 }, (_none, index) => tokenAt(row * (job.width + 1) + index, vocabularySize)),
  );
  const mask = { rows: job.rows, width: job.width, values: new Float64Array(job.rows * job.width).fill(1) };
  return async () => {
    const report = await trainer.supervisedStep(sequences, mask, { rate: 1e-6 });
    return { units: job.rows * job.width, check: report?.loss ?? Number.NaN };
  };
}

async function decoding(runtime: Runtime, folder: ModelFolder, job: Job & { task: "decoding" }): Promise<Block> {
  const { lanes, prompt, steps } = job;
  const adapter = adapterOf(folder, job.rank);
  const model = await DecoderModel.open({ ...folder, runtime, adapter, lanes, capacity: prompt + steps });
  const feeds = adapterFeeds(adapter ?? new Map());
  const token = (lane: number, position: number): number => tokenAt(lane * (prompt + steps) + position, model.vocabularySize);
  for (let lane = 0; lane < lanes; lane += 1) {
    await model.prefill(
      lane,
      0,
      Int32Array.from({ length: prompt }, (_unused, position) => token(lane, position)),
      feeds,
    );
  }
  return async () => {
    let check = Number.NaN;
    for (let position = prompt; position < prompt + steps; position += 1) {
      const tokens = Int32Array.from({ length: lanes }, (_unused, lane) => token(lane, position));
      const logits = await model.decode(tokens, Array<number>(lanes).fill(position), feeds);
      check = logits[0] ?? Number.NaN;
    }
    return { units: lanes * steps, check };
  };
}

/** Tokens that a sampler reads at once. */
const chunk = 128;

async function reading(runtime: Runtime, folder: ModelFolder, job: Job & { task: "reading" }): Promise<Block> {
  const adapter = adapterOf(folder, job.rank);
  const model = await DecoderModel.open({ ...folder, runtime, adapter, lanes: 1, capacity: job.prompt });
  const feeds = adapterFeeds(adapter ?? new Map());
  const tokens = Int32Array.from({ length: job.prompt }, (_unused, position) => tokenAt(position, model.vocabularySize));
  return async () => {
    let check = Number.NaN;
    for (let start = 0; start < tokens.length; start += chunk) {
      const logits = await model.prefill(0, start, tokens.subarray(start, start + chunk), feeds);
      check = logits[0] ?? Number.NaN;
    }
    return { units: job.prompt, check };
  };
}

function peakBytes(): number {
  const line = /VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return Number(line) * 1024;
}

const job = JSON.parse(process.argv[2] ?? "") as Job;
const runtime = await openRuntime({ threads: job.threads });
const folder = await openModelFolder(job.folder);
const block =
  job.task === "training"
    ? await training(runtime, folder, job)
    : job.task === "decoding"
      ? await decoding(runtime, folder, job)
      : await reading(runtime, folder, job);
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== "go") break;
  const [started, busy] = [performance.now(), process.cpuUsage()];
  const { units, check } = await block();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(busy);
  say({ seconds, processorSeconds: (user + system) / 1e6, units, check });
}
say({ peak: peakBytes() });
process.exit(0);
