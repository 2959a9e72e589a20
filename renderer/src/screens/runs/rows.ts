/** The rows of Runs: experiment → rollouts → calls, flattened for a virtual list. Pure. */
import { matches } from "../../filter/match.ts";
import type { Term } from "../../filter/parse.ts";
import type { CallView, ExperimentView, RolloutView } from "../../service/views.ts";

export type Row =
  | {
      readonly kind: "experiment";
      readonly key: string;
      readonly experiment: ExperimentView;
      readonly open: boolean;
      readonly matching: number | null;
    }
  | { readonly kind: "rollout"; readonly key: string; readonly rollout: RolloutView; readonly open: boolean }
  | { readonly kind: "call"; readonly key: string; readonly call: CallView; readonly rollout: RolloutView }
  /** Children that are still being read, or that are none. */
  | { readonly kind: "remark"; readonly key: string; readonly level: 2 | 3; readonly text: string };

export const levelOf = (row: Row): number => (row.kind === "experiment" ? 1 : row.kind === "rollout" ? 2 : row.kind === "call" ? 3 : row.level);

export const sortColumns = ["started", "harness", "policy", "reward", "outcome", "tokens", "calls", "chains", "time"] as const;
export type SortColumn = (typeof sortColumns)[number];
export interface Sorting {
  readonly column: SortColumn;
  readonly descending: boolean;
}

const columnValue: Record<SortColumn, (rollout: RolloutView) => string | number | null> = {
  started: (rollout) => rollout.createdAt,
  harness: (rollout) => rollout.harness,
  policy: (rollout) => rollout.policy,
  reward: (rollout) => rollout.reward,
  outcome: (rollout) => rollout.status ?? rollout.phase,
  tokens: (rollout) => rollout.promptTokens + rollout.completionTokens,
  calls: (rollout) => rollout.calls,
  chains: (rollout) => rollout.chains,
  time: (rollout) => rollout.seconds,
};

/** Missing values come last, whichever way the column is sorted; equal ones by the id, so that rows never swap by themselves. */
export function sortRollouts(rollouts: readonly RolloutView[], { column, descending }: Sorting): readonly RolloutView[] {
  const read = columnValue[column];
  const turn = descending ? -1 : 1;
  return [...rollouts].sort((left, right) => {
    const [a, b] = [read(left), read(right)];
    if (a === null || b === null) return Number(a === null) - Number(b === null) || left.id.localeCompare(right.id);
    const order = typeof a === "string" && typeof b === "string" ? a.localeCompare(b) : Number(a) - Number(b);
    return order * turn || left.id.localeCompare(right.id);
  });
}

export interface RowSources {
  readonly experiments: readonly ExperimentView[];
  /** undefined = not read yet. */
  readonly rolloutsOf: (experiment: string) => readonly RolloutView[] | undefined;
  readonly callsOf: (rollout: string) => readonly CallView[] | undefined;
  readonly expanded: ReadonlySet<string>;
  readonly terms: readonly Term[];
  readonly sorting: Sorting;
}

export const experimentKey = (id: string): string => `e/${id}`;
/** While a filter is on experiments open by themselves; this key remembers the ones a person has closed. */
export const closedKey = (id: string): string => `f/${id}`;
const rolloutKey = (id: string): string => `r/${id}`;

function callRows(rollout: RolloutView, calls: readonly CallView[] | undefined): readonly Row[] {
  const key = `c/${rollout.id}`;
  if (calls === undefined) return [{ kind: "remark", key, level: 3, text: "Reading the calls" }];
  if (calls.length === 0) return [{ kind: "remark", key, level: 3, text: "No calls" }];
  return calls.map((call) => ({ kind: "call", key: `${key}/${call.id}`, call, rollout }));
}

function experimentRows(experiment: ExperimentView, sources: RowSources): readonly Row[] {
  const { rolloutsOf, callsOf, expanded, terms, sorting } = sources;
  const filtering = terms.length > 0;
  const key = experimentKey(experiment.id);
  const all = rolloutsOf(experiment.id);
  const passing = all?.filter((rollout) => matches(terms, rollout, experiment.name));
  if (filtering && passing?.length === 0) return [];
  const open = filtering ? !expanded.has(closedKey(experiment.id)) : expanded.has(key);
  const head: Row = { kind: "experiment", key, experiment, open, matching: filtering ? (passing?.length ?? null) : null };
  if (!open) return [head];
  if (passing === undefined) return [head, { kind: "remark", key: `${key}/reading`, level: 2, text: `Reading ${experiment.total} rollouts` }];
  if (passing.length === 0) return [head, { kind: "remark", key: `${key}/none`, level: 2, text: "No rollouts yet" }];
  return [
    head,
    ...sortRollouts(passing, sorting).flatMap((rollout): readonly Row[] => {
      const rowKey = rolloutKey(rollout.id);
      const rolloutOpen = expanded.has(rowKey);
      const row: Row = { kind: "rollout", key: rowKey, rollout, open: rolloutOpen };
      return rolloutOpen ? [row, ...callRows(rollout, callsOf(rollout.id))] : [row];
    }),
  ];
}

/** Newest experiment first. */
export function buildRows(sources: RowSources): readonly Row[] {
  return [...sources.experiments]
    .sort((left, right) => right.createdAt - left.createdAt || left.id.localeCompare(right.id))
    .flatMap((experiment) => experimentRows(experiment, sources));
}

/** The row that holds this one: what Left goes to. */
export function parentIndex(rows: readonly Row[], index: number): number {
  const row = rows[index];
  if (row === undefined) return -1;
  const level = levelOf(row);
  for (let at = index - 1; at >= 0; at -= 1) {
    const above = rows[at];
    if (above !== undefined && levelOf(above) < level) return at;
  }
  return -1;
}

/** Where the active row is. A remark gives way to the children that were read; a row that is gone to the row it was in. */
export function activeIndex(rows: readonly Row[], active: string | null): number {
  if (active === null) return -1;
  const exact = rows.findIndex((row) => row.key === active);
  if (exact !== -1) return exact;
  const child = rows.findIndex((row) => row.key.startsWith(`${active}/`));
  if (child !== -1) return child;
  const [kind, id] = active.split("/");
  return rows.findIndex((row) => row.key === (kind === "c" ? `r/${id}` : `${kind}/${id}`));
}
