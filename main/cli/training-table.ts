/** The table that `train` and `quickstart` end with. */
import { behaviourDefinitions, type MeasureDefinition } from "../../engine/behaviour/index.ts";
import type { EstimateView, TrainingResult } from "../api/training-views.ts";
import { counted, table } from "./output.ts";

export function trainingTable(result: TrainingResult): string {
  const { before, after, gain, families, behaviour, seconds } = result;
  const rows = [
    ...(before === null ? [] : [row("success on held-out tasks", before, after, percent)]),
    ...families.map((family) => row(`  ${family.family}`, family.before, family.after, percent)),
    ...Object.entries(behaviour)
      .filter(([name]) => name !== "success")
      .map(([name, measured]) => row(nameOf(name), measured.before, measured.after, isShare(name) ? percent : plain)),
  ];
  const parts = (["sampling", "sandbox", "training", "evaluation", "idle"] as const).map((part) => `${part} ${seconds[part].toFixed(0)} s`);
  return [
    `Run ${result.run}, seed ${result.seed}, ${counted(result.steps, "step")}.`,
    ...(rows.length === 0 ? [] : ["", table(["", "n", "before", "95 % interval", "after", "95 % interval"], rows)]),
    "",
    ...(gain === null
      ? ["There is no gain to tell: the run was not evaluated twice."]
      : [
          `Paired gain ${points(gain.mean)} points, 95 % interval ${points(gain.low)} to ${points(gain.high)}, over ${counted(gain.n, "task")}: ${gain.better} better, ${gain.worse} worse, ${gain.equal} equal.`,
        ]),
    `${seconds.total.toFixed(0)} s in all; busy, overlapping: ${parts.join(", ")}.`,
    ...(result.steps === 0 ? [] : [`What it learnt is the policy training:${result.run}, for --policy and \`openforge policy serve\`.`]),
  ].join("\n");
}

function definitionOf(name: string): MeasureDefinition | undefined {
  return Object.entries(behaviourDefinitions).find(([known]) => known === name)?.[1];
}

function nameOf(measure: string): string {
  return definitionOf(measure)?.name ?? measure;
}

function isShare(measure: string): boolean {
  return definitionOf(measure)?.unit === "share";
}

type Format = (value: number) => string;

function row(name: string, before: EstimateView, after: EstimateView | null, format: Format): readonly string[] {
  const value = (number: number | null | undefined): string => (number === null || number === undefined ? "–" : format(number));
  const interval = (estimate: EstimateView | null): string =>
    estimate === null || estimate.low === null ? "–" : `${value(estimate.low)} – ${value(estimate.high)}`;
  return [
    name,
    String(after === null ? before.n : Math.min(before.n, after.n)),
    value(before.mean),
    interval(before),
    value(after?.mean),
    interval(after),
  ];
}

const percent: Format = (value) => `${(100 * value).toFixed(1)} %`;
const plain: Format = (value) => value.toFixed(2);

function points(value: number | null): string {
  return value === null ? "–" : `${value >= 0 ? "+" : "−"}${Math.abs(100 * value).toFixed(1)}`;
}
