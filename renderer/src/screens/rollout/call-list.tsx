import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useId, useRef } from "react";
import { useCommands } from "../../commands/handlers.ts";
import { Mini } from "../../parts/chip.tsx";
import { PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import type { CallView } from "../../service/views.ts";
import { count } from "../../words/numbers.ts";
import { callWords } from "../../words/summaries.ts";
import { seconds } from "../../words/times.ts";
import { CallMarks } from "../runs/cells.tsx";
import { useRowHeight } from "../runs/use-row-height.ts";

interface CallListProps {
  readonly calls: readonly CallView[];
  /** Ids of those that a person has corrected. */
  readonly corrected: readonly string[];
  readonly current: number;
  readonly running: boolean;
  readonly onChoose: (index: number) => void;
}

const columns = "grid grid-cols-[2.25rem_minmax(0,1fr)_3.5rem_3.125rem] items-center pr-2.5 whitespace-nowrap slim:grid-cols-[2.25rem_minmax(0,1fr)]";

function Row({ call, corrected }: { readonly call: CallView; readonly corrected: boolean }) {
  const { head, rest } = callWords(call);
  return (
    <>
      <span className="pr-1.75 text-right text-muted tabular-nums">{call.index + 1}</span>
      <span className="flex min-w-0 items-center gap-1.5 overflow-hidden">
        <code className={`flex-none text-xs ${head === "error" ? "text-failed" : ""}`}>{head}</code>
        <CallMarks call={call} />
        {corrected && (
          <Mini look="edited" glyph="edit" title="A person says what it should have answered">
            corrected
          </Mini>
        )}
        <span className="truncate text-muted">{rest}</span>
      </span>
      <span className="text-right tabular-nums slim:hidden">{call.promptTokens === 0 ? "–" : count(call.promptTokens)}</span>
      <span className="text-right text-muted tabular-nums slim:hidden">{seconds(call.seconds)}</span>
    </>
  );
}

/** The calls of a rollout in order; one tab stop, arrows or j and k inside. */
export function CallList({ calls, corrected, current, running, onChoose }: CallListProps) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const rowHeight = useRowHeight();
  const virtual = useVirtualizer({ count: calls.length, getScrollElement: () => scroller.current, estimateSize: () => rowHeight, overscan: 12 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of density changes every size
  useEffect(() => virtual.measure(), [rowHeight]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when another call is chosen, not when the list grows
  useEffect(() => virtual.scrollToIndex(current), [current]);
  useEffect(() => {
    // Opened by a person from another list: the keyboard goes on here. It is never taken from where it is.
    if (document.activeElement === document.body) scroller.current?.focus();
  }, []);
  const go = (to: number): void => onChoose(Math.max(0, Math.min(calls.length - 1, to)));
  useCommands({
    "calls.next": () => go(current + 1),
    "calls.previous": () => go(current - 1),
    "calls.first": () => go(0),
    "calls.last": () => go(calls.length - 1),
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1);
    const steps = new Map([
      ["ArrowDown", current + 1],
      ["ArrowUp", current - 1],
      ["PageDown", current + page],
      ["PageUp", current - page],
      ["Home", 0],
      ["End", calls.length - 1],
    ]);
    const to = steps.get(event.key);
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  return (
    <>
      <PaneHeader>
        <PaneTitle>Calls</PaneTitle>
        <span className="text-muted tabular-nums">
          {count(calls.length)}
          {running ? " so far" : ""}
        </span>
      </PaneHeader>
      <div className={`${columns} h-6 flex-none border-b border-line bg-header text-2xs font-medium text-muted`}>
        <span />
        <span>Answer</span>
        <span className="text-right slim:hidden">Prompt</span>
        <span className="text-right slim:hidden">Time</span>
      </div>
      <div
        ref={scroller}
        role="listbox"
        aria-label="Calls"
        aria-activedescendant={`${id}-${current}`}
        data-pane-focus
        tabIndex={0}
        onKeyDown={onKeyDown}
        className="group focus-on-row min-h-0 flex-1 overflow-auto text-xs"
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const call = calls[item.index];
            const active = item.index === current;
            return call === undefined ? null : (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
              <div
                key={call.id}
                id={`${id}-${item.index}`}
                role="option"
                tabIndex={-1}
                aria-selected={active}
                data-active={active}
                data-call={call.index + 1}
                onClick={() => onChoose(item.index)}
                className={`${columns} absolute inset-x-0 top-0 h-row border-b border-line ${active ? "bg-selected-idle group-focus-within:bg-selected" : "hover:bg-hover"}`}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <Row call={call} corrected={corrected.includes(call.id)} />
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}
