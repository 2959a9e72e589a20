/** Comparisons of the stand-in service: invented rollouts of two experiments, compared by the service's own functions. */
import { type implement, ORPCError } from "@orpc/server";
import { behaviourDefinitions } from "../../../engine/behaviour/index.ts";
import { type ComparableRollout, columnOf, compareColumns, compareGrid, transferMatrices } from "../../../main/analysis/index.ts";
import type { contract } from "../../../main/api/contract.ts";
import type { TrainingRunView } from "../../../main/api/training-views.ts";
import { randomFrom } from "./sample-experiments.ts";

type Implementer = ReturnType<typeof implement<typeof contract>>;

const chances: readonly (readonly [task: string, chance: number])[] = [
  ["csv-dedupe-stable", 0.95],
  ["git-bisect-flaky", 0.45],
  ["ledger-balance", 0.66],
  ["log-rotate-window", 0.97],
  ["merge-changelog", 0.8],
  ["nginx-vhost-redirect", 0.6],
  ["pytest-collect-hook", 0.52],
  ["sqlite-wal-recover", 0.7],
  ["tz-offset-report", 0.92],
];
const experimentNames: Record<string, string> = {
  "e-1": "harness sweep 07",
  "e-2": "harness sweep 06",
  "e-3": "starter experiment",
  "e-4": "codex 0.170 against 0.171",
};
/** Each with what it takes off the chance of a task. */
const sides: Record<string, readonly (readonly [harness: string, version: string, loss: number])[]> = {
  "e-1": [
    ["codex", "0.171.0", 0.02],
    ["claude-code", "2.1.332", 0.08],
    ["react", "1.0.0", 0.2],
    ["openclaw", "2026.9.6", 0.34],
  ],
  "e-2": [["react", "1.0.0", 0.24]],
  "e-3": [["react", "1.0.0", 0.1]],
  "e-4": [
    ["codex", "0.170.2", 0],
    ["codex", "0.171.0", 0.17],
  ],
};

function rolloutsOf(experiment: string): readonly ComparableRollout[] {
  const perTask = experiment === "e-3" ? 1 : experiment === "e-2" ? 3 : 16;
  return (sides[experiment] ?? []).flatMap(([harness, harnessVersion, loss], side) => {
    const random = randomFrom(side * 97 + experiment.charCodeAt(2) * 13);
    const key = [experiment, harness, harnessVersion, "", "qwen3-4b-forge"].join("|");
    const column = {
      key,
      experiment,
      experimentName: experimentNames[experiment] ?? experiment,
      harness,
      harnessVersion,
      policy: "qwen3-4b-forge",
      step: null,
    };
    return chances.slice(0, experiment === "e-3" ? 3 : 9).flatMap(([task, chance], number) =>
      Array.from({ length: perTask }, (_, index): ComparableRollout => {
        const infrastructure = (harness === "openclaw" && task === "merge-changelog") || random() < 0.04;
        const succeeded = random() < Math.max(0.03, chance - loss * (0.4 + random()));
        return {
          id: `r-${(0x8c300000 + (side * 16 + number) * 0x100 + index + experiment.charCodeAt(2) * 0x10000).toString(16)}`,
          column,
          task,
          index,
          reward: infrastructure ? null : Number(succeeded),
          status: infrastructure ? "environment-failure" : succeeded ? "succeeded" : "failed",
          ended: true,
          infrastructure,
          calls: Math.round(8 + random() * 10),
          promptTokens: 9000,
          completionTokens: Math.round(1400 + random() * 1800),
          behaviour: {
            calls: Math.round(6 + random() * 14 + loss * 20),
            completionTokens: Math.round(1400 + random() * 1800),
            selfVerified: Number(random() < 0.7 - loss),
            errorRecovery: random() < 0.4 ? Number(random() < 0.6 - loss) : null,
            stepReliability: 0.8 + random() * 0.2 - loss * 0.3,
            redundantRepeats: random() * 0.1 + loss * 0.1,
          },
        };
      }),
    );
  });
}

export function sampleAnalysis(os: Implementer, runs: () => readonly TrainingRunView[]) {
  const side = (key: string) => {
    const rollouts = rolloutsOf(key.split("|")[0] ?? "").filter(({ column }) => column.key === key);
    const column = columnOf(rollouts);
    if (column === null)
      throw new ORPCError("WORKBENCH", {
        message: `There is nothing to compare under ${key}.`,
        data: { code: "not-found", remedy: "Choose a column of the grid.", exitCode: 2 },
      });
    return { column, rollouts };
  };
  return {
    measures: os.analysis.measures.handler(() => behaviourDefinitions),
    grid: os.analysis.grid.handler(({ input }) => compareGrid(input.experiments.flatMap(rolloutsOf))),
    compare: os.analysis.compare.handler(({ input }) => compareColumns(side(input.a), side(input.b))),
    transfer: os.analysis.transfer.handler(() => transferMatrices(runs())),
  };
}
