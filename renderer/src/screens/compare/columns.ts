/** Names of columns, the choice of two, and the lists of pairs. Pure. */
import type { CompareColumn, Comparison, ExperimentView, RolloutPair } from "../../service/views.ts";
import { policyWords } from "../../words/names.ts";
import { decimal, missing } from "../../words/numbers.ts";

/** Fewer rollouts in a cell than this say little: it is hatched. */
export const fewInCell = 4;

/** Lines that tell the columns apart: what all have in common is not said in each. */
export function columnNames(columns: readonly CompareColumn[]): ReadonlyMap<string, { readonly name: string; readonly about: string }> {
  const differs = (read: (column: CompareColumn) => unknown): boolean => new Set(columns.map(read)).size > 1;
  const sameHarness = (column: CompareColumn) => columns.filter(({ harness }) => harness === column.harness);
  const [policies, experiments] = [differs(({ policy, step }) => `${policy}/${step}`), differs(({ experiment }) => experiment)];
  return new Map(
    columns.map((column) => {
      const versions = new Set(sameHarness(column).map(({ harnessVersion }) => harnessVersion)).size > 1 || !policies;
      const parts = [
        ...(versions ? [column.harnessVersion] : []),
        ...(policies ? [column.step === null ? policyWords(column.policy) : `step ${column.step}`] : []),
        ...(experiments && sameHarness(column).length > 1 ? [column.experimentName] : []),
      ];
      return [column.key, { name: column.harness, about: parts.join(", ") }];
    }),
  );
}

/** A and B: what the place names if it is there, else the first two columns. */
export function chosenSides(columns: readonly CompareColumn[], a: string | null, b: string | null): readonly [string | null, string | null] {
  const has = (key: string | null): string | null => (columns.some((column) => column.key === key) ? key : null);
  const first = has(a) ?? columns.find(({ key }) => key !== b)?.key ?? null;
  return [first, has(b) ?? columns.find(({ key }) => key !== first)?.key ?? null];
}

/** Experiments that have something to compare, newest first. */
export function comparableExperiments(all: readonly ExperimentView[]): readonly ExperimentView[] {
  return [...all].filter(({ status, ended }) => status !== "recording" && ended > 0).sort((left, right) => right.createdAt - left.createdAt);
}

export type PairFilter = "only-a" | "only-b" | "both" | "neither";

export const pairLists: readonly { readonly kind: PairFilter; readonly word: string; readonly ink: string }[] = [
  { kind: "only-a", word: "Only A", ink: "var(--of-delta-neg-3)" },
  { kind: "only-b", word: "Only B", ink: "var(--of-delta-pos-3)" },
  { kind: "both", word: "Both", ink: "var(--of-text-muted)" },
  { kind: "neither", word: "Neither", ink: "var(--of-border-strong)" },
];

/** The pairs of a list; without a filter those in which just one side succeeded. */
export function listedPairs(pairs: readonly RolloutPair[], task: string | null, filter: PairFilter | null): readonly RolloutPair[] {
  return pairs.filter((pair) => {
    if (task !== null && pair.task !== task) return false;
    return filter === null ? pair.kind === "only-a" || pair.kind === "only-b" : pair.kind === filter;
  });
}

/** Half the width of the difference axis: the widest interval, on a round number. */
export function differenceReach(tasks: Comparison["tasks"]): number {
  const widest = Math.max(0.1, ...tasks.flatMap(({ difference: { mean, low, high } }) => [mean, low, high].map((end) => Math.abs(end ?? 0))));
  return [0.1, 0.25, 0.5, 1].find((reach) => widest <= reach) ?? Math.ceil(widest);
}

/** Whether an interval of a difference leaves 0 out: −1 worse, 1 better, 0 neither. */
export function sideOfZero({ low, high }: Comparison["tasks"][number]["difference"]): -1 | 0 | 1 {
  if (low === null || high === null) return 0;
  return high < 0 ? -1 : low > 0 ? 1 : 0;
}

/** A difference with its sign; what rounds to 0 has none. */
export const signedWords = (value: number | null): string =>
  value === null ? missing : `${value > 0.004 ? "+" : ""}${decimal(Math.abs(value) < 0.005 ? 0 : value)}`;
