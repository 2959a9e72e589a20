import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef } from "react";
import { useCommands } from "../../commands/handlers.ts";
import { Icon } from "../../parts/icon.tsx";
import { rolloutPlace } from "../../state/places.ts";
import { setExpanded, useRunsSelection } from "../../state/runs-selection.ts";
import { openPlace, selectRollout } from "../../state/workspace.ts";
import { rolloutTitle } from "../../words/names.ts";
import { type RowActions, RowView } from "./row-view.tsx";
import { activeIndex, closedKey, parentIndex, type Row, type SortColumn, type Sorting, sortColumns } from "./rows.ts";

/** Of the head, px: `--of-row-header`. */
const headHeight = 26;

const columns: readonly { readonly column: SortColumn | null; readonly label: string; readonly look: string }[] = [
  { column: "started", label: "Started", look: "" },
  { column: "harness", label: "Harness", look: "column-harness" },
  { column: "policy", label: "Policy", look: "column-policy" },
  { column: "reward", label: "Reward", look: "number" },
  { column: "outcome", label: "Outcome", look: "" },
  { column: null, label: "Trainable?", look: "column-trainable" },
  { column: "tokens", label: "Tokens", look: "number column-tokens" },
  { column: "calls", label: "Calls", look: "number column-calls" },
  { column: "chains", label: "Chains", look: "number column-chains" },
  { column: "time", label: "Time", look: "number" },
];

const directionWords = (sorting: Sorting): string => (sorting.column === "started" ? (sorting.descending ? ", newest first" : ", oldest first") : "");

/** Again by the same column turns it round. */
const sortedBy = (column: SortColumn, now: Sorting): Sorting => ({ column, descending: column === now.column ? !now.descending : true });

function Head({ sorting, onSort }: { readonly sorting: Sorting; readonly onSort: (sorting: Sorting) => void }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a virtual grid of absolute rows is no HTML table
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has one tab stop
    <div className="treegrid-row treegrid-head sticky top-0 z-[2]" role="row">
      {columns.map(({ column, label, look }) => {
        const sorted = column === sorting.column;
        return (
          // biome-ignore lint/a11y/useSemanticElements: see above
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          // biome-ignore lint/a11y/useKeyWithClickEvents: see above
          <span
            key={label}
            role="columnheader"
            aria-sort={sorted ? (sorting.descending ? "descending" : "ascending") : undefined}
            className={`${look} ${sorted ? "font-strong text-fg" : ""} ${column === null ? "" : "cursor-default hover:text-fg"}`}
            onClick={() => column !== null && onSort(sortedBy(column, sorting))}
          >
            {label}
            {sorted && directionWords(sorting)}
            {sorted && <Icon name={sorting.descending ? "down" : "up"} size={0.6875} className="ml-1 inline align-[-2px]" />}
          </span>
        );
      })}
    </div>
  );
}

/** The rollout that a row speaks of. */
export const rolloutOf = (row: Row | undefined): string | null => (row?.kind === "rollout" || row?.kind === "call" ? row.rollout.id : null);

function openRow(row: Row, keep: boolean): void {
  if (row.kind !== "rollout" && row.kind !== "call") return;
  const call = row.kind === "call" ? row.call.index + 1 : null;
  openPlace(rolloutPlace(row.rollout.id, { call }), { preview: !keep, title: rolloutTitle(row.rollout) });
}

/** While a filter is on, an experiment is open unless it was closed; else it is closed unless it was opened. */
function toggleRow(row: Row, filtering: boolean): void {
  if (row.kind === "experiment") setExpanded(filtering ? closedKey(row.experiment.id) : row.key, filtering ? row.open : !row.open);
  if (row.kind === "rollout") setExpanded(row.key, !row.open);
}

interface RunsTableProps {
  readonly rows: readonly Row[];
  readonly sorting: Sorting;
  readonly onSort: (sorting: Sorting) => void;
  readonly filtering: boolean;
  /** Height of a row in px, of the density in force. */
  readonly rowHeight: number;
}

