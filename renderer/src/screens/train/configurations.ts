/** Training runs by configuration: the same run file, other seeds. Pure. */
import type { TrainingRunView } from "../../service/views.ts";

export interface Configuration {
  readonly key: string;
  /** Tells it apart from every other one. */
  readonly label: string;
  /** By seed, then by time. */
  readonly runs: readonly TrainingRunView[];
}

/** Newest first, as the runs come. */
export function configurationsOf(runs: readonly TrainingRunView[]): readonly Configuration[] {
  const groups = new Map<string, TrainingRunView[]>();
  for (const run of runs) groups.set(run.configuration, [...(groups.get(run.configuration) ?? []), run]);
  const all = [...groups].map(([key, ofKey]) => ({
    key,
    runs: [...ofKey].sort((left, right) => left.seed - right.seed || left.createdAt - right.createdAt),
  }));
  const labels = labelsOf(all.flatMap(({ runs: [first] }) => (first === undefined ? [] : [first])));
  return all.map((each) => ({ ...each, label: labels.get(each.key) ?? each.key }));
}

/** The name where it is enough; else with what differs; else with a number. */
function labelsOf(runs: readonly TrainingRunView[]): ReadonlyMap<string, string> {
  const forms = [
    (run: TrainingRunView) => run.name,
    (run: TrainingRunView) => `${run.name}, ${run.algorithm}`,
    (run: TrainingRunView) => `${run.name}, ${run.algorithm}, ${run.harnesses.join(" + ")}`,
    (run: TrainingRunView) => `${run.name}, ${run.algorithm}, ${run.harnesses.join(" + ")}, ${run.base}`,
  ];
  return new Map(
    runs.map((run) => {
      const form = forms.find((each) => runs.filter((other) => each(other) === each(run)).length === 1);
      const twins = runs.filter((other) => other.name === run.name);
      return [run.configuration, form?.(run) ?? `${run.name} (${twins.length - twins.indexOf(run)})`];
    }),
  );
}

/** As many configurations at once as there are series to tell apart. */
export const mostShown = 5;

/** Which configurations are drawn: those of the open run's name, unless a person chose otherwise. */
export function shownConfigurations(
  all: readonly Configuration[],
  open: TrainingRunView | null,
  chosen: Readonly<Record<string, boolean>>,
): readonly Configuration[] {
  const isShown = ({ key, runs }: Configuration): boolean => chosen[key] ?? (open !== null && runs.some((run) => run.name === open.name));
  const shown = all.filter(isShown);
  const first = shown.filter(({ runs }) => runs.some((run) => run.id === open?.id));
  return [...first, ...shown.filter((each) => !first.includes(each))].slice(0, mostShown);
}

/** Series by configuration: one that stays keeps its place, a new one takes the lowest free. */
export function slotsOf(shown: readonly string[], before: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const slots = new Map(shown.flatMap((key) => (before.has(key) ? [[key, before.get(key) ?? 0] as const] : [])));
  const free = Array.from({ length: mostShown }, (_, slot) => slot).filter((slot) => ![...slots.values()].includes(slot));
  for (const key of shown) if (!slots.has(key)) slots.set(key, free.shift() ?? 0);
  return slots;
}
