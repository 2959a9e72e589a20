/** Which step of the run is which step of which stage. Steps are counted from 1 over the whole run. */
import type { RlStage, RunSettings, SftStage } from "./run-file.ts";

export type StageSpan = { readonly first: number; readonly count: number } & (
  | { readonly kind: "rl"; readonly stage: RlStage }
  | { readonly kind: "sft"; readonly stage: SftStage }
);

/** `rowsOf`: rollouts that an SFT stage learns from, by the stage's number. */
export function planStages(stages: RunSettings["stages"], rolloutsOf: (stage: number) => number): readonly StageSpan[] {
  let next = 1;
  return stages.map((stage, number): StageSpan => {
    const first = next;
    const count = stage.kind === "rl" ? stage.steps : stage.passes * Math.ceil(rolloutsOf(number) / stage.batch);
    next += count;
    return stage.kind === "rl" ? { first, count, kind: "rl", stage } : { first, count, kind: "sft", stage };
  });
}

export function stepsOf(spans: readonly StageSpan[]): number {
  return spans.reduce((sum, { count }) => sum + count, 0);
}

/** Undefined after the last step. */
export function spanOf(spans: readonly StageSpan[], step: number): StageSpan | undefined {
  return spans.find(({ first, count }) => step >= first && step < first + count);
}
