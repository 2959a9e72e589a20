import { type KeyboardEvent, useState } from "react";
import { useCommands } from "../../commands/handlers.ts";
import { Button } from "../../parts/button.tsx";
import { Cell } from "../../parts/grid-cell.tsx";
import { PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import { useActiveInSight } from "../../parts/use-active-in-sight.ts";
import type { RolloutPair } from "../../service/views.ts";
import { rolloutPlace } from "../../state/places.ts";
import { openPlace } from "../../state/workspace.ts";
import { shortId, taskWords } from "../../words/names.ts";
import { count, missing, plural, reward } from "../../words/numbers.ts";
import { listedPairs, type PairFilter, pairLists } from "./columns.ts";

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
  const what = filter === null ? "Flipped" : (pairLists.find(({ kind }) => kind === filter)?.word ?? "");
  return task === null ? what : `${what} in ${taskWords(task)}`;
}

/** The rollouts behind the numbers, side by side. */
export function PairList({ pairs, task, filter }: PairListProps) {
  const listed = listedPairs(pairs, task, filter);
  const shown = listed.slice(0, shownPairs);
  const [wanted, setWanted] = useState(0);
  const at = Math.min(wanted, Math.max(0, shown.length - 1));
  const chosen = shown[at];
  const list = useActiveInSight<HTMLDivElement>(at);
  useCommands(chosen === undefined ? null : { "compare.open": () => openBoth(chosen) });
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && chosen !== undefined) openBoth(chosen);
    else if (by !== undefined) setWanted(Math.max(0, Math.min(shown.length - 1, at + by)));
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
        <div ref={list} role="grid" tabIndex={0} aria-label={titleOf(filter, task)} className="focus-on-row text-xs" onKeyDown={onKeyDown}>
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
          {shown.map((pair, index) => (
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
