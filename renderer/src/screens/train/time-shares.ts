/** Where the wall time of a run or a step went, as shares of it. Pure. */
import type { TrainingRunView } from "../../service/views.ts";

type Seconds = TrainingRunView["seconds"];

export interface TimeShare {
  readonly name: string;
  /** Of the wall time, 0 to 1. */
  readonly share: number;
  readonly ink: string;
  readonly definition: string;
}

const clamped = (share: number): number => Math.max(0, Math.min(1, share));

/** Three parts that fill the whole time and never overlap; null where nothing was measured, or the run is of before the engine was told. */
export function wholeShares({ total, engine, idle, sampling, training }: Seconds): readonly TimeShare[] | null {
  if (total <= 0 || (engine <= 0 && sampling + training > 0)) return null;
  const shares = { engine: clamped(engine / total), idle: clamped(idle / total) };
  return [
    { name: "engine", share: shares.engine, ink: "var(--of-running)", definition: "The policy was being sampled or trained." },
    {
      name: "sandboxes alone",
      share: clamped(1 - shares.engine - shares.idle),
      ink: "var(--of-border-control)",
      definition: "Sandboxes, harnesses and verifiers ran, and neither sampler nor trainer had anything to do.",
    },
    { name: "idle", share: shares.idle, ink: "var(--of-border-strong)", definition: "Nothing ran: neither policy nor sandboxes nor trainer." },
  ];
}

const overlapping = [
  ["sampling", "sampling", "var(--of-sampled)", "A model call was being answered."],
  ["sandbox", "sandboxes", "var(--of-border-control)", "A rollout was in its sandbox, harness or verifier."],
  ["training", "training", "var(--of-series-1)", "The trainer computed gradients or took a step."],
  ["evaluation", "evaluation", "var(--of-series-2)", "The policy was evaluated on held-out tasks; its sampling counts above as well."],
] as const;

/** Each part's own share of the time. They run beside each other: together they may be more than the whole. */
export function partShares(seconds: Seconds): readonly TimeShare[] {
  return seconds.total <= 0
    ? []
    : overlapping.map(([key, name, ink, definition]) => ({ name, ink, definition, share: clamped(seconds[key] / seconds.total) }));
}

/** "54 %"; what is there and rounds to nothing is "< 1 %". */
export function shareWords(share: number): string {
  return share > 0 && share < 0.005 ? "<\u00a01\u00a0%" : `${Math.round(share * 100)}\u00a0%`;
}
