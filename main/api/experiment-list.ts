/** Experiments with their figures. Figures are summed anew only where a rollout has changed: a list is asked for at every event. */
import type { ExperimentRecord, Store } from "../store/index.ts";
import type { ExperimentView } from "./experiment-views.ts";
import { type ExperimentFigures, experimentFigures } from "./present.ts";

interface ExperimentList {
  /** Newest first. */
  all(): ExperimentView[];
  view(record: ExperimentRecord): ExperimentView;
}

export function createExperimentList(store: Pick<Store, "experiments" | "experimentSummary" | "rolloutMark">): ExperimentList {
  const known = new Map<string, { readonly mark: number; readonly figures: ExperimentFigures }>();

  function figuresOf(id: string): ExperimentFigures {
    const mark = store.rolloutMark(id);
    const last = known.get(id);
    if (last?.mark === mark) return last.figures;
    const figures = experimentFigures(store.experimentSummary(id));
    known.set(id, { mark, figures });
    return figures;
  }

  const view = (record: ExperimentRecord): ExperimentView => ({ ...record, ...figuresOf(record.id) });
  return {
    view,
    all() {
      const views = store.experiments().map(view);
      const ids = new Set(views.map(({ id }) => id));
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
      return views;
    },
  };
}
