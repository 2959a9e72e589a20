/** Runs spoiled on purpose: what must not learn does not, what must get worse does, what is broken says so, what is lost does no harm. */
import { comparePaired } from "../../engine/statistics/index.ts";
import { type EndedRun, percent, points, successes, trainStarter } from "./form/starter-runs.ts";
import type { Study, StudyOptions } from "./form/study.ts";
import { type StudyBench, withWorkbench } from "./form/workbench.ts";

const conditions = {
  plain: {},
  "rewards shuffled": { shuffleRewards: true },
  "advantages flipped": { flipAdvantages: true },
  "mask inverted": { invertMask: true },
  "30 % of rollouts lost": { failures: 0.3 },
} as const;
type Condition = keyof typeof conditions;
const names = Object.keys(conditions) as Condition[];

export const study: Study = (options) =>
  withWorkbench(async (bench) => {
    const seeds = options.short ? [21] : [21, 22];
    const size = options.short
      ? { steps: 8, tasks: 8, group: 8, heldOut: 60, samples: 1 }
      : { steps: 24, tasks: 8, group: 8, heldOut: 200, samples: 4 };
    const runs = new Map<Condition, readonly EndedRun[]>();
    for (const name of names) runs.set(name, await ofCondition(bench, name, seeds, size, options));
    const of = (name: Condition): readonly EndedRun[] => runs.get(name) ?? [];
    const gain = (name: Condition) =>
      comparePaired(successes(of(name).map(({ before }) => before)), successes(of(name).map(({ after }) => after))).gain;
    const lost = comparePaired(
      successes(of("plain").map(({ after }) => after)),
      successes(of("30 % of rollouts lost").map(({ after }) => after)),
    ).gain;
    const shuffled = gain("rewards shuffled");
    const flipped = gain("advantages flipped");
    const warned = of("mask inverted").every(({ run }) => run.points.some(({ health }) => health.some(({ measure }) => measure.includes("mask"))));
    return {
      title: "Controls",
      method: [
        `The starter experiment, ${size.steps} steps of ${size.tasks} × ${size.group} rollouts, seeds ${seeds.join(", ")}; ${size.heldOut} held-out tasks × ${size.samples}. One thing is spoiled in each run (\`controls\` of the run file). Gains are paired by task, in points, with 95 % intervals.`,
      ],
      tables: [
        {
          title: "Gain on held-out tasks",
          columns: ["condition", "before", "after", "gain", "rollouts left out", "health"],
          rows: names.map((name) => rowOf(name, of(name))),
        },
      ],
      promised: options.short
        ? [{ statement: "a run with the mask inverted says so", holds: warned }]
        : [
            {
              statement: `rewards shuffled: the gain's interval holds 0 (${points(shuffled)})`,
              holds: (shuffled.low ?? 1) <= 0 && (shuffled.high ?? -1) >= 0,
            },
            { statement: `advantages flipped: success falls (${points(flipped)})`, holds: (flipped.high ?? 1) < 0 },
            { statement: "mask inverted: a health tile says so", holds: warned },
            {
              statement: `30 % of rollouts lost: lower bound of the difference to the plain run above −5 points (${points(lost)})`,
              holds: (lost.low ?? -1) > -0.05,
            },
          ],
      found: [],
    };
  });

async function ofCondition(
  bench: StudyBench,
  name: Condition,
  seeds: readonly number[],
  size: Parameters<typeof trainStarter>[1]["size"],
  options: StudyOptions,
): Promise<readonly EndedRun[]> {
  const ended: EndedRun[] = [];
  for (const seed of seeds) ended.push(await trainStarter(bench, { name, seed, size, controls: conditions[name] }, options));
  return ended;
}

function rowOf(name: Condition, runs: readonly EndedRun[]): readonly string[] {
  const { before, after, gain } = comparePaired(successes(runs.map((each) => each.before)), successes(runs.map((each) => each.after)));
  const all = runs.flatMap(({ run }) => run.points);
  const started = all.reduce((sum, { rollouts }) => sum + rollouts, 0);
  const left = new Map<string, number>();
  for (const { left: reasons } of all) for (const [reason, count] of Object.entries(reasons)) left.set(reason, (left.get(reason) ?? 0) + count);
  const shares = [...left].map(([reason, count]) => `${reason} ${percent(count / started)}`);
  const health = [...new Set(all.flatMap((point) => point.health.map(({ measure }) => measure)))];
  return [name, `${percent(before.mean)} (n ${before.n})`, percent(after.mean), points(gain), shares.join(", ") || "none", health.join(", ") || "–"];
}
