import { type KeyboardEvent, useState } from "react";
import { useCommands } from "../../commands/handlers.ts";
import { Button } from "../../parts/button.tsx";
import { Chip } from "../../parts/chip.tsx";
import { Cell } from "../../parts/grid-cell.tsx";
import { PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import type { Comparison, RolloutPair } from "../../service/views.ts";
import { rolloutPlace } from "../../state/places.ts";
import { openPlace } from "../../state/workspace.ts";
import { shortId, taskWords } from "../../words/names.ts";
import { count, decimal, missing, plural, reward } from "../../words/numbers.ts";
import { differenceReach, listedPairs, type PairFilter, sideOfZero } from "./columns.ts";

const signed = (value: number | null): string =>
  value === null ? missing : `${value > 0.004 ? "+" : ""}${decimal(Math.abs(value) < 0.005 ? 0 : value)}`;

const verdicts = {
  better: { word: "B is better", tone: "success", glyph: "ok" },
  worse: { word: "B is worse", tone: "paused", glyph: "warn" },
  unclear: { word: "no order shown", tone: "neutral", glyph: "minus" },
  "too-few": { word: "too few to rank", tone: "masked", glyph: "info" },
} as const;

export function VerdictChip({ comparison }: { readonly comparison: Comparison }) {
  const { word, tone, glyph } = verdicts[comparison.verdict];
  return (
    <span title={comparison.reason}>
      <Chip tone={tone} glyph={glyph}>
        {word}
      </Chip>
    </span>
  );
}

const lists: readonly { readonly kind: PairFilter; readonly word: string; readonly ink: string }[] = [
  { kind: "only-a", word: "Only A", ink: "var(--of-delta-neg-3)" },
  { kind: "only-b", word: "Only B", ink: "var(--of-delta-pos-3)" },
  { kind: "both", word: "Both", ink: "var(--of-text-muted)" },
  { kind: "neither", word: "Neither", ink: "var(--of-border-strong)" },
];

function Verdict({
  comparison,
  filter,
  onFilter,
}: {
  readonly comparison: Comparison;
  readonly filter: PairFilter | null;
  readonly onFilter: (filter: PairFilter | null) => void;
}) {
  const { gain, pairs, reason, verdict, leftOut } = comparison;
  const compared = pairs.filter(({ kind }) => kind !== "not-comparable").length;
  return (
    <div className="flex flex-none flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-3 py-2.5">
      <b className={`text-xl leading-8 tabular-nums ${verdict === "too-few" ? "text-muted" : ""}`}>{signed(gain.mean)}</b>
      <div className="min-w-40 flex-1 text-xs">
        <div className="tabular-nums">
          {gain.low === null || gain.high === null ? "no interval" : `95 % interval ${decimal(gain.low)} to ${decimal(gain.high)}`}
        </div>
        <div className="text-2xs leading-4 text-secondary">
          {plural(compared, "pair")}, {plural(gain.tasks, "task")}, clustered by task; {gain.worse} worse, {gain.better} better, {gain.equal} same.{" "}
          {verdict === "too-few" ? reason : ""}
          {leftOut.length > 0 ? ` ${plural(leftOut.length, "task")} without a partner left out.` : ""}
        </div>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: four switches of one list are no fieldset */}
      <div className="flex gap-1.5" role="group" aria-label="Pairs by who succeeded">
        {lists.map(({ kind, word, ink }) => (
          <button
            key={kind}
            type="button"
            aria-pressed={filter === kind}
            onClick={() => onFilter(filter === kind ? null : kind)}
            className={`w-14 overflow-hidden rounded-2 border text-center ${filter === kind ? "border-accent bg-selected" : "border-line hover:bg-hover"}`}
          >
            <i className="block h-0.75" style={{ background: ink }} />
            <b className="block pt-1 text-xs leading-4 tabular-nums">{count(pairs.filter((pair) => pair.kind === kind).length)}</b>
            <span className="block pb-1 text-2xs leading-4 text-secondary">{word}</span>
          </button>
        ))}
      </div>
    </div>
  );
}

/** Mean and interval of a difference on a line; filled where 0 is left out. */
function Whisker({ difference, reach }: { readonly difference: Comparison["tasks"][number]["difference"]; readonly reach: number }) {
  const { mean, low, high } = difference;
  const left = (value: number): string => `${50 + (Math.max(-reach, Math.min(reach, value)) / reach) * 48}%`;
  const side = sideOfZero(difference);
  const ink = side === 0 ? "var(--of-text-muted)" : side < 0 ? "var(--of-delta-neg-3)" : "var(--of-delta-pos-3)";
  return (
    <span aria-hidden="true" className="relative block h-6.5">
      <i className="absolute inset-y-0 left-1/2 w-px bg-line-strong" />
      {low !== null && high !== null && (
        <i className="absolute top-2.5 h-1.75 border-x-[1.5px]" style={{ left: left(low), right: `calc(100% - ${left(high)})`, borderColor: ink }}>
          <i className="absolute inset-x-0 top-1/2 -mt-px h-[1.5px]" style={{ background: ink }} />
        </i>
      )}
      {mean !== null && (
        <i
          className="absolute top-2.25 -ml-1 size-2.25 rounded-full border-[1.5px]"
          style={{ left: left(mean), borderColor: ink, background: side === 0 ? "var(--of-surface)" : ink }}
        />
      )}
    </span>
  );
}

