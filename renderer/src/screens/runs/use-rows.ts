import { useEffect, useMemo, useRef } from "react";
import { type ParsedFilter, parseFilter } from "../../filter/parse.ts";
import { useQueries, useQuery } from "../../service/use-query.ts";
import { type ExperimentView, experimentsQuery, type RolloutView, rolloutQuery, rolloutsQuery } from "../../service/views.ts";
import { setExpanded, useRunsSelection } from "../../state/runs-selection.ts";
import { buildRows, experimentKey, type Row, type Sorting } from "./rows.ts";

/** Above this many rollouts a collapsed experiment is read only when something asks for it. */
const eagerRollouts = 5000;

export interface RunsData {
  readonly experiments: readonly ExperimentView[] | undefined;
  readonly failure: ReturnType<typeof useQuery>["failure"];
  readonly rows: readonly Row[];
  readonly rollouts: readonly RolloutView[];
  /** Every rollout is here, so that counts are true. */
  readonly complete: boolean;
  readonly filter: ParsedFilter;
  /** The terms in force: while there is a mistake, those of the last filter that had none. */
  readonly terms: ParsedFilter["terms"];
}

const none: readonly ExperimentView[] = [];

export function useRunsData(sorting: Sorting): RunsData {
  const { value: experiments, failure } = useQuery(experimentsQuery);
  const expanded = useRunsSelection((state) => state.expanded);
  const text = useRunsSelection((state) => state.filter);
  const filter = useMemo(() => parseFilter(text), [text]);
  const lastGood = useRef(filter.terms);
  const typingKey = useRunsSelection((state) => state.typingKey);
  if (filter.mistake === null && !typingKey) lastGood.current = filter.terms;
  const terms = lastGood.current;

  const total = (experiments ?? none).reduce((sum, experiment) => sum + experiment.total, 0);
  const eager = terms.length > 0 || total <= eagerRollouts;
  const wanted = (experiments ?? none).filter((experiment) => eager || expanded.has(experimentKey(experiment.id)));
  const lists = useQueries(wanted.map((experiment) => rolloutsQuery(experiment.id)));
  const openRollouts = [...expanded].filter((key) => key.startsWith("r/")).map((key) => key.slice(2));
  const details = useQueries(openRollouts.map(rolloutQuery));

  const rows = useMemo(
    () =>
      buildRows({
        experiments: experiments ?? none,
        rolloutsOf: (id) => lists.get(`rollouts:${id}`)?.value,
        callsOf: (id) => details.get(`rollout:${id}`)?.value?.calls,
        expanded,
        terms,
        sorting,
      }),
    [experiments, lists, details, expanded, terms, sorting],
  );
  const rollouts = useMemo(() => [...lists.values()].flatMap((list) => list.value ?? []), [lists]);

  const newest = experiments?.reduce<ExperimentView | null>((best, each) => (best === null || each.createdAt > best.createdAt ? each : best), null);
  const newestId = newest?.id;
  useEffect(() => {
    // The newest experiment is open when a person comes; what they close stays closed.
    if (newestId !== undefined) setExpanded(experimentKey(newestId), true);
  }, [newestId]);

  return { experiments, failure, rows, rollouts, complete: eager && lists.size === wanted.length && rollouts.length >= total, filter, terms };
}
