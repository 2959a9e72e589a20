import { matches } from "../../filter/match.ts";
import { parseFilter } from "../../filter/parse.ts";
import type { ExperimentView, RolloutView } from "../../service/views.ts";
import { setFilter, useRunsSelection } from "../../state/runs-selection.ts";
import { useSavedFilters } from "../../state/saved-filters.ts";
import { count } from "../../words/numbers.ts";
import { outcomeParts } from "./cells.tsx";

/** Filters that everyone needs; a person's own follow them. */
const given = [
  { name: "All", text: "" },
  { name: "Failed", text: "outcome:failed" },
  { name: "Reward 0, trainable", text: "reward:0 trainable:yes" },
  { name: "Infrastructure", text: "outcome:-failure" },
  { name: "No token ids", text: 'trainable:no "token ids"' },
  { name: "Over 80k tokens", text: "tokens>80k" },
] as const;

interface SavedRowProps {
  readonly rollouts: readonly RolloutView[];
  readonly experiments: readonly ExperimentView[];
  /** Whether every rollout is read: only then is a count true. */
  readonly complete: boolean;
}

function nameOf(experiments: readonly ExperimentView[]): (id: string) => string {
  const names = new Map(experiments.map((experiment) => [experiment.id, experiment.name]));
  return (id) => names.get(id) ?? "";
}

/** Saved filters with their counts, and what the bars' colours mean. */
export function SavedRow({ rollouts, experiments, complete }: SavedRowProps) {
  const text = useRunsSelection((state) => state.filter);
  const own = useSavedFilters((state) => state.filters);
  const nameOfExperiment = nameOf(experiments);
  const counted = (filter: string): number | null => {
    if (!complete) return null;
    const { terms } = parseFilter(filter);
    return terms.length === 0 ? rollouts.length : rollouts.filter((rollout) => matches(terms, rollout, nameOfExperiment(rollout.experiment))).length;
  };
  const total: Record<string, number> = {};
  for (const experiment of experiments) for (const [status, n] of Object.entries(experiment.outcomes)) total[status] = (total[status] ?? 0) + n;
  return (
    <div className="flex h-8 flex-none items-center gap-0.5 overflow-hidden border-b border-line px-3 text-xs whitespace-nowrap text-secondary">
      {[...given, ...own].map((filter) => {
        const n = counted(filter.text);
        return (
          <button
            key={filter.name}
            type="button"
            aria-pressed={text.trim() === filter.text}
            onClick={() => setFilter(filter.text)}
            className={`focus-inside max-w-56 flex-none truncate rounded-2 px-2 py-0.75 ${text.trim() === filter.text ? "bg-selected-idle font-medium text-fg" : "hover:bg-hover"}`}
          >
            {filter.name}
            {n !== null && <span className="ml-1 font-normal text-muted tabular-nums">{count(n)}</span>}
          </button>
        );
      })}
      <span className="flex-1" />
      <span className="flex gap-3 pl-3 narrow:hidden">
        {outcomeParts(total).map((part) => (
          <span key={part.name} className="inline-flex items-center gap-1.25 text-2xs">
            <i className={`inline-block size-2.75 rounded-[2px] ${part.look}`} />
            {count(part.n)} {part.name}
          </span>
        ))}
      </span>
    </div>
  );
}