const taskColumns = { gridTemplateColumns: "minmax(8.5rem,1fr) 3rem 3rem minmax(4.5rem,15rem) 3.75rem 4.75rem" };

interface TaskTableProps {
  readonly tasks: Comparison["tasks"];
  readonly chosen: string | null;
  readonly onChoose: (task: string | null) => void;
}

/** Worst first. One tab stop: arrows, j and k move; the chosen task narrows the list of pairs. */
function TaskTable({ tasks, chosen, onChoose }: TaskTableProps) {
  const sorted = [...tasks].sort((left, right) => (left.difference.mean ?? 0) - (right.difference.mean ?? 0));
  const reach = differenceReach(tasks);
  const at = sorted.findIndex(({ task }) => task === chosen);
  const move = (by: number): void => onChoose(sorted[Math.max(0, Math.min(sorted.length - 1, at + by))]?.task ?? null);
  useCommands({ "compare.next": () => move(1), "compare.previous": () => move(-1) });
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined && !(event.key === "Escape" && chosen !== null)) return;
    event.preventDefault();
    if (by === undefined) onChoose(null);
    else move(by);
  };
  const cell = "truncate px-2 text-right tabular-nums";
  return (
    // biome-ignore lint/a11y/useSemanticElements: one tab stop with arrows inside
    <div
      role="grid"
      tabIndex={0}
      aria-label="Difference by task"
      aria-rowcount={sorted.length}
      className="focus-on-row flex-none text-xs"
      onKeyDown={onKeyDown}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: see above */}
      <div role="row" className="grid h-row-header items-center border-b border-line bg-header text-2xs font-medium text-muted" style={taskColumns}>
        {[
          ["Task", "px-2 text-left"],
          ["A", cell],
          ["B", cell],
        ].map(([word, look]) => (
          // biome-ignore lint/a11y/useSemanticElements: see above
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          <span key={word} role="columnheader" className={look}>
            {word}
          </span>
        ))}
        {/* biome-ignore lint/a11y/useSemanticElements: see above */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: see above */}
        <span role="columnheader" aria-label="Difference with its interval" className="flex justify-between px-2 tabular-nums">
          <span>{decimal(-reach, reach < 1 ? 2 : 0)}</span>
          <span className="truncate narrow:hidden">B worse</span>
          <span>0</span>
          <span className="truncate narrow:hidden">B better</span>
          <span>{decimal(reach, reach < 1 ? 2 : 0)}</span>
        </span>
        {[
          ["B − A", `${cell} text-fg font-strong`],
          ["Pairs −/0/+", cell],
        ].map(([word, look]) => (
          // biome-ignore lint/a11y/useSemanticElements: see above
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          <span key={word} role="columnheader" className={look}>
            {word}
          </span>
        ))}
      </div>
      {sorted.map(({ task, a, b, difference, less, same, more }) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the grid is the tab stop
        // biome-ignore lint/a11y/useSemanticElements: see above
        // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keyboard
        <div
          key={task}
          role="row"
          data-compare-task={task}
          data-active={task === chosen}
          aria-selected={task === chosen}
          onClick={() => onChoose(task === chosen ? null : task)}
          className={`grid h-row items-center border-b border-line ${task === chosen ? "bg-selected" : "hover:bg-hover"}`}
          style={taskColumns}
        >
          <Cell className="truncate px-2" title={task}>
            {taskWords(task)}
          </Cell>
          <Cell className={cell} title={`n ${a.n}`}>
            {reward(a.mean)}
          </Cell>
          <Cell className={cell} title={`n ${b.n}`}>
            {reward(b.mean)}
          </Cell>
          <Cell className="px-1.5" title={difference.low === null ? "no interval" : `${decimal(difference.low)} to ${decimal(difference.high)}`}>
            <Whisker difference={difference} reach={reach} />
          </Cell>
          <Cell className={`${cell} ${sideOfZero(difference) === 0 ? "" : "font-strong"}`}>{signed(difference.mean)}</Cell>
          <Cell className={`${cell} text-muted`}>
            {less}/{same}/{more}
          </Cell>
        </div>
      ))}
    </div>
  );
}

const shownPairs = 200;

