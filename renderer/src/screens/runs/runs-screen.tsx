import { useState } from "react";
import { askToRemove, cancelExperiment, cancelRollout } from "../../actions/experiments.ts";
import { exportExperiment, exportRollout } from "../../actions/exports.ts";
import { canRegrade, regradeExperiment, regradeRollout } from "../../actions/regrade.ts";
import { runCommand, useCommands } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { Button } from "../../parts/button.tsx";
import { Pane } from "../../parts/pane.tsx";
import { SidePane } from "../../parts/side-pane.tsx";
import { Boundary, Empty, Failed, Loading } from "../../parts/states.tsx";
import { setFilter, useRunsSelection } from "../../state/runs-selection.ts";
import { useDetailsShown } from "../../state/workspace.ts";
import { isSession } from "../../words/names.ts";
import { count } from "../../words/numbers.ts";
import { FirstRun } from "../first-run/first-run.tsx";
import { Details } from "./details.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { activeIndex, type Row, type Sorting } from "./rows.ts";
import { RunsTable, rolloutOf } from "./runs-table.tsx";
import { SavedRow } from "./saved-row.tsx";
import { useRowHeight } from "./use-row-height.ts";
import { useRunsData } from "./use-rows.ts";

function useRowCommands(row: Row | undefined): void {
  const running =
    row?.kind === "experiment"
      ? row.experiment.status === "running"
      : row?.kind === "rollout" && row.rollout.phase !== "ended" && !isSession(row.rollout);
  useCommands({
    ...(row?.kind === "experiment" ? { "place.export": () => exportExperiment(row.experiment) } : {}),
    ...(row?.kind === "rollout" || row?.kind === "call" ? { "place.export": () => exportRollout(row.rollout) } : {}),
    ...(row?.kind === "experiment" && canRegrade(row.experiment) ? { "runs.regrade": () => regradeExperiment(row.experiment) } : {}),
    ...(row?.kind === "rollout" && row.rollout.status !== null && !isSession(row.rollout)
      ? { "runs.regrade": () => regradeRollout(row.rollout) }
      : {}),
    ...(running && row?.kind === "experiment" ? { "runs.cancel": () => void cancelExperiment(row.experiment) } : {}),
    ...(running && row?.kind === "rollout" ? { "runs.cancel": () => void cancelRollout(row.rollout) } : {}),
    ...(!running && row?.kind === "experiment" ? { "runs.remove": () => askToRemove(row.experiment) } : {}),
  });
}

const focusTable = (): void => document.querySelector<HTMLElement>('[role="treegrid"]')?.focus();

export function RunsScreen() {
  const [sorting, setSorting] = useState<Sorting>({ column: "started", descending: true });
  const data = useRunsData(sorting);
  const active = useRunsSelection((state) => state.active);
  const detailsShown = useDetailsShown();
  const rowHeight = useRowHeight();
  const row = data.rows[activeIndex(data.rows, active)];
  useRowCommands(row);

  if (data.experiments === undefined) return data.failure === null ? <Loading what="Reading the experiments" /> : <Failed failure={data.failure} />;
  if (data.experiments.length === 0) return <FirstRun />;

  const total = data.experiments.reduce((sum, experiment) => sum + experiment.total, 0);
  const filtering = data.terms.length > 0;
  const shown = filtering ? data.rows.reduce((sum, each) => sum + (each.kind === "experiment" ? (each.matching ?? 0) : 0), 0) : total;
  const experiment = row?.kind === "experiment" ? row.experiment : null;

  return (
    <>
      <h1 className="sr-only">Runs</h1>
      <div
        className="flex min-h-toolbar flex-none items-center gap-2 border-b border-line px-3"
        data-pane
        tabIndex={-1}
        role="toolbar"
        aria-label="Filter and actions"
      >
        <FilterBar
          filter={data.filter}
          rollouts={data.rollouts}
          experiments={data.experiments.map((each) => each.name)}
          counted={filtering ? `${count(shown)} of ${count(total)}` : count(total)}
          onLeave={focusTable}
        />
        <Button look="primary" glyph="plus" onClick={() => runCommand(commandById("experiment.new"))}>
          New experiment
        </Button>
      </div>
      <SavedRow rollouts={data.rollouts} experiments={data.experiments} complete={data.complete} />
      <div className="relative flex min-h-0 flex-1">
        <Pane label="Runs" className="flex-1">
          <Boundary>
            {data.rows.length === 0 ? (
              <Empty title="No rollout matches" text={`${count(total)} are hidden by the filter.`}>
                <Button keyShown="Esc" onClick={() => setFilter("")}>
                  Clear filter
                </Button>
              </Empty>
            ) : (
              <RunsTable rows={data.rows} sorting={sorting} onSort={setSorting} filtering={filtering} rowHeight={rowHeight} />
            )}
          </Boundary>
        </Pane>
        {detailsShown && (
          <SidePane label="Details" name="details" initial={288} subject={active ?? ""}>
            <Details rollout={rolloutOf(row)} experiment={experiment} />
          </SidePane>
        )}
      </div>
    </>
  );
}
