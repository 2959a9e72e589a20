import { createAdapter, linearKinds } from "../../engine/models/index.ts";
import { estimateMemory, memoryPlans } from "../../engine/training/index.ts";
import { openModelFolder } from "../../main/models/index.ts";
import { type ModelSize, modelFolder } from "./engine/models.ts";
import { measureInTurns } from "./engine/peers.ts";
import { memoryRows, speedRows } from "./engine/rows.ts";
import type { BenchmarkRow } from "./measure/compare.ts";

interface Step {
  readonly name: string;
  readonly size: ModelSize;
  readonly rank: number;
  readonly rows: number;
  readonly aims: { readonly eager: number; readonly compiled: number };
  readonly repetitions: number;
}

const width = 512;
const steps: readonly Step[] = [
  { name: "training step, 3M, all weights, 4 × 512 tokens", size: "3M", rank: 0, rows: 4, aims: { eager: 1.1, compiled: 0.9 }, repetitions: 15 },
  { name: "training step, 121M, LoRA 16, 512 tokens", size: "121M", rank: 16, rows: 1, aims: { eager: 1.1, compiled: 1 }, repetitions: 7 },
];

/** Whole steps (forward, backward, clipping, AdamW) beside PyTorch, and the memory that both take. */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const rows: BenchmarkRow[] = [];
  for (const step of steps) {
    const folder = await modelFolder(step.size);
    const measured = await measureInTurns({ task: "training", folder, rank: step.rank, rows: step.rows, width }, step.repetitions, note);
    note(`${step.name}: ${await estimate(folder, step)} MB foreseen, without Node and ONNX Runtime`);
    rows.push(...speedRows(step.name, measured, step.aims), ...memoryRows(step.name, measured));
  }
  return rows;
}

async function estimate(folder: string, { rank, rows }: Step): Promise<number> {
  const model = await openModelFolder(folder);
  model.close();
  const { description } = model;
  const adapter = rank === 0 ? null : createAdapter(description, { rank, alpha: rank, targets: linearKinds, rankStabilised: false }, 1);
  const [plan] = memoryPlans(description, false);
  if (plan === undefined) throw new Error("there is no memory plan");
  const trained = adapter === null ? "weights" : "adapter";
  return Math.round(estimateMemory({ description, adapter, trained, weightBytes: 4, rows, width }, plan).total / 2 ** 20);
}
