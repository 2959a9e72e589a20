/** GRPO, PPO, RLOO, DAPO and GSPO on the starter experiment, with two updates a batch so that their clipping takes part. */
import { comparePaired } from "../../engine/statistics/index.ts";
import type { EvaluationRecord } from "../../main/training/index.ts";
import { type EndedRun, percent, points, successes, trainStarter } from "./form/starter-runs.ts";
import type { Study } from "./form/study.ts";
import { withWorkbench } from "./form/workbench.ts";

const algorithms = ["grpo", "ppo", "rloo", "dapo", "gspo"] as const;

export const study: Study = (options) =>
  withWorkbench(options, async (bench) => {
    const seeds = options.short ? [61] : [61, 62];
    const bases = new Map<number, EvaluationRecord>();
    const size = options.short
      ? { steps: 3, tasks: 8, group: 8, heldOut: 30, samples: 1 }
      : { steps: 24, tasks: 8, group: 8, heldOut: 200, samples: 1 };
    const rows: string[][] = [];
    const clipped: string[] = [];
    for (const algorithm of algorithms) {
      const runs: EndedRun[] = [];
      for (const seed of seeds) {
        const stage = { algorithm, updates: 2, overrides: { divergence: 0 } };
        const ended = await trainStarter(bench, { name: algorithm, seed, size, stage }, options, bases.get(seed));
        bases.set(seed, ended.before);
        runs.push(ended);
      }
      const { before, after, gain } = comparePaired(successes(runs.map((run) => run.before)), successes(runs.map((run) => run.after)));
      const steps = runs.flatMap(({ run }) => run.points);
      const clip = mean(steps.flatMap(({ metrics }) => metrics.clipFraction ?? []));
      if (clip > 0) clipped.push(algorithm);
      const seconds = mean(runs.map(({ run }) => run.points.reduce((sum, point) => sum + point.seconds.total, 0)));
      rows.push([
        algorithm,
        percent(before.mean),
        `${percent(after.mean)} (n ${after.n})`,
        points(gain),
        percent(clip),
        mean(steps.flatMap(({ gradientNorm }) => gradientNorm ?? [])).toFixed(2),
        `${Math.round(seconds)} s`,
      ]);
    }
    return {
      title: "Algorithms side by side",
      method: [
        `The starter experiment, ${size.steps} steps of ${size.tasks} × ${size.group} rollouts with two updates each, no divergence term, the same learning rate for all; seeds ${seeds.join(", ")}, which were not used to choose a setting; ${size.heldOut} held-out tasks × ${size.samples} draws. Gains are paired by task, in points, with 95 % intervals over tasks; the base is evaluated once a seed, and the time of a run is that of its steps. The settings were not tuned for each: this shows that all of them run and learn, not which is best.`,
      ],
      tables: [
        { title: "Gain on held-out tasks", columns: ["algorithm", "before", "after", "gain", "clip fraction", "gradient norm", "time a run"], rows },
      ],
      promised: [{ statement: `the clip fraction is above 0 for all (${clipped.join(", ")})`, holds: clipped.length === algorithms.length }],
      found: [],
    };
  });

function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}
