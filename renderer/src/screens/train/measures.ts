/** What a training run is judged by: curves over its steps, and the tiles that say whether it is healthy. Pure. */
import type { Curve } from "../../charts/columns.ts";
import type { TrainingRunView, TrainingStepView } from "../../service/views.ts";
import { bytes, count, decimal } from "../../words/numbers.ts";

type Read = (point: TrainingStepView) => number | null | undefined;

const metric =
  (...names: readonly string[]): Read =>
  (point) =>
    names.map((name) => point.metrics[name]).find((value) => value !== undefined);

function curve(points: readonly TrainingStepView[], read: Read): Curve {
  return {
    steps: Float64Array.from(points, (point) => point.step),
    values: Float64Array.from(points, (point) => read(point) ?? Number.NaN),
    ends: null,
  };
}

export interface RunCurves {
  readonly success: Curve;
  /** Of the policy loss where there is one; else of the imitation. */
  readonly loss: Curve;
  readonly divergence: Curve;
  readonly length: Curve;
  readonly reward: Curve;
}

const made = new WeakMap<TrainingRunView, RunCurves>();

export function curvesOf(run: TrainingRunView): RunCurves {
  const known = made.get(run);
  if (known !== undefined) return known;
  const rl = run.points.filter((point) => point.stage === "rl");
  const all = rl.length > 0 ? rl : run.points;
  const ends = (read: (success: TrainingRunView["evaluations"][number]["success"]) => number | null): Float64Array =>
    Float64Array.from(run.evaluations, ({ success }) => read(success) ?? success.mean ?? Number.NaN);
  const curves: RunCurves = {
    success: {
      steps: Float64Array.from(run.evaluations, ({ step }) => step),
      values: ends(({ mean }) => mean),
      ends: { low: ends(({ low }) => low), high: ends(({ high }) => high) },
    },
    loss: curve(all, ({ loss }) => loss),
    divergence: curve(run.points, divergenceOf),
    length: curve(run.points, ({ completionTokens }) => completionTokens),
    reward: curve(run.points, ({ reward }) => reward.mean),
  };
  made.set(run, curves);
  return curves;
}

/** From the reference where the run computes one; else from the policy before the update. */
const divergenceOf: Read = metric("divergence", "policyDivergence");

export interface Tile {
  readonly key: string;
  readonly title: string;
  /** What it is; said in the tooltip. */
  readonly definition: string;
  /** Below the value while nothing is wrong. */
  readonly about: string;
  readonly read: Read;
  readonly format: (value: number) => string;
  /** Names of the warnings that belong here. */
  readonly measures: readonly string[];
}

/** So many digits; what would be lost by that in powers of ten. */
function small(value: number, digits: number): string {
  return value !== 0 && Math.abs(value) < 10 ** -digits ? value.toExponential(1).replaceAll("-", "−") : decimal(value, digits);
}

const percent = (value: number): string => `${decimal(value * 100, value < 0.1 ? 1 : 0)}\u00a0%`;

export const tiles: readonly Tile[] = [
  {
    key: "reward",
    title: "Reward",
    definition: "Mean reward of the rollouts that were collected for the step.",
    about: "mean of the batch",
    read: ({ reward }) => reward.mean,
    format: (value) => decimal(value, 2),
    measures: ["reward"],
  },
  {
    key: "length",
    title: "Length",
    definition: "Tokens that the policy sampled, a rollout.",
    about: "tokens a rollout",
    read: ({ completionTokens }) => completionTokens,
    format: (value) => count(value),
    measures: ["completionTokens"],
  },
  {
    key: "truncated",
    title: "Truncated",
    definition: "Share of rollouts that ended at a limit: of tokens, of calls or of time.",
    about: "of the rollouts",
    read: ({ truncated }) => truncated,
    format: percent,
    measures: ["truncated"],
  },
  {
    key: "flat",
    title: "Groups without variance",
    definition: "Share of groups whose rollouts all got the same reward: they teach nothing.",
    about: "of the groups",
    read: ({ flatGroupShare }) => flatGroupShare,
    format: percent,
    measures: ["flatGroups"],
  },
  {
    key: "divergence",
    title: "Divergence",
    definition: "How far the policy has moved from the reference, a token; without a reference: from the policy before the update.",
    about: "nats a token",
    read: divergenceOf,
    format: (value) => small(value, 3),
    measures: ["divergence", "policyDivergence"],
  },
  {
    key: "gap",
    title: "Trainer–sampler gap",
    definition:
      "Mean difference of the log-probabilities that sampler and trainer give to the same tokens. Far from 0 the two do not run the same policy.",
    about: "k3, nats a token",
    read: metric("samplerGapK3"),
    format: (value) => small(value, 3),
    measures: ["samplerGap"],
  },
  {
    key: "sample",
    title: "Effective sample",
    definition: "Share of the batch that still counts after tokens are weighted by how likely the trainer finds them.",
    about: "of the batch",
    read: metric("effectiveSampleSize"),
    format: (value) => decimal(value, 2),
    measures: ["effectiveSampleSize"],
  },
  {
    key: "memory",
    title: "Memory",
    definition:
      "Most that the trainer has taken so far, beside what batches of the largest size take. Those of other sizes keep theirs, within the memory that the run file allows.",
    about: "of the trainer",
    read: ({ memoryBytes }) => memoryBytes,
    format: (value) => bytes(value),
    measures: ["memoryBytes"],
  },
];

/** Steps of the moving mean: what a person chose, but never so many that a short run turns into a line. */
export const smoothingOf = (chosen: number, made: number): number => Math.min(chosen, Math.max(1, Math.floor(made / 6)));

/** Warnings of a step that no tile shows. */
export function otherWarnings(point: TrainingStepView): TrainingStepView["health"] {
  const shown = new Set(tiles.flatMap(({ measures }) => measures));
  return point.health.filter(({ measure }) => !shown.has(measure));
}

/** The last `most` values of a tile, for its sparkline; what is missing is left out. */
export function recent(points: readonly TrainingStepView[], read: Read, most: number): readonly number[] {
  const values: number[] = [];
  for (let index = points.length - 1; index >= 0 && values.length < most; index -= 1) {
    const point = points[index];
    const value = point === undefined ? null : read(point);
    if (typeof value === "number" && Number.isFinite(value)) values.push(value);
  }
  return values.reverse();
}