/** A treegrid with one tab stop: arrows inside, Enter opens, double click keeps. Only the rows in sight exist. */
export function RunsTable({ rows, sorting, onSort, filtering, rowHeight }: RunsTableProps) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const active = useRunsSelection((state) => state.active);
  const index = activeIndex(rows, active);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (at) => rows[at]?.key ?? at,
    overscan: 12,
    // Rows begin below the head, which stays at the top: so much of the height shows none.
    scrollPaddingEnd: headHeight,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of density changes every size
  useEffect(() => virtual.measure(), [rowHeight]);

  // Selected from elsewhere (a new experiment, a link), or before this table was left: it is brought into sight. A row that was
  // clicked stays under the pointer: a second click may follow.
  const activeKey = rows[index]?.key;
  const selectedHere = useRef<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another row is brought into sight; scrolling away from one stays
  useEffect(() => {
    if (activeKey !== undefined && activeKey !== selectedHere.current) virtual.scrollToIndex(index);
  }, [activeKey]);

  const latest = useRef({ rows, filtering });
  latest.current = { rows, filtering };
  const actions = useMemo(
    (): RowActions => ({
      select: (key) => {
        selectedHere.current = key;
        useRunsSelection.setState({ active: key });
        const rollout = rolloutOf(latest.current.rows.find((row) => row.key === key));
        if (rollout !== null) selectRollout(rollout);
      },
      toggle: (row) => toggleRow(row, latest.current.filtering),
      open: openRow,
    }),
    [],
  );
  const go = (to: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, to))];
    if (row === undefined) return;
    actions.select(row.key);
    virtual.scrollToIndex(rows.indexOf(row));
  };
  const page = (): number => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
  const row = rows[index];
  const isParent = row?.kind === "experiment" || row?.kind === "rollout";

  const keys = new Map<string, () => void>([
    ["ArrowDown", () => go(index + 1)],
    ["ArrowUp", () => go(index - 1)],
    ["Home", () => go(0)],
    ["End", () => go(rows.length - 1)],
    ["PageDown", () => go(index + page())],
    ["PageUp", () => go(index - page())],
    ["ArrowRight", () => (isParent && !row.open ? toggleRow(row, filtering) : go(index + 1))],
    ["ArrowLeft", () => (isParent && row.open ? toggleRow(row, filtering) : go(parentIndex(rows, index)))],
    ["Enter", () => row !== undefined && (row.kind === "experiment" ? toggleRow(row, filtering) : openRow(row, false))],
  ]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const run = event.altKey || event.ctrlKey || event.metaKey ? undefined : keys.get(event.key);
    if (run === undefined) return;
    event.preventDefault();
    run();
  };
  useCommands({
    "runs.next": () => go(index + 1),
    "runs.previous": () => go(index - 1),
    "runs.first": () => go(0),
    "runs.last": () => go(rows.length - 1),
    ...(row?.kind === "rollout" || row?.kind === "call" ? { "runs.open": () => openRow(row, true) } : {}),
    ...Object.fromEntries(sortColumns.map((column) => [`runs.sort.${column}`, () => onSort(sortedBy(column, sorting))])),
  });

  return (
    <div
      ref={scroller}
      role="treegrid"
      aria-label="Experiments, rollouts and calls"
      aria-rowcount={rows.length}
      aria-activedescendant={index === -1 ? undefined : `${id}-${index}`}
      data-pane-focus
      tabIndex={0}
      onKeyDown={onKeyDown}
      className="treegrid focus-on-row min-h-0 flex-1 overflow-auto"
    >
      <Head sorting={sorting} onSort={onSort} />
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const each = rows[item.index];
          return each === undefined ? null : (
            <RowView key={item.key} row={each} id={`${id}-${item.index}`} active={item.index === index} actions={actions} top={item.start} />
          );
        })}
      </div>
    </div>
  );
}
