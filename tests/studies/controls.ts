/** Runs spoiled on purpose: what must not learn does not, what must get worse does, what is broken says so, what is lost does no harm. */
import { comparePaired } from "../../engine/statistics/index.ts";
import type { EvaluationRecord } from "../../main/training/index.ts";
import { meanOverRuns } from "./form/over-runs.ts";
import { type EndedRun, onlyTrainStarter, percent, points, type StarterRun, successes, trainStarter } from "./form/starter-runs.ts";
import type { Study, StudyOptions } from "./form/study.ts";
import { type StudyBench, withWorkbench } from "./form/workbench.ts";

const conditions = {
  plain: {},
  "rewards shuffled": { shuffleRewards: true },
  "advantages flipped": { flipAdvantages: true },
  "30 % of rollouts lost": { failures: 0.3 },
} as const;
type Condition = keyof typeof conditions;
const names = Object.keys(conditions) as Condition[];

/** Runs that are compared with each other differ by the luck of training too: they are taken with more seeds than those that are compared with the base. */
const comparedSeeds = [21, 22, 23, 24];
const seedsOf: Readonly<Record<Condition, readonly number[]>> = {
  plain: comparedSeeds,
  "30 % of rollouts lost": comparedSeeds,
  "rewards shuffled": comparedSeeds,
  "advantages flipped": comparedSeeds.slice(0, 2),
};

export const study: Study = (options) =>
  withWorkbench(options, async (bench) => {
    const size = options.short
      ? { steps: 2, tasks: 8, group: 8, heldOut: 20, samples: 1 }
      : { steps: 24, tasks: 8, group: 8, heldOut: 200, samples: 3 };
    const runs = new Map<Condition, readonly EndedRun[]>();
    const bases = new Map<number, EvaluationRecord>();
    for (const name of names) runs.set(name, await ofCondition(bench, name, { size, bases }, options));
    const inverted = await onlyTrainStarter(bench, { name: "mask inverted", seed: 21, size: { ...size, steps: 2 }, controls: { invertMask: true } });
    const of = (name: Condition): readonly EndedRun[] => runs.get(name) ?? [];
    const gain = (name: Condition) =>
      comparePaired(successes(of(name).map(({ before }) => before)), successes(of(name).map(({ after }) => after))).gain;
    const lost = comparePaired(
      successes(of("plain").map(({ after }) => after)),
      successes(of("30 % of rollouts lost").map(({ after }) => after)),
    ).gain;
    const lostByRun = differences(
      of("plain").map(({ after }) => after),
      of("30 % of rollouts lost").map(({ after }) => after),
    );
    const shuffled = meanOverRuns(gainsOf(of("rewards shuffled")));
    const flipped = gain("advantages flipped");
    const warnings = inverted.points.flatMap(({ health }) => health.filter(({ measure }) => measure === "mask"));
    const warned = {
      statement: `mask inverted: a health tile says so in each step (“${warnings[0]?.message ?? "–"}”)`,
      holds: warnings.length === 2,
    };
    return {
      title: "Controls",
      method: [
        `The starter experiment as it ships, ${size.steps} steps of ${size.tasks} × ${size.group} rollouts; ${size.heldOut} held-out tasks × ${size.samples} draws. One thing is spoiled in each run (\`controls\` of the run file). Seeds ${comparedSeeds.join(", ")}; the run that must get worse takes the first two. None of them was used to choose a setting. Gains are paired by task, in points, with 95 % intervals over tasks: what these runs would do on other tasks. The interval over runs says what other runs would do; chance alone moves each run. The base is evaluated once a seed.`,
      ],
      tables: [
        {
          title: "Gain on held-out tasks",
          columns: ["condition", "seeds", "before", "after", "gain, over tasks", "of each run", "over runs", "rollouts left out", "health"],
          rows: names.map((name) => rowOf(name, of(name))),
        },
      ],
      promised: options.short
        ? [warned]
        : [
            {
              statement: `rewards shuffled: the gain's interval over runs holds 0 (${points(shuffled)})`,
              holds: (shuffled.low ?? 1) <= 0 && (shuffled.high ?? -1) >= 0,
            },
            { statement: `advantages flipped: success falls (${points(flipped)})`, holds: (flipped.high ?? 1) < 0 },
            warned,
            {
              statement: `30 % of rollouts lost: lower bound of the difference to the plain run above −5 points (${points(lost)})`,
              holds: (lost.low ?? -1) > -0.05,
            },
          ],
      found: options.short ? [] : [`Over runs the difference that 30 % of lost rollouts make is ${points(meanOverRuns(lostByRun))}.`],
    };
  });

async function ofCondition(
  bench: StudyBench,
  name: Condition,
  { size, bases }: Pick<StarterRun, "size"> & { readonly bases: Map<number, EvaluationRecord> },
  options: StudyOptions,
): Promise<readonly EndedRun[]> {
  const ended: EndedRun[] = [];
  for (const seed of options.short ? seedsOf[name].slice(0, 1) : seedsOf[name]) {
    const one = await trainStarter(bench, { name, seed, size, controls: conditions[name] }, options, bases.get(seed));
    bases.set(seed, one.before);
    ended.push(one);
  }
  return ended;
}

/** Gain of each run. */
function gainsOf(runs: readonly EndedRun[]): readonly number[] {
  return differences(
    runs.map(({ before }) => before),
    runs.map(({ after }) => after),
  );
}

/** Of evaluations of the same seeds in the same order, one number a seed. */
function differences(before: readonly EvaluationRecord[], after: readonly EvaluationRecord[]): readonly number[] {
  return before.flatMap((one, index) => comparePaired(successes([one]), successes(after.slice(index, index + 1))).gain.mean ?? []);
}

function rowOf(name: Condition, runs: readonly EndedRun[]): readonly string[] {
  const { before, after, gain } = comparePaired(successes(runs.map((each) => each.before)), successes(runs.map((each) => each.after)));
  const gains = gainsOf(runs);
  const all = runs.flatMap(({ run }) => run.points);
  const started = all.reduce((sum, { rollouts }) => sum + rollouts, 0);
  const left = new Map<string, number>();
  for (const { left: reasons } of all) for (const [reason, count] of Object.entries(reasons)) left.set(reason, (left.get(reason) ?? 0) + count);
  const shares = [...left].map(([reason, count]) => `${reason} ${percent(count / started)}`);
  const health = [...new Set(all.flatMap((point) => point.health.map(({ measure }) => measure)))];
  const seeds = runs.map(({ run }) => run.seed).join(", ");
  return [
    name,
    seeds,
    `${percent(before.mean)} (n ${before.n})`,
    percent(after.mean),
    points(gain),
    gains.map((one) => `${one >= 0 ? "+" : ""}${(100 * one).toFixed(1)}`).join(", "),
    points(meanOverRuns(gains)),
    shares.join(", ") || "none",
    health.join(", ") || "–",
  ];
}
