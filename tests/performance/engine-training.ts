import { createAdapter, linearKinds } from "../../engine/models/index.ts";
import { estimateMemory } from "../../engine/training/index.ts";
import { openModelFolder } from "../../main/models/index.ts";
import { type ModelSize, modelFolder } from "./engine/models.ts";
import { measureInTurns } from "./engine/peers.ts";
import { type PlanKind, planOf } from "./engine/plan.ts";
import { memoryRows, speedRows } from "./engine/rows.ts";
import type { BenchmarkRow } from "./measure/compare.ts";

interface Step {
  readonly name: string;
  readonly size: ModelSize;
  readonly rank: number;
  readonly rows: number;
  readonly plan: PlanKind;
  readonly aims: { readonly eager: number; readonly compiled: number } | null;
  readonly repetitions: number;
}

const width = 512;
const small = { name: "training step, 3M, all weights, 4 × 512 tokens", size: "3M", rank: 0, rows: 4, repetitions: 15 } as const;
const large = { name: "training step, 121M, LoRA 16, 512 tokens", size: "121M", rank: 16, rows: 1, repetitions: 7 } as const;
/** The way that is taken where memory suffices, a sparing one, and the one that computes layers twice: its speed has no aim. */
const steps: readonly Step[] = [
  { ...small, plan: "fastest", aims: { eager: 1.1, compiled: 0.9 } },
  { ...small, name: `${small.name}, layers computed twice`, plan: "frugal", aims: null },
  { ...large, plan: "fastest", aims: { eager: 1.1, compiled: 1 } },
  { ...large, name: `${large.name}, attention's probabilities computed again`, plan: "sparing", aims: { eager: 1.1, compiled: 1 } },
  { ...large, name: `${large.name}, layers computed twice`, plan: "frugal", aims: null },
];

/** Whole steps (forward, backward, clipping, AdamW) beside PyTorch, and the memory that both take. */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const rows: BenchmarkRow[] = [];
  for (const step of steps) {
    const folder = await modelFolder(step.size);
    const measured = await measureInTurns(
      { task: "training", folder, rank: step.rank, rows: step.rows, width, plan: step.plan },
      step.repetitions,
      note,
    );
    note(`${step.name}: ${await estimate(folder, step)} MB foreseen`);
    rows.push(...speedRows(step.name, measured, step.aims), ...memoryRows(step.name, measured));
  }
  return rows;
}

async function estimate(folder: string, { rank, rows, plan }: Step): Promise<number> {
  const model = await openModelFolder(folder);
  model.close();
  const { description } = model;
  const adapter = rank === 0 ? null : createAdapter(description, { rank, alpha: rank, targets: linearKinds, rankStabilised: false }, 1);
  const trained = adapter === null ? "weights" : "adapter";
  return Math.round(estimateMemory({ description, adapter, trained, weightBytes: 4, rows, width }, planOf(plan, description)).total / 2 ** 20);
}
