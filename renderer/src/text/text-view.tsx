import { useVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useCommands } from "../commands/handlers.ts";
import { IconButton } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { count } from "../words/numbers.ts";
import { highlightJson } from "./highlight.ts";
import { linesOf, type TextLine } from "./lines.ts";

const lineHeight = 18;
const ink = { key: "text-code-key", string: "text-code-string", number: "text-code-number", word: "text-code-keyword", plain: "" } as const;

interface TextViewProps {
  readonly text: string;
  readonly label: string;
  readonly json?: boolean;
  readonly numbers?: boolean;
  /** Begins at the end, as a log is read. */
  readonly atEnd?: boolean;
}

function Line({ line, json }: { readonly line: TextLine; readonly json: boolean }) {
  if (!json) return <>{line.text === "" ? " " : line.text}</>;
  return (
    <>
      {highlightJson(line.text).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line have no other name
        <span key={index} className={ink[part.kind]}>
          {part.text}
        </span>
      ))}
    </>
  );
}

/** Text of any length: only the lines in sight are drawn; lines wrap. `/` finds, Enter and Shift+Enter go from match to match. */
export function TextView({ text, label, json = false, numbers = true, atEnd = false }: TextViewProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [finding, setFinding] = useState(false);
  const [wanted, setWanted] = useState("");
  const [current, setCurrent] = useState(0);
  const lines = useMemo(() => linesOf(text), [text]);
  const needle = useDeferredValue(wanted.toLowerCase());
  const hits = useMemo(
    () => (needle === "" ? [] : lines.flatMap((line, index) => (line.text.toLowerCase().includes(needle) ? [index] : []))),
    [lines, needle],
  );
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 20,
    ...(atEnd ? { initialOffset: lines.length * lineHeight } : {}),
  });
  const goTo = (hit: number): void => {
    if (hits.length === 0) return;
    const next = (hit + hits.length) % hits.length;
    setCurrent(next);
    virtual.scrollToIndex(hits[next] ?? 0, { align: "center" });
  };
  const open = (): void => {
    // At once, so that what is typed next goes into the field.
    flushSync(() => setFinding(true));
    field.current?.select();
  };
  useCommands({ find: open, ...(hits.length > 0 ? { "find.next": () => goTo(current + 1), "find.previous": () => goTo(current - 1) } : {}) });
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {finding && (
        <div className="absolute top-1 right-3 z-10 flex items-center gap-1 rounded-3 border border-line-strong bg-raised p-1 text-xs shadow-2">
          <Icon name="search" size={0.75} className="ml-1 text-muted" />
          <input
            ref={field}
            aria-label={`Find in ${label}`}
            value={wanted}
            onChange={(event) => {
              setWanted(event.target.value);
              setCurrent(0);
            }}
            onKeyDown={(event) => {
              if (event.key === "Enter") goTo(current + (event.shiftKey ? -1 : 1));
              if (event.key === "Escape") {
                setFinding(false);
                scroller.current?.focus();
              }
            }}
            className="w-44 rounded-1 bg-transparent px-1 font-mono text-xs focus-visible:outline-none"
          />
          <span className="min-w-14 text-right text-2xs text-muted tabular-nums">
            {needle === "" ? "" : hits.length === 0 ? "no match" : `${current + 1} of ${count(hits.length)}`}
          </span>
          <IconButton glyph="up" label="Previous match" onClick={() => goTo(current - 1)} />
          <IconButton glyph="down" label="Next match" onClick={() => goTo(current + 1)} />
          <IconButton glyph="close" label="Close" keyShown="Esc" onClick={() => setFinding(false)} />
        </div>
      )}
      <div
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reachable by the keyboard
        tabIndex={0}
        className="focus-inside min-h-0 flex-1 overflow-auto py-1.5 font-mono text-xs leading-[1.125rem]"
      >
        <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const line = lines[item.index];
            if (line === undefined) return null;
            const hit = hits.length > 0 && line.text.toLowerCase().includes(needle);
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className={`absolute inset-x-0 top-0 grid ${numbers ? "grid-cols-[3rem_minmax(0,1fr)]" : "pl-3"} ${hit ? (hits[current] === item.index ? "bg-selected" : "bg-paused-tint") : ""}`}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {numbers && <span className="pr-2.5 text-right text-code-line select-none">{line.number}</span>}
                <span className="pr-3 break-words whitespace-pre-wrap">
                  <Line line={line} json={json} />
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