function openBoth({ a, b, task }: RolloutPair): void {
  for (const side of [a, b]) if (side !== null) openPlace(rolloutPlace(side.id), { title: `${shortId(side.id)} · ${taskWords(task)}` });
}

interface PairListProps {
  readonly pairs: readonly RolloutPair[];
  readonly task: string | null;
  readonly filter: PairFilter | null;
}

function titleOf(filter: PairFilter | null, task: string | null): string {
  const what = filter === null ? "Flipped" : (lists.find(({ kind }) => kind === filter)?.word ?? "");
  return task === null ? what : `${what} in ${taskWords(task)}`;
}

/** The rollouts behind the numbers, side by side. */
function PairList({ pairs, task, filter }: PairListProps) {
  const listed = listedPairs(pairs, task, filter);
  const [wanted, setWanted] = useState(0);
  const at = Math.min(wanted, Math.max(0, listed.length - 1));
  const chosen = listed[at];
  useCommands(chosen === undefined ? null : { "compare.open": () => openBoth(chosen) });
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && chosen !== undefined) openBoth(chosen);
    else if (by !== undefined) setWanted(Math.max(0, Math.min(listed.length - 1, at + by)));
    else return;
    event.preventDefault();
  };
  const look = "grid grid-cols-[minmax(5rem,1fr)_4rem_minmax(5rem,1fr)_4rem_5rem] items-center border-b border-line *:truncate *:px-2";
  return (
    <section aria-label="Pairs of rollouts">
      <PaneHeader>
        <PaneTitle>{titleOf(filter, task)}</PaneTitle>
        <span className="text-muted tabular-nums">
          {listed.length > shownPairs ? `${shownPairs} of ${count(listed.length)}` : plural(listed.length, "pair")}
        </span>
        <span className="flex-1" />
        <Button
          small
          command="compare.open"
          disabledBecause={chosen === undefined ? "There is no pair in this list" : null}
          onClick={() => chosen !== undefined && openBoth(chosen)}
        >
          Open both
        </Button>
      </PaneHeader>
      {listed.length === 0 ? (
        <p className="m-0 p-3 text-2xs text-muted">No pair of rollouts here.</p>
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: one tab stop with arrows inside
        <div role="grid" tabIndex={0} aria-label={titleOf(filter, task)} className="focus-on-row text-xs" onKeyDown={onKeyDown}>
          {/* biome-ignore lint/a11y/useSemanticElements: see above */}
          {/* biome-ignore lint/a11y/useFocusableInteractive: see above */}
          <div role="row" className={`${look} h-row-header bg-header text-2xs font-medium text-muted`}>
            {["A", "Reward", "B", "Reward", "Calls"].map((word, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two columns have one name
              // biome-ignore lint/a11y/useSemanticElements: see above
              // biome-ignore lint/a11y/useFocusableInteractive: see above
              <span key={index} role="columnheader" className={index % 2 === 1 || index === 4 ? "text-right" : ""}>
                {word}
              </span>
            ))}
          </div>
          {listed.slice(0, shownPairs).map((pair, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the grid is the tab stop
            // biome-ignore lint/a11y/useSemanticElements: see above
            // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keyboard
            <div
              key={`${pair.a?.id}/${pair.b?.id}`}
              role="row"
              data-pair={`${pair.a?.id ?? ""}/${pair.b?.id ?? ""}`}
              data-active={index === at}
              aria-selected={index === at}
              onClick={() => setWanted(index)}
              onDoubleClick={() => openBoth(pair)}
              className={`${look} h-row ${index === at ? "bg-selected-idle" : "hover:bg-hover"}`}
              title={pair.task}
            >
              <Cell className="font-mono text-2xs">{shortId(pair.a?.id ?? missing)}</Cell>
              <Cell className="text-right tabular-nums">{reward(pair.a?.reward ?? null)}</Cell>
              <Cell className="font-mono text-2xs">{shortId(pair.b?.id ?? missing)}</Cell>
              <Cell className="text-right tabular-nums">{reward(pair.b?.reward ?? null)}</Cell>
              <Cell className="text-right text-muted tabular-nums">
                {pair.a?.calls ?? missing} / {pair.b?.calls ?? missing}
              </Cell>
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

interface PairedProps {
  readonly comparison: Comparison;
  readonly task: string | null;
  readonly onTask: (task: string | null) => void;
}

/** B against A on the tasks that both have: the verdict, the tasks, the rollouts. */
export function Paired({ comparison, task, onTask }: PairedProps) {
  const [filter, setFilter] = useState<PairFilter | null>(null);
  return (
    <>
      <Verdict comparison={comparison} filter={filter} onFilter={setFilter} />
      <TaskTable tasks={comparison.tasks} chosen={task} onChoose={onTask} />
      <PairList key={`${task}/${filter}`} pairs={comparison.pairs} task={task} filter={filter} />
    </>
  );
}
