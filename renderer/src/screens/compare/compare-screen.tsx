import { useState } from "react";
import { copyLink } from "../../actions/links.ts";
import { runCommand, useCommands } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Pane, PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import { Boundary, Empty, Failed, Loading, Note, Ready } from "../../parts/states.tsx";
import { useMedia } from "../../parts/use-media.ts";
import { useQuery } from "../../service/use-query.ts";
import { type CompareColumn, type CompareGrid, comparisonQuery, type ExperimentView, experimentsQuery, gridQuery } from "../../service/views.ts";
import type { ComparePlace } from "../../state/places.ts";
import { openCompare } from "../../state/workspace.ts";
import { plural } from "../../words/numbers.ts";
import { chosenSides, columnNames, comparableExperiments } from "./columns.ts";
import { GridPane } from "./grid-pane.tsx";
import { Paired, VerdictChip } from "./paired-pane.tsx";
import { Transfer } from "./transfer-pane.tsx";

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

function Choice({ label, value, onChange, options }: ChoiceProps) {
  return (
    <label className="flex min-w-0 items-center gap-1.5 text-xs text-muted">
      <span className="flex-none">{label}</span>
      <select className="control min-w-0 max-w-56 text-fg slim:max-w-36" value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}

function Head({
  all,
  experiments,
  grid,
  place,
}: {
  readonly all: readonly ExperimentView[];
  readonly experiments: readonly string[];
  readonly grid: CompareGrid | undefined;
  readonly place: ComparePlace;
}) {
  const [first = "", second = ""] = experiments;
  const options = all.map(({ id, name }) => ({ value: id, label: name }));
  const set = (next: readonly string[]): void => openCompare({ experiments: [...new Set(next.filter((id) => id !== ""))], a: null, b: null });
  return (
    <div
      className="flex min-h-toolbar flex-none items-center gap-2.5 border-b border-line px-3"
      data-pane
      tabIndex={-1}
      role="toolbar"
      aria-label="Comparison"
    >
      <h1 className="m-0 flex-none text-lg font-strong tracking-[-0.011em]">Compare</h1>
      <span className="min-w-0 truncate text-sm text-muted narrow:hidden">
        {grid === undefined ? "" : `${plural(grid.tasks.length, "task")}, ${plural(grid.columns.length, "column")}`}
      </span>
      <span className="flex-1" />
      <Choice label="Experiment" value={first} options={options} onChange={(id) => set([id, second])} />
      <Choice
        label="beside"
        value={second}
        options={[{ value: "", label: "none" }, ...options.filter(({ value }) => value !== first)]}
        onChange={(id) => set([first, id])}
      />
      <IconButton glyph="link" label="Copy link" keyShown="c" onClick={() => void copyLink(place)} />
    </div>
  );
}

function PairedPane({
  columns,
  a,
  b,
  task,
  onTask,
}: {
  readonly columns: readonly CompareColumn[];
  readonly a: string;
  readonly b: string;
  readonly task: string | null;
  readonly onTask: (task: string | null) => void;
}) {
  const names = columnNames(columns);
  const state = useQuery(comparisonQuery(a, b));
  const options = columns.map(({ key }) => ({ value: key, label: `${names.get(key)?.name} ${names.get(key)?.about}` }));
  const swap = (): void => openCompare({ a: b, b: a });
  useCommands({ "compare.swap": swap });
  return (
    <>
      <PaneHeader>
        <span className="narrow:sr-only">
          <PaneTitle>Paired</PaneTitle>
        </span>
        <Choice label="A" value={a} options={options} onChange={(key) => openCompare(key === b ? { a: b, b: a } : { a: key, b })} />
        <Choice label="B" value={b} options={options} onChange={(key) => openCompare(key === a ? { a: b, b: a } : { a, b: key })} />
        <IconButton glyph="refresh" label="Swap A and B" keyShown="x" onClick={swap} />
        <span className="flex-1" />
        {state.value !== undefined && <VerdictChip comparison={state.value} />}
      </PaneHeader>
      <div className="min-h-0 flex-1 overflow-auto" data-pane-focus tabIndex={-1}>
        <Ready state={state} reading="Comparing">
          {(comparison) => (
            <Paired comparison={comparison} task={comparison.tasks.some((each) => each.task === task) ? task : null} onTask={onTask} />
          )}
        </Ready>
        <Transfer />
      </div>
    </>
  );
}

function Panes({ grid, place }: { readonly grid: CompareGrid; readonly place: ComparePlace }) {
  const [task, setTask] = useState<string | null>(null);
  const [a, b] = chosenSides(grid.columns, place.a, place.b);
  const narrow = useMedia("(max-width: 900px)");
  const onCell = (column: string, chosen: string): void => {
    setTask(chosen);
    if (column !== a) openCompare({ a, b: column });
    else if (b !== null) openCompare({ a: b, b: column });
  };
  return (
    <div className={`flex min-h-0 flex-1 ${narrow ? "flex-col overflow-auto" : ""}`}>
      <Pane label="Harness by task" className={narrow ? "max-h-[70vh] flex-none border-b border-line" : "flex-[1.05] border-r border-line"}>
        <Boundary>
          <GridPane grid={grid} a={a} b={b} task={task} onCell={onCell} />
        </Boundary>
      </Pane>
      <Pane label="Paired" className={narrow ? "flex-none" : "flex-1"}>
        <Boundary>
          {a !== null && b !== null ? (
            <PairedPane columns={grid.columns} a={a} b={b} task={task} onTask={setTask} />
          ) : (
            <>
              <PaneHeader>
                <PaneTitle>Paired</PaneTitle>
              </PaneHeader>
              <div className="p-3">
                <Note look="plain">One column has nothing to stand beside. Choose a second experiment above.</Note>
              </div>
              <Transfer />
            </>
          )}
        </Boundary>
      </Pane>
    </div>
  );
}

function Comparing({ all, place }: { readonly all: readonly ExperimentView[]; readonly place: ComparePlace }) {
  const known = place.experiments.filter((id) => all.some((each) => each.id === id));
  const experiments = known.length > 0 ? known : all.slice(0, 1).map(({ id }) => id);
  const state = useQuery(gridQuery(experiments));
  return (
    <>
      <Head all={all} experiments={experiments} grid={state.value} place={{ ...place, experiments }} />
      <Ready state={state} reading="Counting rewards">
        {(grid) =>
          grid.columns.length === 0 ? (
            <Empty
              title="Nothing to compare here"
              text="No rollout of this experiment has ended by the policy's own doing. Choose another experiment above."
            />
          ) : (
            <Panes key={experiments.join()} grid={grid} place={place} />
          )
        }
      </Ready>
    </>
  );
}

/** Harnesses and policies on the same tasks: by task, in pairs, and trained against evaluated. */
export function CompareScreen({ place }: { readonly place: ComparePlace }) {
  const { value, failure } = useQuery(experimentsQuery);
  if (value === undefined) return failure === null ? <Loading what="Reading the experiments" /> : <Failed failure={failure} />;
  const all = comparableExperiments(value);
  if (all.length > 0) return <Comparing all={all} place={place} />;
  return (
    <Empty
      title="Nothing to compare yet"
      text="Experiments with ended rollouts are compared here: harness by task, two columns in pairs, with the interval of their difference."
    >
      <Button look="primary" glyph="plus" onClick={() => runCommand(commandById("experiment.new"))}>
        New experiment…
      </Button>
    </Empty>
  );
}
