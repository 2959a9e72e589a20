/** Trained in one harness, evaluated in another: the last evaluation of every training run, seeds together. Pure. */
import type { Estimate, TransferMatrix } from "../api/analysis-views.ts";
import type { EvaluationView, TrainingRunView } from "../api/training-views.ts";
import { groupedBy } from "./grouping.ts";

/** Two-sided 95 % points of Student's t by degrees of freedom; 1.96 beyond. */
const student = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228] as const;

export function transferMatrices(runs: readonly TrainingRunView[]): TransferMatrix[] {
  const evaluated = runs.filter(({ evaluations }) => evaluations.length > 0);
  return [...groupedBy(evaluated, ({ base }) => base)].map(([base, ofBase]) => {
    const harnesses = [
      ...new Set(ofBase.flatMap(({ evaluations }) => evaluations.flatMap((evaluation) => Object.keys(evaluation.harnesses)))),
    ].sort();
    const trained = ofBase.filter(({ evaluations }) => (evaluations.at(-1)?.step ?? 0) > 0);
    const rows = [...groupedBy(trained, (run) => [...run.harnesses].sort().join("\n"))].map(([key, group]) => ({
      trained: key === "" ? [] : key.split("\n"),
      runs: group.map(({ id }) => id),
      cells: harnesses.map((harness) => cellOf(harness, group, lastEvaluation)),
    }));
    const before = ofBase.filter((run) => firstEvaluation(run) !== undefined);
    const asItCame = {
      trained: [] as string[],
      runs: before.map(({ id }) => id),
      cells: harnesses.map((harness) => cellOf(harness, before, firstEvaluation)),
    };
    return { base, harnesses, rows: before.length === 0 ? rows : [asItCame, ...rows] };
  });
}

const lastEvaluation = ({ evaluations }: TrainingRunView): EvaluationView | undefined => evaluations.at(-1);
const firstEvaluation = ({ evaluations }: TrainingRunView): EvaluationView | undefined => evaluations.find(({ step }) => step === 0);

function cellOf(
  harness: string,
  runs: readonly TrainingRunView[],
  pick: (run: TrainingRunView) => EvaluationView | undefined,
): TransferMatrix["rows"][number]["cells"][number] {
  const estimates = runs.flatMap((run) => {
    const estimate = pick(run)?.harnesses[harness];
    return estimate === undefined || estimate.mean === null ? [] : [{ ...estimate, mean: estimate.mean }];
  });
  return { harness, seeds: estimates.length, ...overSeeds(estimates) };
}

/** One seed keeps its interval over tasks. Several: mean of the seeds with Student's interval over them. */
function overSeeds(estimates: readonly (Estimate & { readonly mean: number })[]): Estimate {
  const [only] = estimates;
  if (only === undefined) return { n: 0, mean: null, low: null, high: null };
  if (estimates.length === 1) return { n: only.n, mean: only.mean, low: only.low, high: only.high };
  const n = estimates.reduce((sum, estimate) => sum + estimate.n, 0);
  const mean = estimates.reduce((sum, estimate) => sum + estimate.mean, 0) / estimates.length;
  const variance = estimates.reduce((sum, estimate) => sum + (estimate.mean - mean) ** 2, 0) / (estimates.length - 1);
  const half = (student[estimates.length - 2] ?? 1.96) * Math.sqrt(variance / estimates.length);
  return { n, mean, low: Math.max(0, mean - half), high: Math.min(1, mean + half) };
}
