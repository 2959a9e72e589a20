/** Does what is learnt in one harness help in another? Trained on A, on A and B; evaluated on A, B, C. C is never trained. */
import { comparePaired, meanOverTasks } from "../../engine/statistics/index.ts";
import type { EvaluationRecord } from "../../main/training/index.ts";
import { type EndedRun, percent, points, successes, trainStarter } from "./form/starter-runs.ts";
import type { Study } from "./form/study.ts";
import { withWorkbench } from "./form/workbench.ts";

const [a, b, c] = ["react", "console", "scratchpad"] as const;
const columns = [a, b, c];

export const study: Study = (options) =>
  withWorkbench(options, async (bench) => {
    const seeds = options.short ? [31] : [31, 32];
    const size = options.short
      ? { steps: 4, tasks: 8, group: 8, heldOut: 30, samples: 1 }
      : { steps: 24, tasks: 8, group: 8, heldOut: 200, samples: 1 };
    const trained: Record<string, EndedRun[]> = {};
    const bases = new Map<number, EvaluationRecord>();
    for (const harnesses of [[a], [a, b]]) {
      const name = harnesses.join(" + ");
      trained[name] = [];
      for (const seed of seeds) {
        const ended = await trainStarter(bench, { name, seed, size, harnesses, evaluation: { harnesses: columns } }, options, bases.get(seed));
        bases.set(seed, ended.before);
        trained[name].push(ended);
      }
    }
    const base = trained[a] ?? [];
    const rows = Object.entries(trained).map(([name, runs]) => [`trained on ${name}`, ...columns.map((harness) => cell(runs, harness))]);
    const baseRow = ["base", ...columns.map((harness) => baseCell(base, harness))];
    const other = [a, b].map(
      (harness) => comparePaired(of(trained[a] ?? [], "after", harness), of(trained[`${a} + ${b}`] ?? [], "after", harness)).gain,
    );
    const never = comparePaired(of(trained[a] ?? [], "after", c), of(trained[`${a} + ${b}`] ?? [], "after", c)).gain;
    return {
      title: "Transfer between harnesses",
      method: [
        `The starter policy, which has seen the formats of all three harnesses in its supervised stage, is trained ${size.steps} steps on ${a} alone, and on ${a} and ${b} in equal shares (as many rollouts in all). Seeds ${seeds.join(", ")}; ${size.heldOut} held-out tasks × ${size.samples} in each harness. ${c} is never trained. The seeds were not used to choose a setting. Gains over the base are paired by task, in points, with 95 % intervals over tasks; the base is evaluated once a seed.`,
      ],
      tables: [{ title: "Success on held-out tasks", columns: ["", ...columns], rows: [baseRow, ...rows] }],
      promised: [],
      found: [
        `Training on ${a} + ${b} in place of ${a} alone changes success by ${points(other[0] ?? { mean: null, low: null, high: null })} in ${a} and ${points(other[1] ?? { mean: null, low: null, high: null })} in ${b}, and by ${points(never)} in ${c}, which neither trained.`,
      ],
    };
  });

function of(runs: readonly EndedRun[], when: "before" | "after", harness: string) {
  const only = ({ rollouts, ...record }: EvaluationRecord): EvaluationRecord => ({
    ...record,
    rollouts: rollouts.filter((rollout) => rollout.harness === harness),
  });
  return successes(runs.map((run) => only(run[when])));
}

function baseCell(runs: readonly EndedRun[], harness: string): string {
  const { mean, low, high, n } = meanOverTasks(of(runs, "before", harness));
  return `${percent(mean)} [${percent(low)}, ${percent(high)}] (n ${n})`;
}

function cell(runs: readonly EndedRun[], harness: string): string {
  const { after, gain } = comparePaired(of(runs, "before", harness), of(runs, "after", harness));
  return `${percent(after.mean)} (n ${after.n}), ${points(gain)}`;
}
