import type { KeyboardEvent } from "react";
import { useCommands } from "../../commands/handlers.ts";
import { Cell } from "../../parts/grid-cell.tsx";
import { useActiveInSight } from "../../parts/use-active-in-sight.ts";
import type { Comparison } from "../../service/views.ts";
import { taskWords } from "../../words/names.ts";
import { decimal, reward } from "../../words/numbers.ts";
import { differenceReach, sideOfZero, signedWords } from "./columns.ts";

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
export function TaskTable({ tasks, chosen, onChoose }: TaskTableProps) {
  const sorted = [...tasks].sort((left, right) => (left.difference.mean ?? 0) - (right.difference.mean ?? 0));
  const reach = differenceReach(tasks);
  const list = useActiveInSight<HTMLDivElement>(chosen);
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
      ref={list}
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
          <Cell className={`${cell} ${sideOfZero(difference) === 0 ? "" : "font-strong"}`}>{signedWords(difference.mean)}</Cell>
          <Cell className={`${cell} text-muted`}>
            {less}/{same}/{more}
          </Cell>
        </div>
      ))}
    </div>
  );
}
