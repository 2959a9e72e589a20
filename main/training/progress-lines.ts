/** A run as it is told in a terminal: one line a step and an evaluation. */
import type { EvaluationView } from "../api/training-views.ts";
import type { StepRecord } from "./records.ts";

export function stepLine({ point, skipped }: StepRecord, total: number): string {
  const { step, stage, reward, rollouts, used, loss, seconds, health } = point;
  const what = skipped === null ? `loss ${loss?.toFixed(4) ?? "–"}` : `not trained: ${skipped}`;
  const warnings = health.map(({ message }) => `\n      ${message}`).join("");
  return `step ${step}/${total}  ${stage}  reward ${reward.mean?.toFixed(3) ?? "–"}  used ${used}/${rollouts}  ${what}  ${seconds.total.toFixed(1)} s${warnings}`;
}

export function evaluationLine({ step, success, budget }: EvaluationView): string {
  const { n, mean, low, high } = success;
  const interval = `${percent(mean)} [${percent(low)}, ${percent(high)}]`;
  return `evaluation after ${step} steps  success ${interval}  n ${n}  ${budget.seconds.toFixed(0)} s`;
}

function percent(value: number | null): string {
  return value === null ? "–" : `${(100 * value).toFixed(1)} %`;
}
