/** Which rollouts a step wants: a function of the run file, its seed and the step alone, so that a step that is taken again wants the same. */
import { deriveSeed, seededRandom } from "../../engine/statistics/index.ts";
import type { PlannedRollout } from "../rollouts/index.ts";
import type { RunSettings } from "./run-file.ts";
import { drawTasks, type RunTask } from "./task-set.ts";

/** One rollout that is wanted, and where it belongs. */
export interface WantedRollout {
  /** Unique in the run: names the rollout over restarts. */
  readonly key: string;
  /** Rollouts whose rewards are compared. */
  readonly group: string;
  readonly task: RunTask;
  readonly planned: PlannedRollout;
}

export interface StepWish {
  readonly seed: number;
  readonly step: number;
  /** 0 = the step's own groups; above: tries for groups without variance. */
  readonly round: number;
  readonly groups: number;
  /** Rollouts a group. */
  readonly size: number;
  /** Place of the first group among all of its stage and round. */
  readonly first: number;
  readonly policy: string;
}

/** Groups of one task and one harness, drawn by weight. */
export function planStep(tasks: readonly RunTask[], harnesses: RunSettings["harnesses"], wish: StepWish): readonly WantedRollout[] {
  const { seed, step, round, groups, size, first, policy } = wish;
  const drawn = drawTasks(tasks, first, groups, deriveSeed(seed, "round", round));
  return drawn.flatMap((task, number) => {
    const harness = drawHarness(harnesses, deriveSeed(seed, "harness", step, round, number));
    const group = `${step}.${round}.${number}`;
    return Array.from({ length: size }, (_unused, index): WantedRollout => {
      const key = `${group}.${index}`;
      return {
        ...{ key, group, task },
        planned: {
          ...{ taskPath: task.path, harness, policy, groupIndex: index },
          seed: deriveSeed(seed, "rollout", step, round, number, task.name, index),
          labels: { purpose: "training", step, group, key },
        },
      };
    });
  });
}

function drawHarness(harnesses: RunSettings["harnesses"], seed: number): string {
  const total = harnesses.reduce((sum, { weight }) => sum + weight, 0);
  let left = seededRandom(seed)() * total;
  for (const { id, weight } of harnesses) {
    left -= weight;
    if (left < 0) return id;
  }
  return harnesses.at(-1)?.id ?? "";
}

/** Every held-out task with every harness. The seeds are those of every evaluation of the run: before and after differ by the weights alone. */
export function planEvaluation(
  tasks: readonly RunTask[],
  harnesses: readonly string[],
  { seed, step, samples, policy }: { readonly seed: number; readonly step: number; readonly samples: number; readonly policy: string },
): readonly WantedRollout[] {
  return tasks.flatMap((task, number) =>
    harnesses.flatMap((harness) =>
      Array.from({ length: samples }, (_unused, index): WantedRollout => {
        const group = `e${step}.${number}.${harness}`;
        const key = `${group}.${index}`;
        return {
          ...{ key, group, task },
          planned: {
            ...{ taskPath: task.path, harness, policy, groupIndex: index },
            seed: deriveSeed(seed, "evaluation", task.name, index),
            labels: { purpose: "evaluation", step, group, key },
          },
        };
      }),
    ),
  );
}
